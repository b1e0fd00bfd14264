"""Readers of values without children: each moves cursors past one value and drops those that fail.

Runs of numbers in arrays are read in one step instead of item by item.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.arrow import find_invalid_utf8
from contractlog.spark_validation.columnar.avro_compiled_schema import AvroKind, ValuePath
from contractlog.spark_validation.columnar.cursors import BatchTally, Cursors
from contractlog.spark_validation.columnar.varints import INT_BYTES, LONG_BYTES, read_varints

__all__ = [
    "PRIMITIVE_READERS",
    "expand_ranges",
    "read_index",
    "read_integers",
    "read_lengths",
    "skip_fixed_items",
    "skip_integer_items",
]

Integers = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Integers and their start offsets, one per remaining cursor."""
_MORE: Final = 0x80
_MAX_BYTES: Final = 1 << 20  # processed together; more would cost memory and gain nothing


def read_integers(tally: BatchTally, path: ValuePath, cursors: Cursors, max_bytes: int) -> Integers:
    """Read a zigzag integer of at most ``max_bytes`` bytes with each cursor."""
    values, after, codes = read_varints(tally.data, cursors.pos, cursors.end, max_bytes)
    if codes is not None:
        bad = codes > 0
        if bad.any():
            valid = tally.fail(path, cursors, bad, codes)
            values, after = values[valid], after[valid]
    starts, cursors.pos = cursors.pos, after
    return values, starts


def read_lengths(tally: BatchTally, path: ValuePath, cursors: Cursors) -> NDArray[np.int64]:
    """Read the length of a string or a block, whose bytes must be present."""
    lengths, starts = read_integers(tally, path, cursors, LONG_BYTES)
    bad = (lengths < 0) | (lengths > tally.limits.length)
    if bad.any():
        valid = tally.fail(path, cursors, bad, Outcome.BAD_LENGTH, starts)
        lengths, starts = lengths[valid], starts[valid]
    short = lengths > cursors.end - cursors.pos
    if short.any():
        lengths = lengths[tally.fail(path, cursors, short, Outcome.TRUNCATED, starts)]
    return lengths


def read_index(tally: BatchTally, path: ValuePath, cursors: Cursors, size: int, outcome: Outcome) -> Integers:
    """Read an int that must be at least 0 and below ``size``."""
    indexes, starts = read_integers(tally, path, cursors, INT_BYTES)
    bad = (indexes < 0) | (indexes >= size)
    if bad.any():
        valid = tally.fail(path, cursors, bad, outcome, starts)
        indexes, starts = indexes[valid], starts[valid]
    return indexes, starts


def _skip(tally: BatchTally, path: ValuePath, cursors: Cursors, size: int) -> None:
    """Skip ``size`` bytes, which must be present."""
    short = size > cursors.end - cursors.pos
    if short.any():
        tally.fail(path, cursors, short, Outcome.TRUNCATED)
    cursors.pos = cursors.pos + size


def _read_boolean(tally: BatchTally, path: ValuePath, cursors: Cursors) -> None:
    _skip(tally, path, cursors, 1)
    if not (tally.limits.strict_booleans or tally.wants(path)):
        return
    starts = cursors.pos - 1
    byte = tally.data.take(starts, mode="clip")
    if tally.limits.strict_booleans:
        bad = byte > 1
        if bad.any():
            valid = tally.fail(path, cursors, bad, Outcome.BAD_BOOLEAN, starts)
            byte, starts = byte[valid], starts[valid]
    if tally.wants(path):
        tally.collect(path, cursors.rows, starts, (byte != 0).astype(np.int64))


def _read_integer(tally: BatchTally, path: ValuePath, cursors: Cursors) -> None:
    max_bytes = INT_BYTES if path.node.kind is AvroKind.INT else LONG_BYTES
    values, starts = read_integers(tally, path, cursors, max_bytes)
    if tally.wants(path):
        tally.collect(path, cursors.rows, starts, values)


def _read_fixed(tally: BatchTally, path: ValuePath, cursors: Cursors) -> None:
    size = path.node.size
    _skip(tally, path, cursors, size)
    if tally.wants(path):
        tally.collect(path, cursors.rows, cursors.pos - size, np.full(cursors.size, size, np.int64))


def _read_bytes(tally: BatchTally, path: ValuePath, cursors: Cursors) -> None:
    lengths = read_lengths(tally, path, cursors)
    starts, cursors.pos = cursors.pos, cursors.pos + lengths
    if tally.wants(path):
        tally.collect(path, cursors.rows, starts, lengths)


def _read_string(tally: BatchTally, path: ValuePath, cursors: Cursors) -> None:
    lengths = read_lengths(tally, path, cursors)
    starts, cursors.pos = cursors.pos, cursors.pos + lengths
    bad = find_invalid_utf8(tally.buffer, starts, lengths)
    if bad is not None:
        valid = tally.fail(path, cursors, bad, Outcome.BAD_UTF8, starts)
        starts, lengths = starts[valid], lengths[valid]
    if tally.wants(path):
        tally.collect(path, cursors.rows, starts, lengths)


def _read_enum(tally: BatchTally, path: ValuePath, cursors: Cursors) -> None:
    indexes, starts = read_index(tally, path, cursors, len(path.node.symbols), Outcome.BAD_ENUM_INDEX)
    if tally.wants(path):
        tally.collect(path, cursors.rows, starts, indexes)


PRIMITIVE_READERS: Final[Mapping[AvroKind, Callable[[BatchTally, ValuePath, Cursors], None]]] = MappingProxyType(
    {
        AvroKind.BOOLEAN: _read_boolean,
        AvroKind.INT: _read_integer,
        AvroKind.LONG: _read_integer,
        AvroKind.FLOAT: _read_fixed,
        AvroKind.DOUBLE: _read_fixed,
        AvroKind.BYTES: _read_bytes,
        AvroKind.STRING: _read_string,
        AvroKind.FIXED: _read_fixed,
        AvroKind.ENUM: _read_enum,
    }
)


def skip_fixed_items(tally: BatchTally, item: ValuePath, cursors: Cursors, counts: NDArray[np.int64]) -> None:
    """Skip items that all have the same size."""
    size = item.node.size
    fitting = (cursors.end - cursors.pos) // size
    short = counts > fitting
    if short.any():
        at = cursors.pos + fitting * size
        counts = counts[tally.fail(item, cursors, short, Outcome.TRUNCATED, at)]
    if tally.wants(item):
        starts = expand_ranges(cursors.pos, counts, size)
        tally.collect(item, np.repeat(cursors.rows, counts), starts, np.full(starts.size, size, np.int64))
    cursors.pos = cursors.pos + counts * size


def skip_integer_items(
    tally: BatchTally, item: ValuePath, cursors: Cursors, counts: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Skip integers; return which cursors were not moved because one of their integers is invalid."""
    max_bytes = INT_BYTES if item.node.kind is AvroKind.INT else LONG_BYTES
    groups = np.cumsum(np.minimum(cursors.end - cursors.pos, counts * max_bytes)) // _MAX_BYTES
    stay = np.zeros(cursors.size, np.bool_)
    for group in np.unique(groups).tolist():
        where = np.flatnonzero(groups == group)
        some = cursors.pick(where)
        stay[where] = _skip_group(tally, item, some, counts[where], max_bytes)
        cursors.pos[where] = some.pos
    return stay


def _skip_group(
    tally: BatchTally, item: ValuePath, cursors: Cursors, counts: NDArray[np.int64], max_bytes: int
) -> NDArray[np.bool_]:
    """Skip the integers of one group of cursors; return which were not moved.

    An integer ends with a byte below 128, so the n-th such byte after a cursor ends its n-th integer.
    """
    spans = np.minimum(cursors.end - cursors.pos, counts * max_bytes)
    bytes_at = expand_ranges(cursors.pos, spans, 1)
    lasts = bytes_at[tally.data[bytes_at] < _MORE]  # positions where integers end, ascending
    first = np.searchsorted(lasts, cursors.pos)
    stay: NDArray[np.bool_] = np.searchsorted(lasts, cursors.pos + spans) - first < counts
    readable = np.where(stay, 0, counts)
    owner = np.repeat(np.arange(cursors.size), readable)
    ends = lasts[expand_ranges(first, readable, 1)]
    starts = np.empty(ends.size, np.int64)
    starts[1:] = ends[:-1] + 1
    heads = np.flatnonzero(np.diff(owner, prepend=-1))
    starts[heads] = cursors.pos[owner[heads]]
    values, _, codes = read_varints(tally.data, starts, cursors.end[owner], max_bytes)
    if codes is not None:
        stay[owner[codes > 0]] = True
    if tally.wants(item):
        fine = ~stay[owner]
        tally.collect(item, cursors.rows[owner[fine]], starts[fine], values[fine])
    moved = np.flatnonzero(~stay)
    cursors.pos[moved] = lasts[first[moved] + counts[moved] - 1] + 1
    return stay


def expand_ranges(starts: NDArray[np.int64], counts: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Return ``counts`` numbers from each start, ``step`` apart."""
    nth = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + nth * step
