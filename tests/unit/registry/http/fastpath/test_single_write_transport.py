"""Responses are sent in order, each with head and body in a single write."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.registry.http.fastpath.single_write_transport import SingleWriteTransport

HEAD = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


class Wire(asyncio.Transport):
    """Keeps what was written to it."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written: list[bytes] = []
        self.closed = False

    def write(self, data: Any) -> None:
        assert not self.closed
        self.written.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


def test_head_and_body_are_one_write() -> None:
    wire = Wire()
    gathering = SingleWriteTransport(wire)
    gathering.write(HEAD)
    assert wire.written == []
    gathering.write(b"{}")
    gathering.write(memoryview(b"more"))
    assert wire.written == [HEAD + b"{}", b"more"]


def test_a_large_body_is_not_copied() -> None:
    wire = Wire()
    gathering = SingleWriteTransport(wire)
    gathering.write(HEAD)
    gathering.write(b"x" * 100_000)
    assert [len(one) for one in wire.written] == [len(HEAD), 100_000]


def test_expect_100_continue_is_answered_immediately() -> None:
    wire = Wire()
    SingleWriteTransport(wire).write(CONTINUE)
    assert wire.written == [CONTINUE]


@pytest.mark.parametrize("end", [SingleWriteTransport.flush, SingleWriteTransport.close])
def test_an_answer_without_a_body_leaves_when_it_is_complete(end: Any) -> None:
    wire = Wire()
    gathering = SingleWriteTransport(wire)
    gathering.write(HEAD)
    end(gathering)
    gathering.flush()
    assert wire.written == [HEAD]
    assert gathering.is_closing() == (end is SingleWriteTransport.close)


def test_all_else_is_the_transport_s() -> None:
    assert SingleWriteTransport(Wire()).get_extra_info("peername") == ("127.0.0.1", 1)


@given(st.lists(st.sampled_from([HEAD, CONTINUE, b"", b"{}", b"HTTP/1.1 ", b"x" * 70_000])))
def test_nothing_is_lost_or_moved(parts: list[bytes]) -> None:
    wire = Wire()
    gathering = SingleWriteTransport(wire)
    for part in parts:
        gathering.write(part)
    gathering.close()
    assert b"".join(wire.written) == b"".join(parts)
