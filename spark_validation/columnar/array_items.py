"""Readers of contiguous array items: runs of numbers are read in one step instead of item by item."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_program import AvroKind, ValuePath
from contractlog.spark_validation.columnar.cursors import BatchTally, Cursors
from contractlog.spark_validation.columnar.varints import INT_BYTES, LONG_BYTES, read_varints

__all__ = ["expand_ranges", "skip_fixed_items", "skip_integer_items"]

_MORE: Final = 0x80
_MOST_BYTES: Final = 1 << 20  # processed together; more would cost memory and gain nothing


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
    longest = INT_BYTES if item.node.kind is AvroKind.INT else LONG_BYTES
    groups = np.cumsum(np.minimum(cursors.end - cursors.pos, counts * longest)) // _MOST_BYTES
    stay = np.zeros(cursors.size, np.bool_)
    for group in np.unique(groups).tolist():
        where = np.flatnonzero(groups == group)
        some = cursors.pick(where)
        stay[where] = _skip_group(tally, item, some, counts[where], longest)
        cursors.pos[where] = some.pos
    return stay


def _skip_group(
    tally: BatchTally, item: ValuePath, cursors: Cursors, counts: NDArray[np.int64], longest: int
) -> NDArray[np.bool_]:
    """Skip the integers of one group of cursors; return which were not moved.

    An integer ends with a byte below 128, so the n-th such byte after a cursor ends its n-th integer.
    """
    spans = np.minimum(cursors.end - cursors.pos, counts * longest)
    bytes_at = expand_ranges(cursors.pos, spans, 1)
    lasts = bytes_at[tally.data[bytes_at] < _MORE]  # positions where integers end, ascending
    first = np.searchsorted(lasts, cursors.pos)
    stay: NDArray[np.bool_] = np.searchsorted(lasts, cursors.pos + spans) - first < counts
    found = np.where(stay, 0, counts)
    owner = np.repeat(np.arange(cursors.size), found)
    ends = lasts[expand_ranges(first, found, 1)]
    starts = np.empty(ends.size, np.int64)
    starts[1:] = ends[:-1] + 1
    heads = np.flatnonzero(np.diff(owner, prepend=-1))
    starts[heads] = cursors.pos[owner[heads]]
    values, _, codes = read_varints(tally.data, starts, cursors.end[owner], longest)
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
