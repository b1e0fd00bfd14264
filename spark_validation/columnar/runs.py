"""Readers of contiguous array items: runs of numbers are read in one step instead of item by item."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.spark_validation.columnar.cursors import Cursors, Tally
from contractlog.spark_validation.columnar.program import Kind, Place
from contractlog.spark_validation.columnar.varints import INT_BYTES, LONG_BYTES, read_varints

__all__ = ["spread", "step_over_fixed", "step_over_integers"]

_MORE: Final = 0x80
_MOST_BYTES: Final = 1 << 20  # processed together; more would cost memory and gain nothing


def step_over_fixed(tally: Tally, item: Place, cursors: Cursors, counts: NDArray[np.int64]) -> None:
    """Skip items that all have the same size."""
    size = item.node.size
    fitting = (cursors.end - cursors.pos) // size
    short = counts > fitting
    if short.any():
        at = cursors.pos + fitting * size
        counts = counts[tally.fail(item, cursors, short, Outcome.TRUNCATED, at)]
    if tally.wants(item):
        starts = spread(cursors.pos, counts, size)
        tally.collect(item, np.repeat(cursors.rows, counts), starts, np.full(starts.size, size, np.int64))
    cursors.pos = cursors.pos + counts * size


def step_over_integers(tally: Tally, item: Place, cursors: Cursors, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Skip integers; return which cursors were not moved because one of their integers is invalid."""
    longest = INT_BYTES if item.node.kind is Kind.INT else LONG_BYTES
    groups = np.cumsum(np.minimum(cursors.end - cursors.pos, counts * longest)) // _MOST_BYTES
    stay = np.zeros(cursors.size, np.bool_)
    for group in np.unique(groups).tolist():
        where = np.flatnonzero(groups == group)
        some = cursors.pick(where)
        stay[where] = _step_over_some(tally, item, some, counts[where], longest)
        cursors.pos[where] = some.pos
    return stay


def _step_over_some(
    tally: Tally, item: Place, cursors: Cursors, counts: NDArray[np.int64], longest: int
) -> NDArray[np.bool_]:
    """Skip the integers of one group of cursors; return which were not moved.

    An integer ends with a byte below 128, so the n-th such byte after a cursor ends its n-th integer.
    """
    spans = np.minimum(cursors.end - cursors.pos, counts * longest)
    bytes_at = spread(cursors.pos, spans, 1)
    lasts = bytes_at[tally.data[bytes_at] < _MORE]  # positions where integers end, ascending
    first = np.searchsorted(lasts, cursors.pos)
    stay: NDArray[np.bool_] = np.searchsorted(lasts, cursors.pos + spans) - first < counts
    found = np.where(stay, 0, counts)
    owner = np.repeat(np.arange(cursors.size), found)
    ends = lasts[spread(first, found, 1)]
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


def spread(starts: NDArray[np.int64], counts: NDArray[np.int64], step: int) -> NDArray[np.int64]:
    """Return ``counts`` numbers from each start, ``step`` apart."""
    nth = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(starts, counts) + nth * step
