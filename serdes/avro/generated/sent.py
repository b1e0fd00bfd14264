"""What generated code calls to write: numbers as bytes, one by one and in rows. What does not fit raises."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from contractlog.serdes.avro.binary import INT_RANGE
from contractlog.serdes.avro.generated import Otherwise

__all__ = ["Lengths", "Numbers", "doubles", "floats", "ints", "lengths", "longs", "numbers", "varint"]

_MORE: Final = 0x80
_NUMBERS: Final = frozenset({int, float})
_KEPT: Final = 4096  #: so many small numbers and lengths are remembered with their bytes


class _Pairs(dict[int, bytes]):
    """Fourteen bits as two bytes that go on."""

    def __missing__(self, bits: int) -> bytes:
        made = self[bits] = bytes((bits & 0x7F | _MORE, bits >> 7 | _MORE))
        return made


class _Ends(dict[int, bytes]):
    """Fourteen bits at most, as the one or two bytes that end a number."""

    def __missing__(self, bits: int) -> bytes:
        made = self[bits] = bytes((bits & 0x7F | _MORE, bits >> 7)) if bits >= _MORE else bytes((bits,))
        return made


_PAIRS: Final = _Pairs()
_ENDS: Final = _Ends()


def varint(number: int) -> bytes:
    """Return the bytes of a number of 64 bits."""
    raw = number << 1 if number >= 0 else ~(number << 1)
    if raw < 1 << 14:
        return _ENDS[raw]
    if raw < 1 << 28:
        return _PAIRS[raw & 0x3FFF] + _ENDS[raw >> 14]
    if raw < 1 << 42:
        return _PAIRS[raw & 0x3FFF] + _PAIRS[raw >> 14 & 0x3FFF] + _ENDS[raw >> 28]
    if raw < 1 << 56:
        return _PAIRS[raw & 0x3FFF] + _PAIRS[raw >> 14 & 0x3FFF] + _PAIRS[raw >> 28 & 0x3FFF] + _ENDS[raw >> 42]
    if raw >> 64:
        raise Otherwise
    pairs = _PAIRS[raw >> 28 & 0x3FFF] + _PAIRS[raw >> 42 & 0x3FFF]
    return _PAIRS[raw & 0x3FFF] + _PAIRS[raw >> 14 & 0x3FFF] + pairs + _ENDS[raw >> 56]


class Numbers(dict[int, bytes]):
    """Integers of a range, with what stands before them, as bytes; the small ones are remembered."""

    def __init__(self, bits: int, before: bytes = b"") -> None:
        super().__init__()
        self._bits = bits
        self._before = before

    def __missing__(self, number: int) -> bytes:
        if 0 <= number < 1 << 27:
            raw = number << 1
            if raw >= 1 << 14:
                return self._before + _PAIRS[raw & 0x3FFF] + _ENDS[raw >> 14]
            made = self._before + _ENDS[raw]
            if number < _KEPT:
                self[number] = made
            return made
        if self._bits == 32 and not INT_RANGE[0] <= number <= INT_RANGE[1]:  # noqa: PLR2004 -- ints; longs are checked
            raise Otherwise
        return self._before + varint(number)


class Lengths(dict[int, bytes]):
    """Lengths, with what stands before them, as bytes."""

    def __init__(self, before: bytes = b"") -> None:
        super().__init__()
        self._before = before

    def __missing__(self, length: int) -> bytes:
        made = self._before + varint(length)
        if length < _KEPT:
            self[length] = made
        return made


def ints(values: Sequence[Any]) -> bytes:
    """Return the bytes of integers of 32 bits."""
    made = longs(values)
    if min(values) < INT_RANGE[0] or max(values) > INT_RANGE[1]:
        raise Otherwise
    return made


def longs(values: Sequence[Any]) -> bytes:
    """Return the bytes of integers of 64 bits."""
    parts: list[bytes] = []
    for value in values:
        if type(value) is not int:
            raise Otherwise
        raw = value << 1 if value >= 0 else ~(value << 1)
        if raw < 1 << 14:
            parts.append(_ENDS[raw])
        elif raw < 1 << 28:
            parts.append(_PAIRS[raw & 0x3FFF])
            parts.append(_ENDS[raw >> 14])
        else:
            parts.append(varint(value))
    return b"".join(parts)


def floats(values: Sequence[Any]) -> bytes:
    """Return the bytes of floats."""
    if not _NUMBERS.issuperset(map(type, values)):
        raise Otherwise
    return struct.pack(f"<{len(values)}f", *values)


def doubles(values: Sequence[Any]) -> bytes:
    """Return the bytes of doubles."""
    if not _NUMBERS.issuperset(map(type, values)):
        raise Otherwise
    return struct.pack(f"<{len(values)}d", *values)


@lru_cache(32)
def numbers(bits: int, before: bytes) -> Numbers:
    """Return the bytes of integers of so many bits, after some other bytes."""
    return Numbers(bits, before)


@lru_cache(32)
def lengths(before: bytes) -> Lengths:
    """Return the bytes of lengths, after some other bytes."""
    return Lengths(before)
