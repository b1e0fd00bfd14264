"""What generated code calls: numbers of several bytes, blocks, and values that are not of the plainest type.

Whatever is not in order raises something, anything: the interpreter then says exactly what. So these functions check
that nothing wrong passes, and leave the words to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Final

from contractlog.serdes.avro.binary import INT_RANGE, LONG_RANGE

__all__ = [
    "NEGATED",
    "SHORT",
    "Lengths",
    "Numbers",
    "Otherwise",
    "as_bytes",
    "as_dict",
    "as_float",
    "as_int",
    "as_list",
    "block_at",
    "int_at",
    "length_at",
    "long_at",
    "never",
    "varint",
]


class Otherwise(Exception):
    """Generated code does not go on here."""


SHORT: Final = (*((raw >> 1) ^ -(raw & 1) for raw in range(128)), *[None] * 128)
"""What a number's first byte says when it is its only one."""

NEGATED: Final = 129  #: the bits of a length's first byte that are set when it is negative or goes on

_MORE: Final = 0x80
_SHIFTS: Final = tuple(range(7, 64, 7))
_FEW_SHIFTS: Final = tuple(range(7, 29, 7))
_KEPT: Final = 4096  #: so many small numbers and lengths are remembered with their bytes


def long_at(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of 64 bits; return it and the place behind it."""
    raw = data[at] & 0x7F
    if data[at] >= _MORE:
        for shift in _SHIFTS:
            at += 1
            byte = data[at]
            if byte < _MORE:
                raw |= byte << shift
                break
            raw |= (byte & 0x7F) << shift
        else:
            raise Otherwise
        if raw >> 64:
            raise Otherwise
    return (~(raw >> 1) if raw & 1 else raw >> 1), at + 1


def int_at(data: bytes, at: int) -> tuple[int, int]:
    """Read a number of 32 bits; return it and the place behind it."""
    raw = data[at] & 0x7F
    if data[at] >= _MORE:
        for shift in _FEW_SHIFTS:
            at += 1
            byte = data[at]
            if byte < _MORE:
                raw |= byte << shift
                break
            raw |= (byte & 0x7F) << shift
        else:
            raise Otherwise
        if raw >> 32:
            raise Otherwise
    return (~(raw >> 1) if raw & 1 else raw >> 1), at + 1


def length_at(data: bytes, at: int) -> tuple[int, int]:
    """Read a length; return it and the place behind it."""
    number, at = long_at(data, at)
    if number < 0:
        raise Otherwise
    return number, at


def block_at(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Read a block's header; return the number of its items, where they begin, and where they end or 0."""
    count, at = long_at(data, at)
    if count > 0:
        return count, at, 0
    size, at = length_at(data, at)
    if count == 0 or size > end - at:
        raise Otherwise
    return -count, at, at + size


class _Pairs(dict[int, bytes]):
    """Fourteen bits as two bytes that go on."""

    def __missing__(self, bits: int) -> bytes:
        made = self[bits] = bytes((bits & 0x7F | _MORE, bits >> 7 | _MORE))
        return made


_PAIRS: Final = _Pairs()


def varint(number: int) -> bytes:
    """Return the bytes of a number of 64 bits."""
    raw = (number << 1) ^ (number >> 63)
    if raw >> 14 == 0:
        return bytes((raw,)) if raw < _MORE else bytes((raw & 0x7F | _MORE, raw >> 7))
    if raw >> 28 == 0:
        head = _PAIRS[raw & 0x3FFF]
    elif raw >> 42 == 0:
        head = _PAIRS[raw & 0x3FFF] + _PAIRS[raw >> 14 & 0x3FFF]
    elif raw >> 56 == 0:
        head = _PAIRS[raw & 0x3FFF] + _PAIRS[raw >> 14 & 0x3FFF] + _PAIRS[raw >> 28 & 0x3FFF]
    else:
        pairs = _PAIRS[raw >> 28 & 0x3FFF] + _PAIRS[raw >> 42 & 0x3FFF]
        head = _PAIRS[raw & 0x3FFF] + _PAIRS[raw >> 14 & 0x3FFF] + pairs
    tail = raw >> 7 * len(head)
    return head + (bytes((tail,)) if tail < _MORE else bytes((tail & 0x7F | _MORE, tail >> 7)))


class Numbers(dict[int, bytes]):
    """Integers of a range, with what stands before them, as bytes; the small ones are remembered."""

    def __init__(self, bits: int, before: bytes = b"") -> None:
        super().__init__()
        self._low, self._high = INT_RANGE if bits == 32 else LONG_RANGE  # noqa: PLR2004 -- ints, longs
        self._before = before

    def __missing__(self, number: int) -> bytes:
        if not self._low <= number <= self._high:
            raise Otherwise
        made = self._before + varint(number)
        if 0 <= number < _KEPT:
            self[number] = made
        return made


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


def as_int(value: Any) -> int:
    """Return the integer that an object of another class is."""
    if isinstance(value, bool) or not isinstance(value, int | Integral):
        raise Otherwise
    return int(value)


def as_float(value: Any) -> Any:
    """Return a number that can be packed."""
    if type(value) is not int and (isinstance(value, bool) or not isinstance(value, Real)):
        raise Otherwise
    return value


def as_bytes(value: Any) -> bytes:
    """Return the bytes that an object of another class holds."""
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value)
    raise Otherwise


def as_dict(value: Any) -> dict[str, Any]:
    """Return a plain dict of another mapping."""
    if isinstance(value, Mapping):
        return dict(value)
    raise Otherwise


def as_list(value: Any) -> Any:
    """Return a tuple as it is; other sequences may change their minds, so the interpreter takes them."""
    if type(value) is tuple:
        return value
    raise Otherwise


def never(value: Any) -> Any:  # noqa: ARG001 -- called in place of others
    """Take no value; the interpreter knows whether it fits."""
    raise Otherwise


def inside(
    named: Callable[[Any], int | None], index: int, plain: type, otherwise: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """Return what takes a union's value out of ``(branch, value)`` where it names this branch."""

    def taken(value: Any) -> Any:
        if type(value) is not tuple:
            return otherwise(value)
        if named(value) != index:
            raise Otherwise
        inner = value[1]
        return inner if type(inner) is plain else otherwise(inner)

    return taken
