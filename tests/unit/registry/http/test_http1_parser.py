"""Requests with ``Upgrade`` are parsed as they would be without it, however they are split."""

from __future__ import annotations

from typing import Any

import httptools
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.registry.http.http1_parser import RequestParser

HEADS = ["GET /{}", "POST /{}", "PUT /{}", "DELETE /{}"]
UPGRADES = ["websocket", "h2c", "TLS/1.0, h2c", "", "x" * 300]
BODIES = [b"", b"{}", b'{"schema": "\\"int\\""}', b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n", b"\r\n" * 50]


class Recorder:
    """Protocol that records requests."""

    def __init__(self, *, upgrades: bool) -> None:
        self.requests: list[list[Any]] = []
        self.complete = 0
        self.scope: dict[str, Any] = {}
        self.parser: Any = RequestParser(self) if upgrades else httptools.HttpRequestParser(self)

    def on_message_begin(self) -> None:
        self.scope = {"headers": []}
        self.requests.append([b"", self.scope["headers"], b""])

    def on_url(self, url: bytes) -> None:
        self.requests[-1][0] += url

    def on_header(self, name: bytes, value: bytes) -> None:
        if name.lower() not in {b"upgrade", b"connection"}:
            self.scope["headers"].append((name.lower(), value))

    def on_headers_complete(self) -> None:
        self.requests[-1][0] = self.parser.get_method() + b" " + self.requests[-1][0]

    def on_body(self, body: bytes) -> None:
        self.requests[-1][2] += body

    def on_message_complete(self) -> None:
        if not (isinstance(self.parser, RequestParser) and self.parser.has_unread_body):
            self.complete += 1


def write_request(number: int, head: str, body: bytes, upgrade: str | None, *, chunked: bool) -> bytes:
    lines = [f"{head.format(number)} HTTP/1.1", "Host: localhost"]
    if upgrade is not None:
        lines += [f"Upgrade: {upgrade}", "Connection: Upgrade, HTTP2-Settings"]
    if chunked:
        pieces = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (body[:7], body[7:]) if piece)
        return "\r\n".join([*lines, "Transfer-Encoding: chunked", "", ""]).encode() + pieces + b"0\r\n\r\n"
    if body:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + body


REQUESTS = st.lists(
    st.tuples(st.sampled_from(HEADS), st.sampled_from(BODIES), st.sampled_from([None, *UPGRADES]), st.booleans()),
    min_size=1,
    max_size=4,
)


@given(REQUESTS, st.lists(st.integers(1, 400), max_size=6))
def test_upgrade_changes_nothing(requests: list[tuple[str, bytes, str | None, bool]], cuts: list[int]) -> None:
    plain, ours = Recorder(upgrades=False), Recorder(upgrades=True)
    plain.parser.feed_data(
        b"".join(
            write_request(n, head, body, None, chunked=chunked) for n, (head, body, _, chunked) in enumerate(requests)
        )
    )
    data = b"".join(
        write_request(n, head, body, upgrade, chunked=chunked)
        for n, (head, body, upgrade, chunked) in enumerate(requests)
    )
    for cut in [*cuts, len(data)]:
        ours.parser.feed_data(data[:cut])
        data = data[cut:]
    assert ours.requests == plain.requests
    assert ours.complete == plain.complete == len(requests)


@pytest.mark.parametrize("rest", [b"", b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n"])
def test_what_follows_connect_is_not_parsed(rest: bytes) -> None:
    recorder = Recorder(upgrades=True)
    recorder.parser.feed_data(b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\nContent-Length: 3\r\n\r\n" + rest)
    recorder.parser.feed_data(b"GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
    assert [request[0] for request in recorder.requests] == [b"CONNECT a:443"]
    assert recorder.complete == 1
