"""Runtime functions of generated decoding code: multi-byte integers, blocks, and runs of values.

Malformed bytes may raise any exception: the interpreter then finds the exact reason. So these functions only make sure
that nothing malformed is accepted.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Final

from contractlog.serdes.avro.generated import Otherwise
from contractlog.serdes.avro.generated.lanes import FEWEST, INTS, LONGS, Lane, decode_numbers

__all__ = [
    "NEGATED",
    "SHORT",
    "TAKES",
    "block_at",
    "doubles_at",
    "floats_at",
    "int_at",
    "ints_at",
    "length_at",
    "long_at",
    "longs_at",
    "micros_at",
    "millis_at",
    "strings_at",
]

SHORT: Final = (*((raw >> 1) ^ -(raw & 1) for raw in range(128)), *[None] * 128)
"""Value of a one-byte integer, by that byte; None if the integer continues."""

TAKES: Final = (*(raw // 2 + 1 if raw % 2 == 0 else 0 for raw in range(128)), *[0] * 128)
"""Bytes of a string with its length prefix, if the prefix has one byte; else 0."""

_TAKES: Final = tuple(taken or None for taken in TAKES)
_SIGNED: Final = bytes((raw >> 1) ^ -(raw & 1) & 0xFF for raw in range(256))
"""Decoded value of each one-byte integer, as a signed byte."""

NEGATED: Final = 129  #: the bits of a count's first byte that are set when it is negative or continues

_MORE: Final = 0x80
_SHIFTS: Final = tuple(range(35, 64, 7))  # of the bytes after the fifth
_FEW_SHIFTS: Final = tuple(range(21, 29, 7))  # of the bytes after the third
_THREE_MORE: Final = sum(_MORE << 7 * index for index in range(3))  # the continuation bits
_FOUR_MORE: Final = sum(_MORE << 7 * index for index in range(4))
_FIVE_MORE: Final = sum(_MORE << 7 * index for index in range(5))


def long_at(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 64 bits; return it and the position after it."""
    raw = data[at]
    if raw >= _MORE:
        at += 1
        byte = data[at]
        raw += (byte << 7) - 0x80
        if byte >= _MORE:
            at += 1
            byte = data[at]
            raw += (byte << 14) - 0x4000
            if byte >= _MORE:
                at += 1
                byte = data[at]
                raw += (byte << 21) - 0x200000
                if byte >= _MORE:
                    at += 1
                    byte = data[at]
                    raw += (byte << 28) - 0x10000000
                    if byte >= _MORE:
                        raw, at = _longer(data, at, raw - 0x800000000, _SHIFTS)
                        if raw >> 64:
                            raise Otherwise
    return (~(raw >> 1) if raw & 1 else raw >> 1), at + 1


def int_at(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 32 bits; return it and the position after it."""
    raw = data[at]
    if raw >= _MORE:
        at += 1
        byte = data[at]
        raw += (byte << 7) - 0x80
        if byte >= _MORE:
            at += 1
            byte = data[at]
            raw += (byte << 14) - 0x4000
            if byte >= _MORE:
                raw, at = _longer(data, at, raw - 0x200000, _FEW_SHIFTS)
                if raw >> 32:
                    raise Otherwise
    return (~(raw >> 1) if raw & 1 else raw >> 1), at + 1


def _longer(data: bytes, at: int, raw: int, shifts: tuple[int, ...]) -> tuple[int, int]:
    """Read a number's remaining bytes; return its bits and the position of its last byte."""
    for shift in shifts:
        at += 1
        byte = data[at]
        if byte < _MORE:
            return raw | byte << shift, at
        raw |= (byte & 0x7F) << shift
    raise Otherwise


def millis_at(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 64 bits that probably takes six bytes, as present-day milliseconds do."""
    try:
        a, b, c, d, e, f = data[at : at + 6]
    except ValueError:
        return long_at(data, at)
    if f < _MORE <= e and a >= _MORE <= b and c >= _MORE <= d:
        raw = a + (b << 7) + (c << 14) + (d << 21) + (e << 28) + (f << 35) - _FIVE_MORE
        return (~(raw >> 1) if raw & 1 else raw >> 1), at + 6
    return long_at(data, at)


def micros_at(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 64 bits that probably takes eight bytes, as present-day microseconds do."""
    try:
        a, b, c, d, e, f, g, h = data[at : at + 8]
    except ValueError:
        return long_at(data, at)
    if h < _MORE <= g and a >= _MORE <= b and c >= _MORE <= d and e >= _MORE <= f:
        low = a + (b << 7) + (c << 14) + (d << 21) - _FOUR_MORE
        raw = low + (e + (f << 7) + (g << 14) + (h << 21) - _THREE_MORE << 28)
        return (~(raw >> 1) if raw & 1 else raw >> 1), at + 8
    return long_at(data, at)


def longs_at(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """Read ``count`` integers of 64 bits; return them and the position after them."""
    return _numbers_at(data, at, count, LONGS, long_at)


def ints_at(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """Read ``count`` integers of 32 bits; return them and the position after them."""
    return _numbers_at(data, at, count, INTS, int_at)


def _numbers_at(
    data: bytes, at: int, count: int, lanes: Sequence[Lane], longer: Callable[[bytes, int], tuple[int, int]]
) -> tuple[list[int], int]:
    """Read ``count`` integers; the caller has checked that there are as many bytes."""
    short = data[at : at + count]
    if short.isascii():  # each has one byte
        return memoryview(short.translate(_SIGNED)).cast("b").tolist(), at + count
    numbers: list[int] = []
    if count >= FEWEST:
        numbers, at, count = decode_numbers(data, at, count, lanes)
    append = numbers.append
    for _ in range(count):
        raw = data[at]
        at += 1
        if raw >= _MORE:
            byte = data[at]
            at += 1
            raw += (byte << 7) - 0x80
            if byte >= _MORE:
                byte = data[at]
                at += 1
                raw += (byte << 14) - 0x4000
                if byte >= _MORE:
                    number, at = longer(data, at - 3)
                    append(number)
                    continue
        append(~(raw >> 1) if raw & 1 else raw >> 1)
    return numbers, at


def strings_at(data: bytes, at: int, count: int) -> tuple[list[str], int]:
    """Read ``count`` strings; return them and the position after them."""
    takes, start = _TAKES, at
    try:
        return [data[at + 1 : (at := at + takes[data[at]])].decode() for _ in range(count)], at  # type: ignore[operator]
    except TypeError:  # a string is longer
        at = start
    return _texts_at(data, at, count)


def _texts_at(data: bytes, at: int, count: int) -> tuple[list[str], int]:
    texts: list[str] = []
    append, takes = texts.append, TAKES
    for _ in range(count):
        end = takes[data[at]]
        if end:
            end += at
            append(data[at + 1 : end].decode())
        else:
            end, at = length_at(data, at)
            end += at
            append(data[at:end].decode())
        at = end
    return texts, at


def doubles_at(data: bytes, at: int, count: int) -> tuple[Sequence[float], int]:
    """Read ``count`` doubles; return them and the position after them."""
    return struct.unpack_from(f"<{count}d", data, at), at + 8 * count


def floats_at(data: bytes, at: int, count: int) -> tuple[Sequence[float], int]:
    """Read ``count`` floats; return them and the position after them."""
    return struct.unpack_from(f"<{count}f", data, at), at + 4 * count


def length_at(data: bytes, at: int) -> tuple[int, int]:
    """Read a length; return it and the position after it."""
    number, at = long_at(data, at)
    if number < 0:
        raise Otherwise
    return number, at


def block_at(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Read a block's header; return the number of items, their start, and their end (0: not given)."""
    count, at = long_at(data, at)
    if count > 0:
        return count, at, 0
    size, at = length_at(data, at)
    if count == 0 or size > end - at:
        raise Otherwise
    return -count, at, at + size
