"""Runtime functions of generated encoding code: bytes of single values and of runs of values.

Values that do not fit raise an exception. The tables of small numbers are tuples, not dicts: Python indexes a tuple
several times faster.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from contractlog.serdes.avro.binary import INT_RANGE
from contractlog.serdes.avro.generated import Otherwise
from contractlog.serdes.avro.generated.lanes import FEWEST, encode_numbers

__all__ = [
    "FEW",
    "SMALL",
    "doubles",
    "floats",
    "int_bytes",
    "ints",
    "lengths",
    "longs",
    "strings",
    "varint",
]

FEW: Final = 1024  #: numbers below have their bytes in a table
_MORE: Final = 0x80
_INTEGERS: Final = frozenset({int})
_NUMBERS: Final = frozenset({int, float})
_PAIRS: Final = tuple(bytes((bits & 0x7F | _MORE, bits >> 7 | _MORE)) for bits in range(1 << 14))
"""Fourteen bits as two bytes with continuation bits."""
_ENDS: Final = tuple(
    bytes((bits & 0x7F | _MORE, bits >> 7)) if bits >= _MORE else bytes((bits,)) for bits in range(1 << 14)
)
"""Up to fourteen bits as the last one or two bytes of an integer."""


def varint(number: int) -> bytes:
    """Return the bytes of an integer of 64 bits."""
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


SMALL: Final = tuple(map(varint, range(FEW)))  #: the bytes of small numbers
_READY: Final = {number: varint(number) for number in range(-FEW, FEW)}  #: numbers of arrays that are likely small


def int_bytes(number: int) -> bytes:
    """Return the bytes of an integer of 32 bits."""
    if not INT_RANGE[0] <= number <= INT_RANGE[1]:
        raise Otherwise
    return varint(number)


@lru_cache(32)
def lengths(before: bytes) -> tuple[bytes, ...]:
    """Return the bytes of small lengths, each preceded by ``before``."""
    return tuple(before + length for length in SMALL)


def ints(values: Sequence[Any]) -> bytes:
    """Return the bytes of integers of 32 bits."""
    made = longs(values)
    struct.pack(f"<{len(values)}i", *values)  # raises if one is out of range
    return made


def longs(values: Sequence[Any]) -> bytes:
    """Return the bytes of integers of 64 bits."""
    if not _INTEGERS.issuperset(map(type, values)):
        raise Otherwise
    if len(values) > 1 and values[0] in _READY and values[-1] in _READY:
        try:
            return b"".join(itemgetter(*values)(_READY))
        except KeyError:
            pass
    return encode_numbers(values) if len(values) >= FEWEST else b"".join(map(varint, values))


def strings(values: Sequence[Any]) -> bytes:
    """Return the bytes of strings, each preceded by its length."""
    parts: list[bytes] = []
    append, encode, small = parts.append, str.encode, SMALL
    for value in values:
        data = encode(value)
        length = len(data)
        append(small[length] if length < FEW else varint(length))
        append(data)
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
