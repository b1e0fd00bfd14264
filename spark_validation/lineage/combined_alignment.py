"""Alignment of the rows of two topics by two fields together, if neither alone identifies a row.

The time of a source record counts as a field of it: the target may have it, as the start of a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.alignment import Alignment, last_before
from contractlog.spark_validation.lineage.sample_arrays import SampledTopic

__all__ = ["align_by_two_fields"]

FieldPair = tuple[int, int]
"""Indexes of a source field and a target field that share values."""

TIMES: Final = (-2, -1)  #: instead of a source field: the time of the record in milliseconds or microseconds
MIN_TIMES: Final = 0.1  #: minimum share of a target field's values that are times of source records
MAX_TIMES: Final = 300  #: values that are looked at to tell
MAX_PAIRS: Final = 6  #: pairs of fields that are combined
MIN_ROWS: Final = 20  #: minimum number of target rows whose source row was sampled if there is one
MIN_MATCHED: Final = 0.5  #: minimum share of these with a source row before
MAX_CHANCE: Final = 0.2  #: maximum share of matches, per match, if the second value is that of another row
MAX_LATER: Final = 0.05  #: maximum share of matches that are only later in the source
MIN_UNIQUE: Final = 0.5  #: minimum number of combinations per source row
Words = npt.NDArray[np.uint64]


def align_by_two_fields(
    source: SampledTopic, target: SampledTopic, pairs: Sequence[FieldPair]
) -> Iterator[tuple[FieldPair, FieldPair, Alignment]]:
    """Yield the combinations of two pairs of fields that align rows, and the alignments.

    Values occur together by chance, too, so rows with the second value of another row must match far less often.
    """
    # A sequence and a clock that run at the same rate are no evidence; the keys of sessions recur.
    keys = [pair for pair in pairs[:MAX_PAIRS] if not source.fields[pair[0]].identifies_rows]
    times = [(time, field) for field in _time_fields(source, target) for time in TIMES] if keys else []
    for first, second in [*combinations(pairs[:MAX_PAIRS], 2), *product(keys, times)]:
        if first[0] != second[0] and first[1] != second[1]:
            alignment = _align(source, target, first, second)
            if alignment is not None:
                yield first, second, alignment


def _align(source: SampledTopic, target: SampledTopic, first: FieldPair, second: FieldPair) -> Alignment | None:
    source_rows, source_values = _combine(source, first[0], second[0])
    target_rows, target_values = _combine(target, first[1], second[1])
    certain = _is_sampled(source, first[0], target.cells[target_rows, first[1]])
    if second[0] not in TIMES:
        certain |= _is_sampled(source, second[0], target.cells[target_rows, second[1]])
    target_rows, target_values = target_rows[certain], target_values[certain]
    distinct, groups = np.unique(source_values, return_inverse=True)
    if len(target_rows) < MIN_ROWS or len(distinct) < max(MIN_ROWS, MIN_UNIQUE * len(source_values)):
        return None
    matched = _find(distinct, target_values)
    share = float(np.mean(matched >= 0))
    chance = float(np.mean(_find(distinct, _swap_second(target_values)) >= 0))
    if share < MIN_MATCHED or chance > MAX_CHANCE * share:
        return None
    target_rows, matched = target_rows[matched >= 0], matched[matched >= 0]
    by_time = np.lexsort((source.times[source_rows], groups))
    ordered = groups[by_time]
    before = last_before(ordered, source.times[source_rows][by_time], matched, target.times[target_rows])
    earlier = (before >= 0) & (ordered[np.maximum(before, 0)] == matched)
    if np.mean(~earlier) > MAX_LATER:
        return None
    sources = source_rows[by_time[before[earlier]]]
    return Alignment(sources, target_rows[earlier], np.full(len(sources), -1), share)


def _time_fields(source: SampledTopic, target: SampledTopic) -> list[int]:
    """Return the target fields of which many values are times of source records."""
    few = target.cells[:: max(1, len(target.cells) // MAX_TIMES)]
    times = source.distinct_times
    are_times = times[np.minimum(np.searchsorted(times, few), len(times) - 1)] == few
    shares = are_times.sum(axis=0) / np.maximum(np.count_nonzero(few, axis=0), 1)
    return [int(field) for field in np.flatnonzero(shares >= MIN_TIMES)]


def _combine(topic: SampledTopic, first: int, second: int) -> tuple[npt.NDArray[np.int64], Words]:
    """Return the rows that have both fields, and both values as one number."""
    high, low = topic.cells[:, first], topic.time_cells[:, second] if second in TIMES else topic.cells[:, second]
    rows = np.flatnonzero((high != 0) & (low != 0))
    return rows, (high[rows].astype(np.uint64) << np.uint64(32)) | low[rows]


def _swap_second(values: Words) -> Words:
    """Return combinations of each first value with the second value of another row."""
    half = np.uint64(32)
    return (values >> half << half) | (np.roll(values, len(values) // 2) << half >> half)


def _is_sampled(source: SampledTopic, field: int, values: npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return whether all occurrences of values in the source were sampled."""
    sampled = source.fields[field]
    return np.isin(values, (sampled.distinct[sampled.whole] >> np.uint64(32)).astype(np.uint32))


def _find(distinct: Words, values: Words) -> npt.NDArray[np.int64]:
    """Return the index of each value, or -1."""
    indexes = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return np.where(distinct[indexes] == values, indexes, -1)
