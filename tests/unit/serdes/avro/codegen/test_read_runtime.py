"""Shortcuts for short numbers have the value and position of the general function."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from contractlog.serdes.avro.codegen.read_runtime import read_long, read_micros, read_millis
from contractlog.serdes.avro.interpreter.binary import put_long


@pytest.mark.parametrize("read", [read_long, read_millis, read_micros])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("bits", range(0, 63, 3))
def test_a_number_of_any_length_is_read_up_to_its_end(
    read: Callable[[bytes, int], tuple[int, int]], sign: int, bits: int
) -> None:
    number = sign * (1 << bits)
    out = bytearray(b"before")
    put_long(out, number)
    end = len(out)
    assert read(bytes(out) + b"\x80\x01 after", len(b"before")) == (number, end)
    assert read(bytes(out), len(b"before")) == (number, end)
