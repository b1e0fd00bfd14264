"""Bulk decoding of arrays of flat records, column by column.

The fields of a flat record are numbers and booleans. A regular expression finds the fields of many records, and a
column takes a few calls into Python's C code, where a loop takes several calls for each field. Records that do not
match, and the last records of an array, are left to that loop.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias

from contractlog.serdes.avro.codegen.integer_lanes import INT_LANES, LONG_LANES, decode_pieces
from contractlog.serdes.avro.interpreter.codecs import (
    BooleanCodec,
    DoubleCodec,
    FloatCodec,
    IntCodec,
    LongCodec,
    ValueReader,
)

__all__ = ["Rows", "make_row_decoder"]

_MIN_ROWS: Final = 6  #: records; a loop is faster for fewer
_MAX_GROUPS: Final = 32  #: fields that one regular expression matches
_MAX_FIELDS: Final = 16

Rows: TypeAlias = tuple[Iterable[tuple[Any, ...]], int, int]


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
        columns = [decode(groups[place::width]) for place, (_, decode) in enumerate(column_kinds)]
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
