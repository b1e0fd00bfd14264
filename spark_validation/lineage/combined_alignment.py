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
from contractlog.spark_validation.lineage.candidate_fields import FieldIndexes
from contractlog.spark_validation.lineage.sample_arrays import GroupedTimes, Integers, SampledTopic

__all__ = ["CombinedFields", "RecordTimes", "align_by_two_fields"]

TIMES: Final = (-2, -1)  #: instead of a source field: the time of the record in milliseconds or microseconds
MIN_TIMES: Final = 0.1  #: minimum share of a target field's values that are times of source records
MAX_TIMES: Final = 300  #: values examined for this
MAX_PAIRS: Final = 6  #: pairs of fields that are combined
MIN_ROWS: Final = 20  #: minimum number of target rows whose source row, if any, must be in the sample
MIN_MATCHED: Final = 0.5  #: minimum share of these with a source row before
FEW_ROWS: Final = 128  #: target rows that are looked up before all others
MIN_FEW_ROWS: Final = 16  #: minimum number of these, with the source row sampled, to decide
MIN_FEW_MATCHED: Final = 0.2  #: minimum share of these with a source row, to look up the others
MAX_CHANCE: Final = 0.2  #: maximum of matches with a wrong second value, as a share of the right ones
MAX_LATER: Final = 0.05  #: maximum share of matches that are only later in the source
MIN_UNIQUE: Final = 0.5  #: minimum number of combinations per source row
MAX_COMBINATIONS: Final = 100  #: combinations of fields in memory

Cells = npt.NDArray[np.uint32]
Words = npt.NDArray[np.uint64]


class RecordTimes:
    """Fields of topics whose values are the times of records."""

    def __init__(self, topics: Sequence[SampledTopic]) -> None:
        times = [topic.distinct_times for topic in topics]
        self._times = np.unique(np.concatenate(times)) if times else np.empty(0, np.uint32)
        self._fields: dict[str, tuple[Cells, Integers]] = {}

    def find_fields(self, source: SampledTopic, target: SampledTopic) -> list[int]:
        """Return the target fields of which many values are times of source records."""
        if target.name not in self._fields:
            few = target.cells[:: max(1, len(target.cells) // MAX_TIMES)]
            fields = np.flatnonzero(_share_times(self._times, few) >= MIN_TIMES)  # times of any topic
            self._fields[target.name] = few[:, fields], fields
        few, fields = self._fields[target.name]
        return [int(field) for field in fields[_share_times(source.distinct_times, few) >= MIN_TIMES]]


class CombinedFields:
    """Combinations of two fields of a source, each computed once for all targets.

    Args:
        source: the topic.
        times: times of records of all topics.
        read_share: share of the source's records that were read.
    """

    def __init__(self, source: SampledTopic, times: RecordTimes, read_share: float = 1.0) -> None:
        self.source = source
        self.times = times
        self.read_share = read_share
        self._whole: dict[int, Cells] = {}
        self._groups: dict[tuple[int, int], _Groups | None] = {}

    def find_groups(self, first: int, second: int) -> _Groups | None:
        """Return the rows of each combination of values, or None if the combinations do not identify rows."""
        if (first, second) not in self._groups:
            if len(self._groups) >= MAX_COMBINATIONS:
                self._groups.clear()
            self._groups[first, second] = _group_rows(self.source, first, second)
        return self._groups[first, second]

    def select_sampled(
        self, target: SampledTopic, first: FieldIndexes, second: FieldIndexes, rows: Integers
    ) -> Integers:
        """Return those of the target rows of which all source rows were sampled, by one of two fields."""
        sampled = self._is_sampled(first[0], target.cells[rows, first[1]])
        if second[0] not in TIMES:
            sampled |= self._is_sampled(second[0], target.cells[rows, second[1]])
        return rows[sampled]

    def _is_sampled(self, field: int, values: Cells) -> npt.NDArray[np.bool_]:
        """Return whether all occurrences of values in the source were sampled."""
        if field not in self._whole:
            sampled = self.source.fields[field]
            self._whole[field] = (sampled.distinct[sampled.whole] >> np.uint64(32)).astype(np.uint32)
        return _find(self._whole[field], values) >= 0

    def may_match(self, target: SampledTopic, first: FieldIndexes, second: FieldIndexes, rows: Integers) -> bool:
        """Return whether combinations of a few target rows occur in the source; if not, no more are looked up."""
        groups = self.find_groups(first[0], second[0])
        if groups is None:
            return False
        _, values = _combine(target, first[1], second[1], self.select_sampled(target, first, second, rows))
        if len(values) < MIN_FEW_ROWS:
            return True
        return float(np.mean(_find(groups.distinct, values) >= 0)) >= MIN_FEW_MATCHED * self.read_share


@dataclass(frozen=True, slots=True)
class _Groups:
    """Rows by combination of two values."""

    rows: Integers
    distinct: Words  #: combinations, ascending
    timeline: GroupedTimes  #: times of the rows by combination
    groups: Integers  #: combination of each row


def align_by_two_fields(
    combined: CombinedFields, target: SampledTopic, pairs: Sequence[FieldIndexes]
) -> Iterator[tuple[FieldIndexes, FieldIndexes, Alignment]]:
    """Yield the combinations of two pairs of fields that align rows, and the alignments.

    Values occur together by chance, too, so rows with the second value of another row must match far less often.
    """
    # Two counters that grow at the same rate match without being related; session keys are accepted because they recur.
    source = combined.source
    keys = [pair for pair in pairs[:MAX_PAIRS] if not source.fields[pair[0]].identifies_rows]
    fields = combined.times.find_fields(source, target) if keys else []
    times = [(time, field) for field in fields for time in TIMES]
    options = [
        (first, second)
        for first, second in [*combinations(pairs[:MAX_PAIRS], 2), *product(keys, times)]
        if first[0] != second[0] and first[1] != second[1]
    ]
    few = np.arange(0, len(target.cells), len(target.cells) // FEW_ROWS + 1)
    everywhere = np.arange(len(target.cells))
    for first, second in options:
        if combined.may_match(target, first, second, few):
            alignment = _align(combined, target, first, second, everywhere)
            if alignment is not None:
                yield first, second, alignment


def _align(
    combined: CombinedFields,
    target: SampledTopic,
    first: FieldIndexes,
    second: FieldIndexes,
    rows: Integers,
) -> Alignment | None:
    """Align those of the target rows of which all source rows were sampled."""
    groups = combined.find_groups(first[0], second[0])
    if groups is None:
        return None
    target_rows, target_values = _combine(
        target, first[1], second[1], combined.select_sampled(target, first, second, rows)
    )
    if len(target_rows) < MIN_ROWS:
        return None
    matched = _find(groups.distinct, target_values)
    share = float(np.mean(matched >= 0))
    if share < MIN_MATCHED * combined.read_share:
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


def _share_times(times: Cells, cells: Cells) -> npt.NDArray[np.float64]:
    """Return the share of each column's values that are times."""
    return np.asarray(
        np.count_nonzero(_find(times, cells) >= 0, axis=0) / np.maximum(np.count_nonzero(cells, axis=0), 1)
    )


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
