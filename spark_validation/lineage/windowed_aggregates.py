"""Detection of topics whose records aggregate those of another by a key, in windows of time.

For the keys and windows of which all source records were sampled, the count, and the sum, minimum and maximum of each
number are computed, and compared with the target's numbers. A target record belongs to the last window that had ended
when it was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.alignment import RowPairs
from contractlog.spark_validation.lineage.candidate_fields import FieldIndexes
from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledField, SampledTopic, find_values
from contractlog.spark_validation.lineage.sampling import compute_sampling_ranks

__all__ = ["Aggregate", "AggregatedField", "find_aggregate"]

MINUTE_MS: Final = 60_000
WIDTHS: Final = tuple(MINUTE_MS * minutes for minutes in (1, 5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440))
FUNCTIONS: Final = ("sum", "minimum", "maximum")
_UNITS: Final = ((1440 * MINUTE_MS, "day"), (60 * MINUTE_MS, "hour"), (MINUTE_MS, "minute"))
MIN_ROWS: Final = 12
MIN_VALUES: Final = 3
MIN_AGREEMENT: Final = 0.95
FEW_ROWS: Final = 64  #: target rows that are looked at before all others
MIN_FEW_AGREE: Final = 0.75  #: minimum share of these with a window in the source
MIN_BEYOND_CHANCE: Final = 0.3  #: minimum difference to the agreement with other keys and windows
MIN_SHARED_WINDOWS: Final = 0.1  #: minimum share of windows with several records, without which nothing is aggregated
MAX_REPEATED: Final = 0.1  #: maximum share of target records with the same key and window as another, such as late ones
RELATIVE_ERROR: Final = 1e-6  #: sums may be rounded
MAX_KEYS: Final = 4  #: maximum number of pairs of key fields tried per pair of topics

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AggregatedField:
    """A number of the source, and the function of it that a target field has."""

    source: str
    function: str  #: of ``FUNCTIONS``
    score: float  #: share of target records that agree
    rows: RowPairs  #: target rows that agree, each with the last source row of its window


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The fields of a target that aggregate those of a source."""

    key: str  #: source field
    target_key: str
    width_ms: int  #: of the windows
    score: float
    rows: RowPairs
    fields: dict[str, AggregatedField]  #: by target field; empty if records are only counted

    @property
    def windows(self) -> str:
        """The windows in words, such as ``per customer and window of 6 hours``."""
        for width, unit in _UNITS:
            if self.width_ms % width == 0:
                number = self.width_ms // width
                return f"per {self.key} and window of {number} {unit}{'s' if number > 1 else ''}"
        raise AssertionError(self.width_ms)  # a width is a number of minutes


class TargetKeys:
    """Fields of a target that may be keys of aggregates, with the windows of their occurrences."""

    def __init__(self, target: SampledTopic) -> None:
        self.target = target
        numbers = np.isfinite(target.numbers)
        self._numeric = np.flatnonzero(np.count_nonzero(numbers, axis=0) >= MIN_ROWS)
        self._windows: dict[tuple[int, int], _Ended] = {}
        self._widths: dict[int, list[int]] = {}

    def has_numbers(self, key: int) -> bool:
        """Return whether another field than the key has enough numbers."""
        return bool((self._numeric != key).any())

    def find_widths(self, key: int) -> list[int]:
        """Return the widths of windows of which nearly each has one record per key."""
        if key not in self._widths:
            field = self.target.fields[key]
            deep = field.hashes < np.uint64(field.deepest)  # of other values, one record was sampled
            groups, times = field.groups[deep], field.times[deep]
            self._widths[key] = [width for width in WIDTHS if _share_repeated(groups, times // width) <= MAX_REPEATED]
        return self._widths[key]

    def find_windows(self, key: int, width: int) -> _Ended:
        """Return the last window that had ended at each occurrence of a key."""
        if (key, width) not in self._windows:
            field = self.target.fields[key]
            windows = field.times // width - 1
            ranks = compute_sampling_ranks(field.hashes, windows * width).astype(np.int64)
            self._windows[key, width] = _Ended(field.rows, windows, ranks)
        return self._windows[key, width]


@dataclass(frozen=True, slots=True)
class _Ended:
    """The last window that had ended at each occurrence of a key in a target."""

    targets: Integers  #: rows
    windows: Integers  #: start as a number of widths since 1970
    ranks: Integers  #: sampling rank of the key on the day of the start

    def pick(self, chosen: Integers) -> _Ended:
        """Return some of the occurrences."""
        return _Ended(self.targets[chosen], self.windows[chosen], self.ranks[chosen])


@dataclass(frozen=True, slots=True)
class _Windows:
    """Target rows whose window was sampled completely, with the aggregates of the window's source rows."""

    targets: Integers
    sources: Integers  #: the last source row of each window
    counts: Integers
    values: dict[str, Floats]  #: by function; by row and source field


def find_aggregate(source: SampledTopic, foreign: TargetKeys, pairs: Sequence[FieldIndexes]) -> Aggregate | None:
    """Return how the target aggregates the source, or None if it does not.

    Args:
        source: the topic whose records may have been aggregated.
        foreign: another topic.
        pairs: the candidate pairs of fields of both.
    """
    best: Aggregate | None = None
    target = foreign.target
    keys = [(f, g) for f, g in pairs if not source.fields[f].identifies_rows and not target.fields[g].identifies_rows]
    for f, g in keys[:MAX_KEYS]:
        key = source.fields[f]
        possible = foreign.find_widths(g) if foreign.has_numbers(g) else []
        widths = [width for width in possible if len(_window_starts(key, width))]
        if not widths:
            continue
        groups, shared = find_values(key, target.fields[g])
        at = np.flatnonzero(shared)
        if len(at) < MIN_ROWS:
            continue
        few = at[:: len(at) // FEW_ROWS + 1]
        for width in widths:
            if not _may_aggregate(key, groups[few], foreign.find_windows(g, width).pick(few), width):
                continue
            windows = _collect_windows(source, key, groups[at], foreign.find_windows(g, width).pick(at), width)
            if windows is None:
                continue
            aggregate = _match_aggregates(source, target, (f, g), width, windows)
            if aggregate and (best is None or _rank(aggregate) > _rank(best)):
                best = aggregate
    return best


def _rank(aggregate: Aggregate) -> tuple[int, float, int]:
    return len(aggregate.fields), aggregate.score, len(aggregate.rows.targets)


def _may_aggregate(key: SampledField, groups: Integers, ended: _Ended, width: int) -> bool:
    """Return whether a few target rows have windows in the source; if not, the others are not looked up."""
    chosen = np.flatnonzero(_are_complete(key, groups, ended, width))
    if len(chosen) < MIN_ROWS:
        return True
    return float(np.mean(_find_windows(key, groups[chosen], ended.windows[chosen], width) >= 0)) >= MIN_FEW_AGREE


def _find_windows(key: SampledField, groups: Integers, windows: Integers, width: int) -> Integers:
    """Return the index of each window of a key among those of the source, or -1."""
    firsts = key.timeline.order[_window_starts(key, width)]
    return _find_pairs(key.groups[firsts], key.times[firsts] // width, groups, windows)


def _collect_windows(
    source: SampledTopic, key: SampledField, groups: Integers, ended: _Ended, width: int
) -> _Windows | None:
    """Return the windows of target rows, of which ``groups`` are the keys' indexes in the source."""
    order = key.timeline.order  # so by group and window, too
    starts = _window_starts(key, width)
    chosen = np.flatnonzero(_are_complete(key, groups, ended, width))
    if len(chosen) < MIN_ROWS:
        return None
    targets, groups, windows = ended.targets[chosen], groups[chosen], ended.windows[chosen]
    counts = np.diff(starts, append=len(order))
    at = _find_windows(key, groups, windows, width)
    present = at >= 0
    if np.count_nonzero(present) < max(MIN_ROWS, MIN_AGREEMENT * len(at)):
        return None
    targets, at = targets[present], at[present]
    numbers = source.numbers[key.rows[order]]
    return _Windows(
        targets,
        key.rows[order][(starts + counts - 1)[at]],
        counts[at],
        {
            "sum": np.add.reduceat(numbers, starts)[at],
            "minimum": np.fmin.reduceat(numbers, starts)[at],
            "maximum": np.fmax.reduceat(numbers, starts)[at],
        },
    )


def _share_repeated(groups: Integers, windows: Integers) -> float:
    """Return the share of records that have the same key and window as another."""
    if not len(groups):
        return 0.0
    offsets = windows - windows.min()
    return 1 - len(np.unique(groups * (int(offsets.max()) + 1) + offsets)) / len(groups)


def _window_starts(key: SampledField, width: int) -> Integers:
    """Return the index of each window's first occurrence in order of keys and times.

    The result is empty if so few windows have several records that nothing is aggregated.
    """
    cached = key.window_starts.get(width)
    if cached is None:
        order = key.timeline.order
        groups, windows = key.groups[order], key.times[order] // width
        first = np.append(True, (groups[1:] != groups[:-1]) | (windows[1:] != windows[:-1]))
        starts = np.flatnonzero(first)
        several = np.mean(np.diff(starts, append=len(order)) > 1) >= MIN_SHARED_WINDOWS
        cached = key.window_starts[width] = starts if several else np.empty(0, np.int64)
    return cached


def _are_complete(key: SampledField, groups: Integers, ended: _Ended, width: int) -> npt.NDArray[np.bool_]:
    """Return whether all source records of a key in each window were sampled.

    Of a key with too many records, whole days were sampled, and the beginning of a last one.
    """
    last = (key.ends - 1)[groups]
    ranks = key.ranks[last]
    in_last_day = (ended.ranks == ranks) & ((ended.windows + 1) * width <= key.times[last])
    return np.asarray(key.whole[groups] | (ended.ranks < ranks) | in_last_day)


def _find_pairs(source_groups: Integers, source_windows: Integers, groups: Integers, windows: Integers) -> Integers:
    """Return the index of each group and window among those of the source, which ascend, or -1."""
    lowest = min(int(source_windows.min()), int(windows.min()))
    factor = max(int(source_windows.max()), int(windows.max())) - lowest + 1
    numbers = source_groups * factor + (source_windows - lowest)
    wanted = groups * factor + (windows - lowest)
    indexes = np.minimum(np.searchsorted(numbers, wanted), len(numbers) - 1)
    return np.where(numbers[indexes] == wanted, indexes, -1)


def _match_aggregates(
    source: SampledTopic, target: SampledTopic, pair: tuple[int, int], width: int, windows: _Windows
) -> Aggregate | None:
    scores: list[float] = []
    counted = False
    fields: dict[str, AggregatedField] = {}
    results = target.numbers[windows.targets]
    for g, field in enumerate(target.fields):
        if g == pair[1] or np.count_nonzero(np.isfinite(results[:, g])) < MIN_ROWS:
            continue
        match = _compare(windows.counts.astype(float), results[:, g])
        if match is not None:
            counted = True
            scores.append(match[0])
            continue
        best: AggregatedField | None = None
        for function in FUNCTIONS:
            values = windows.values[function]
            for f in _find_equal(values, results[:, g]).tolist():
                match = _compare(values[:, f], results[:, g])
                if match is not None and (best is None or match[0] > best.score):
                    rows = RowPairs(windows.sources[match[1]], windows.targets[match[1]])
                    best = AggregatedField(source.fields[f].name, function, match[0], rows)
        if best is not None:
            fields[field.name] = best
            scores.append(best.score)
    if not counted and not any(each.function == "sum" for each in fields.values()):
        return None
    rows = RowPairs(windows.sources, windows.targets)
    key, target_key = source.fields[pair[0]].name, target.fields[pair[1]].name
    return Aggregate(key, target_key, width, float(np.mean(scores)), rows, fields)


def _find_equal(values: Floats, results: Floats) -> Integers:
    """Return the source fields whose aggregates are those of the target in nearly all records."""
    present = np.isfinite(results)
    equal = _are_equal(values[present], results[present][:, None])
    return np.flatnonzero(np.count_nonzero(equal, axis=0) / len(equal) >= MIN_AGREEMENT)


def _are_equal(values: Floats, results: Floats) -> npt.NDArray[np.bool_]:
    return np.asarray(np.abs(values - results) <= RELATIVE_ERROR * np.maximum(1.0, np.abs(results)))


def _compare(values: Floats, results: Floats) -> tuple[float, Integers] | None:
    """Return the share of records that have the aggregate, and which; None if other windows have it, too."""
    present = np.flatnonzero(np.isfinite(results))
    if len(present) < MIN_ROWS:
        return None
    values, results = values[present], results[present]
    equal = _are_equal(values, results)
    share = float(np.mean(equal))
    if share < MIN_AGREEMENT or len(np.unique(results[equal])) < MIN_VALUES:
        return None
    others = np.roll(values, len(values) // 2)
    chance = float(np.mean(_are_equal(others, results)))
    return (share, present[equal]) if share - chance >= MIN_BEYOND_CHANCE else None
