"""Runtime functions of generated decoding code: multi-byte integers, blocks, and runs of values.

Malformed bytes may raise any exception: the interpreter then finds the exact reason. So these functions only make sure
that nothing malformed is accepted.

Arrays of flat records, whose fields are numbers and booleans, are decoded column by column. A regular expression finds
the fields of many records, and a column takes a few calls into Python's C code, where a loop takes several calls for
each field. Records that do not match, and the last records of an array, are left to that loop.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.bulk_integers import (
    INT_LANES,
    LONG_LANES,
    MIN_BULK_COUNT,
    IntegerLane,
    decode_numbers,
    decode_pieces,
)
from contractlog.serdes.avro.interpreter.codecs import (
    BooleanCodec,
    DoubleCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    ValueReader,
)
from contractlog.serdes.avro.interpreter.times import DAY_RANGE

__all__ = [
    "BLOCK_SIZE_BITS",
    "ONE_BYTE_INTEGERS",
    "SHORT_STRING_SIZES",
    "Rows",
    "make_row_decoder",
    "read_block_header",
    "read_days",
    "read_doubles",
    "read_floats",
    "read_int",
    "read_ints",
    "read_length",
    "read_long",
    "read_longs",
    "read_micros",
    "read_millis",
    "read_strings",
]

ONE_BYTE_INTEGERS: Final = (*((raw >> 1) ^ -(raw & 1) for raw in range(128)), *[None] * 128)
"""Value of a one-byte integer, by that byte; None if the integer continues."""

SHORT_STRING_SIZES: Final = (*(raw // 2 + 1 if raw % 2 == 0 else 0 for raw in range(128)), *[0] * 128)
"""Bytes of a string with its length prefix, if the prefix has one byte; else 0."""

_SHORT_STRING_SIZES_OR_NONE: Final = tuple(taken or None for taken in SHORT_STRING_SIZES)
_SIGNED_BYTES: Final = bytes((raw >> 1) ^ -(raw & 1) & 0xFF for raw in range(256))
"""Decoded value of each one-byte integer, as a signed byte."""

BLOCK_SIZE_BITS: Final = 129  #: the bits of a count's first byte that are set when it is negative or continues

_CONTINUES: Final = 0x80
_LONG_SHIFTS: Final = tuple(range(35, 64, 7))  # of the bytes after the fifth
_INT_SHIFTS: Final = tuple(range(21, 29, 7))  # of the bytes after the third
_TWO_CONTINUE: Final = sum(_CONTINUES << 7 * index for index in range(2))
_THREE_CONTINUE: Final = sum(_CONTINUES << 7 * index for index in range(3))  # the continuation bits
_FOUR_CONTINUE: Final = sum(_CONTINUES << 7 * index for index in range(4))
_FIVE_CONTINUE: Final = sum(_CONTINUES << 7 * index for index in range(5))
_MIN_ROWS: Final = 6  #: records; a loop is faster for fewer
_MAX_GROUPS: Final = 32  #: fields that one regular expression matches
_MAX_FIELDS: Final = 16
Rows: TypeAlias = tuple[Iterable[tuple[Any, ...]], int, int]


def read_long(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 64 bits; return it and the position after it."""
    raw = data[at]
    if raw >= _CONTINUES:
        at += 1
        byte = data[at]
        raw += (byte << 7) - 0x80
        if byte >= _CONTINUES:
            at += 1
            byte = data[at]
            raw += (byte << 14) - 0x4000
            if byte >= _CONTINUES:
                at += 1
                byte = data[at]
                raw += (byte << 21) - 0x200000
                if byte >= _CONTINUES:
                    at += 1
                    byte = data[at]
                    raw += (byte << 28) - 0x10000000
                    if byte >= _CONTINUES:
                        raw, at = _read_remaining(data, at, raw - 0x800000000, _LONG_SHIFTS)
                        if raw >> 64:
                            raise InterpreterNeeded
    return (~(raw >> 1) if raw & 1 else raw >> 1), at + 1


def read_int(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 32 bits; return it and the position after it."""
    raw = data[at]
    if raw >= _CONTINUES:
        at += 1
        byte = data[at]
        raw += (byte << 7) - 0x80
        if byte >= _CONTINUES:
            at += 1
            byte = data[at]
            raw += (byte << 14) - 0x4000
            if byte >= _CONTINUES:
                raw, at = _read_remaining(data, at, raw - 0x200000, _INT_SHIFTS)
                if raw >> 32:
                    raise InterpreterNeeded
    return (~(raw >> 1) if raw & 1 else raw >> 1), at + 1


def _read_remaining(data: bytes, at: int, raw: int, shifts: tuple[int, ...]) -> tuple[int, int]:
    """Read a number's remaining bytes; return its bits and the position of its last byte."""
    for shift in shifts:
        at += 1
        byte = data[at]
        if byte < _CONTINUES:
            return raw | byte << shift, at
        raw |= (byte & 0x7F) << shift
    raise InterpreterNeeded


def read_days(data: bytes, at: int) -> tuple[int, int]:
    """Read the days of a date that probably takes three bytes, as present-day dates do."""
    try:
        a, b, c = data[at : at + 3]
    except ValueError:
        c = _CONTINUES
    if c < _CONTINUES <= a and b >= _CONTINUES and not a & 1:  # from 1992 to 4840
        return (a + (b << 7) + (c << 14) - _TWO_CONTINUE) >> 1, at + 3
    days, at = read_int(data, at)
    if not DAY_RANGE[0] <= days <= DAY_RANGE[1]:
        raise InterpreterNeeded
    return days, at


def read_millis(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 64 bits that probably takes six bytes, as present-day milliseconds do."""
    try:
        a, b, c, d, e, f = data[at : at + 6]
    except ValueError:
        return read_long(data, at)
    if f < _CONTINUES <= e and a >= _CONTINUES <= b and c >= _CONTINUES <= d:
        raw = a + (b << 7) + (c << 14) + (d << 21) + (e << 28) + (f << 35) - _FIVE_CONTINUE
        return (~(raw >> 1) if raw & 1 else raw >> 1), at + 6
    return read_long(data, at)


def read_micros(data: bytes, at: int) -> tuple[int, int]:
    """Read an integer of 64 bits that probably takes eight bytes, as present-day microseconds do."""
    try:
        a, b, c, d, e, f, g, h = data[at : at + 8]
    except ValueError:
        return read_long(data, at)
    if h < _CONTINUES <= g and a >= _CONTINUES <= b and c >= _CONTINUES <= d and e >= _CONTINUES <= f:
        low = a + (b << 7) + (c << 14) + (d << 21) - _FOUR_CONTINUE
        raw = low + (e + (f << 7) + (g << 14) + (h << 21) - _THREE_CONTINUE << 28)
        return (~(raw >> 1) if raw & 1 else raw >> 1), at + 8
    return read_long(data, at)


def read_longs(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """Read ``count`` integers of 64 bits; return them and the position after them."""
    return _read_integers(data, at, count, LONG_LANES, read_long)


def read_ints(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    """Read ``count`` integers of 32 bits; return them and the position after them."""
    return _read_integers(data, at, count, INT_LANES, read_int)


def _read_integers(
    data: bytes, at: int, count: int, lanes: Sequence[IntegerLane], longer: Callable[[bytes, int], tuple[int, int]]
) -> tuple[list[int], int]:
    """Read ``count`` integers; the caller has checked that there are as many bytes."""
    short = data[at : at + count]
    if short.isascii():  # each has one byte
        return memoryview(short.translate(_SIGNED_BYTES)).cast("b").tolist(), at + count
    numbers: list[int] = []
    if count >= MIN_BULK_COUNT:
        numbers, at, count = decode_numbers(data, at, count, lanes)
    append = numbers.append
    for _ in range(count):
        raw = data[at]
        at += 1
        if raw >= _CONTINUES:
            byte = data[at]
            at += 1
            raw += (byte << 7) - 0x80
            if byte >= _CONTINUES:
                byte = data[at]
                at += 1
                raw += (byte << 14) - 0x4000
                if byte >= _CONTINUES:
                    number, at = longer(data, at - 3)
                    append(number)
                    continue
        append(~(raw >> 1) if raw & 1 else raw >> 1)
    return numbers, at


def read_strings(data: bytes, at: int, count: int) -> tuple[list[str], int]:
    """Read ``count`` strings; return them and the position after them."""
    takes, start = _SHORT_STRING_SIZES_OR_NONE, at
    try:
        return [data[at + 1 : (at := at + takes[data[at]])].decode() for _ in range(count)], at  # type: ignore[operator]
    except TypeError:  # a string is longer
        at = start
    return _read_long_strings(data, at, count)


def _read_long_strings(data: bytes, at: int, count: int) -> tuple[list[str], int]:
    texts: list[str] = []
    append, takes = texts.append, SHORT_STRING_SIZES
    for _ in range(count):
        end = takes[data[at]]
        if end:
            end += at
            append(data[at + 1 : end].decode())
        else:
            end, at = read_length(data, at)
            end += at
            append(data[at:end].decode())
        at = end
    return texts, at


def read_doubles(data: bytes, at: int, count: int) -> tuple[Sequence[float], int]:
    """Read ``count`` doubles; return them and the position after them."""
    return struct.unpack_from(f"<{count}d", data, at), at + 8 * count


def read_floats(data: bytes, at: int, count: int) -> tuple[Sequence[float], int]:
    """Read ``count`` floats; return them and the position after them."""
    return struct.unpack_from(f"<{count}f", data, at), at + 4 * count


def read_length(data: bytes, at: int) -> tuple[int, int]:
    """Read a length; return it and the position after it."""
    number, at = read_long(data, at)
    if number < 0:
        raise InterpreterNeeded
    return number, at


def read_block_header(data: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Read a block's header; return the number of items, their start, and their end (0: not given)."""
    count, at = read_long(data, at)
    if count > 0:
        return count, at, 0
    size, at = read_length(data, at)
    if count == 0 or size > end - at:
        raise InterpreterNeeded
    return -count, at, at + size


def make_row_decoder(nodes: Sequence[ValueReader]) -> Callable[[bytes, int, int], Rows] | None:
    """Return a function that decodes most of an array's records, or None if they are not flat.

    The function returns the values of each record, the position after those records, and how many records are left.
    """
    kinds = [_COLUMN_DECODERS.get(type(node)) for node in nodes]
    if not kinds or len(kinds) > _MAX_FIELDS or None in kinds:
        return None
    column_kinds = [kind for kind in kinds if kind is not None]
    width = len(column_kinds)
    row = b"".join(pattern for pattern, _ in column_kinds)
    steps = (max(_MAX_GROUPS // width, 4), 2)

    def decode_rows(data: bytes, at: int, count: int) -> Rows:
        if count < _MIN_ROWS:
            return (), at, count
        groups: list[bytes] = []
        for step in steps:
            pattern = _row_pattern(row, step)
            while count >= step:
                match = pattern.match(data, at)
                if match is None:
                    break
                groups += match.groups()
                at = match.end()
                count -= step
        columns = [decode(groups[column::width]) for column, (_, decode) in enumerate(column_kinds)]
        return zip(*columns, strict=True), at, count

    return decode_rows


@lru_cache(256)
def _row_pattern(row: bytes, count: int) -> re.Pattern[bytes]:
    return re.compile(row * count, re.DOTALL)


def _unpack_column(column: list[bytes], letter: str) -> Sequence[Any]:
    return struct.unpack(f"<{len(column)}{letter}", b"".join(column))


_COLUMN_DECODERS: Final[dict[type, tuple[bytes, Callable[[list[bytes]], Sequence[Any]]]]] = {
    IntCodec: (rb"([\x80-\xff]{0,4}+[\x00-\x7f])", lambda column: decode_pieces(column, INT_LANES)),
    LongCodec: (rb"([\x80-\xff]{0,9}+[\x00-\x7f])", lambda column: decode_pieces(column, LONG_LANES)),
    DoubleCodec: (rb"(.{8})", lambda column: _unpack_column(column, "d")),
    FloatCodec: (rb"(.{4})", lambda column: _unpack_column(column, "f")),
    BooleanCodec: (rb"([\x00\x01])", lambda column: _unpack_column(column, "?")),
}
