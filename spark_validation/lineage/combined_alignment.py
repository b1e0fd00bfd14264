"""Alignment of the rows of two topics by two fields together, if neither alone identifies a row.

The time of a source record counts as a field of it: the target may have it, as the start of a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.alignment import Alignment
from contractlog.spark_validation.lineage.candidate_fields import FieldPair
from contractlog.spark_validation.lineage.sample_arrays import GroupedTimes, Integers, SampledTopic

__all__ = ["CombinedFields", "align_by_two_fields"]

TIMES: Final = (-2, -1)  #: instead of a source field: the time of the record in milliseconds or microseconds
MIN_TIMES: Final = 0.1  #: minimum share of a target field's values that are times of source records
MAX_TIMES: Final = 300  #: values examined for this
MAX_PAIRS: Final = 6  #: pairs of fields that are combined
MIN_ROWS: Final = 20  #: minimum number of target rows whose source row, if any, must be in the sample
MIN_MATCHED: Final = 0.5  #: minimum share of these with a source row before
MAX_CHANCE: Final = 0.2  #: maximum of matches with a wrong second value, as a share of the right ones
MAX_LATER: Final = 0.05  #: maximum share of matches that are only later in the source
MIN_UNIQUE: Final = 0.5  #: minimum number of combinations per source row
MAX_COMBINATIONS: Final = 100  #: combinations of fields in memory

Cells = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint64]


class CombinedFields:
    """Combinations of two fields of a source, each computed once for all targets."""

    def __init__(self, source: SampledTopic) -> None:
        self.source = source
        self._whole: dict[int, Cells] = {}
        self._groups: dict[tuple[int, int], _Groups | None] = {}

    def find_groups(self, first: int, second: int) -> _Groups | None:
        """Return the rows of each combination of values, or None if the combinations do not identify rows."""
        if (first, second) not in self._groups:
            if len(self._groups) >= MAX_COMBINATIONS:
                self._groups.clear()
            self._groups[first, second] = _group_rows(self.source, first, second)
        return self._groups[first, second]

    def is_sampled(self, field: int, values: Cells) -> npt.NDArray[np.bool_]:
        """Return whether all occurrences of values in the source were sampled."""
        if field not in self._whole:
            sampled = self.source.fields[field]
            self._whole[field] = (sampled.distinct[sampled.whole] >> np.uint64(32)).astype(np.uint32)
        return _find(self._whole[field], values) >= 0


@dataclass(frozen=True, slots=True)
class _Groups:
    """Rows by combination of two values."""

    rows: Integers
    distinct: Words  #: combinations, ascending
    timeline: GroupedTimes  #: times of the rows by combination
    groups: Integers  #: combination of each row


def align_by_two_fields(
    combined: CombinedFields, target: SampledTopic, pairs: Sequence[FieldPair]
) -> Iterator[tuple[FieldPair, FieldPair, Alignment]]:
    """Yield the combinations of two pairs of fields that align rows, and the alignments.

    Values occur together by chance, too, so rows with the second value of another row must match far less often.
    """
    # Two counters that grow at the same rate match without being related; session keys are accepted because they recur.
    source = combined.source
    keys = [pair for pair in pairs[:MAX_PAIRS] if not source.fields[pair[0]].identifies_rows]
    times = [(time, field) for field in _time_fields(source, target) for time in TIMES] if keys else []
    options = [
        (first, second)
        for first, second in [*combinations(pairs[:MAX_PAIRS], 2), *product(keys, times)]
        if first[0] != second[0] and first[1] != second[1]
    ]
    used = {pair for option in options for pair in option if pair[0] not in TIMES}
    certain = {pair: combined.is_sampled(pair[0], target.cells[:, pair[1]]) for pair in used}
    for first, second in options:
        sampled = certain[first] if second[0] in TIMES else certain[first] | certain[second]
        alignment = _align(combined, target, first, second, sampled)
        if alignment is not None:
            yield first, second, alignment


def _align(
    combined: CombinedFields,
    target: SampledTopic,
    first: FieldPair,
    second: FieldPair,
    sampled: npt.NDArray[np.bool_],
) -> Alignment | None:
    """Align the target rows of which all source rows were sampled."""
    groups = combined.find_groups(first[0], second[0])
    if groups is None:
        return None
    target_rows, target_values = _combine(target, first[1], second[1], np.flatnonzero(sampled))
    if len(target_rows) < MIN_ROWS:
        return None
    matched = _find(groups.distinct, target_values)
    share = float(np.mean(matched >= 0))
    if share < MIN_MATCHED:
        return None
    chance = float(np.mean(_find(groups.distinct, _swap_second(target_values)) >= 0))
    if chance > MAX_CHANCE * share:
        return None
    target_rows, matched = target_rows[matched >= 0], matched[matched >= 0]
    before = groups.timeline.find_last(matched, target.times[target_rows])
    latest = groups.timeline.order[np.maximum(before, 0)]
    earlier = (before >= 0) & (groups.groups[latest] == matched)
    if np.mean(~earlier) > MAX_LATER:
        return None
    sources = groups.rows[latest[earlier]]
    return Alignment(sources, target_rows[earlier], np.full(len(sources), -1), share)


def _group_rows(source: SampledTopic, first: int, second: int) -> _Groups | None:
    rows, values = _combine(source, first, second, np.arange(len(source.cells)))
    distinct, groups = np.unique(values, return_inverse=True)
    if len(distinct) < max(MIN_ROWS, MIN_UNIQUE * len(values)):
        return None
    return _Groups(rows, distinct, GroupedTimes(groups, source.times[rows]), groups)


def _time_fields(source: SampledTopic, target: SampledTopic) -> list[int]:
    """Return the target fields of which many values are times of source records."""
    few = target.cells[:: max(1, len(target.cells) // MAX_TIMES)]
    times = source.distinct_times
    are_times = times[np.minimum(np.searchsorted(times, few), len(times) - 1)] == few
    shares = are_times.sum(axis=0) / np.maximum(np.count_nonzero(few, axis=0), 1)
    return [int(field) for field in np.flatnonzero(shares >= MIN_TIMES)]


def _combine(topic: SampledTopic, first: int, second: int, rows: Integers) -> tuple[Integers, Words]:
    """Return those of the rows that have both fields, and both values as one number."""
    table = topic.time_cells if second in TIMES else topic.cells
    high, low = topic.cells[rows, first], table[rows, second]
    present = np.flatnonzero((high != 0) & (low != 0))
    return rows[present], (high[present].astype(np.uint64) << np.uint64(32)) | low[present]


def _swap_second(values: Words) -> Words:
    """Return combinations of each first value with the second value of another row."""
    half = np.uint64(32)
    return (values >> half << half) | (np.roll(values, len(values) // 2) << half >> half)


def _find(distinct: npt.NDArray[Any], values: npt.NDArray[Any]) -> Integers:
    """Return the index of each value among ascending ones, or -1."""
    if not len(distinct):
        return np.full(len(values), -1)
    indexes = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return np.where(distinct[indexes] == values, indexes, -1)
