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

from contractlog.serdes.avro.codecs import BooleanCodec, DoubleCodec, FloatCodec, IntCodec, LongCodec, Reader
from contractlog.serdes.avro.generated.lanes import INTS, LONGS, decode_pieces

__all__ = ["Rows", "row_decoder"]

_FEWEST: Final = 6  #: records; a loop is faster for fewer
_GROUPS: Final = 32  #: fields that one regular expression matches
_MOST_FIELDS: Final = 16

Rows: TypeAlias = tuple[Iterable[tuple[Any, ...]], int, int]


def row_decoder(nodes: Sequence[Reader]) -> Callable[[bytes, int, int], Rows] | None:
    """Return a function that decodes most of an array's records, or None if they are not flat.

    The function returns the values of each record, the position after those records, and how many records are left.
    """
    kinds = [_DECODERS.get(type(node)) for node in nodes]
    if not kinds or len(kinds) > _MOST_FIELDS or None in kinds:
        return None
    known = [kind for kind in kinds if kind is not None]
    width = len(known)
    row = b"".join(pattern for pattern, _ in known)
    steps = (max(_GROUPS // width, 4), 2)

    def decode_rows(data: bytes, at: int, count: int) -> Rows:
        if count < _FEWEST:
            return (), at, count
        groups: list[bytes] = []
        for step in steps:
            pattern = _pattern(row, step)
            while count >= step:
                match = pattern.match(data, at)
                if match is None:
                    break
                groups += match.groups()
                at = match.end()
                count -= step
        columns = [decode(groups[place::width]) for place, (_, decode) in enumerate(known)]
        return zip(*columns, strict=True), at, count

    return decode_rows


@lru_cache(256)
def _pattern(row: bytes, count: int) -> re.Pattern[bytes]:
    return re.compile(row * count, re.DOTALL)


def _unpacked(column: list[bytes], letter: str) -> Sequence[Any]:
    return struct.unpack(f"<{len(column)}{letter}", b"".join(column))


_DECODERS: Final[dict[type, tuple[bytes, Callable[[list[bytes]], Sequence[Any]]]]] = {
    IntCodec: (rb"([\x80-\xff]{0,4}+[\x00-\x7f])", lambda column: decode_pieces(column, INTS)),
    LongCodec: (rb"([\x80-\xff]{0,9}+[\x00-\x7f])", lambda column: decode_pieces(column, LONGS)),
    DoubleCodec: (rb"(.{8})", lambda column: _unpacked(column, "d")),
    FloatCodec: (rb"(.{4})", lambda column: _unpacked(column, "f")),
    BooleanCodec: (rb"([\x00\x01])", lambda column: _unpacked(column, "?")),
}
