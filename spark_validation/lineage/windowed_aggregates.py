"""Detection of topics whose records aggregate those of another by a key, in windows of time.

For the keys and windows of which all source records were sampled, the count, and the sum, minimum and maximum of each
number are computed, and compared with the target's numbers. A target record belongs to the last window that had ended
when it was written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.alignment import RowPairs
from contractlog.spark_validation.lineage.copied_fields import candidate_pairs
from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledField, SampledTopic
from contractlog.spark_validation.lineage.sampling import compute_sampling_ranks

__all__ = ["Aggregate", "AggregatedField", "find_aggregate"]

MINUTE_MS: Final = 60_000
WIDTHS: Final = tuple(MINUTE_MS * minutes for minutes in (1, 5, 10, 15, 30, 60, 120, 180, 240, 360, 480, 720, 1440))
FUNCTIONS: Final = ("sum", "minimum", "maximum")
_UNITS: Final = ((1440 * MINUTE_MS, "day"), (60 * MINUTE_MS, "hour"), (MINUTE_MS, "minute"))
MIN_ROWS: Final = 12
MIN_VALUES: Final = 3
MIN_AGREEMENT: Final = 0.95
MIN_BEYOND_CHANCE: Final = 0.3  #: minimum difference to the agreement with other keys and windows
MIN_SHARED_WINDOWS: Final = 0.1  #: minimum share of windows with several records, without which nothing is aggregated
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


@dataclass(frozen=True, slots=True)
class _Windows:
    """Target rows whose window was sampled completely, with the aggregates of the window's source rows."""

    targets: Integers
    sources: Integers  #: the last source row of each window
    counts: Integers
    values: dict[str, Floats]  #: by function; by row and source field


def find_aggregate(source: SampledTopic, target: SampledTopic) -> Aggregate | None:
    """Return the aggregate of a source that a target is, or None if it is none."""
    if not np.isfinite(target.numbers).any():
        return None
    best: Aggregate | None = None
    pairs = [
        (f, g)
        for f, g in candidate_pairs(source, target)
        if not source.fields[f].identifies_rows and not target.fields[g].identifies_rows
    ]
    for f, g in pairs[:MAX_KEYS]:
        for width in WIDTHS:
            windows = _collect_windows(source, source.fields[f], target.fields[g], width)
            if windows is None:
                continue
            aggregate = _match_aggregates(source, target, (f, g), width, windows)
            if aggregate and (best is None or _rank(aggregate) > _rank(best)):
                best = aggregate
    return best


def _rank(aggregate: Aggregate) -> tuple[int, float, int]:
    return len(aggregate.fields), aggregate.score, len(aggregate.rows.targets)


def _collect_windows(source: SampledTopic, key: SampledField, foreign: SampledField, width: int) -> _Windows | None:
    groups = np.minimum(np.searchsorted(key.distinct, foreign.hashes), len(key.distinct) - 1)
    windows = foreign.times // width - 1
    chosen = (key.distinct[groups] == foreign.hashes) & _are_complete(key, groups, windows * width, width)
    if np.count_nonzero(chosen) < MIN_ROWS:
        return None
    targets, groups, windows = foreign.rows[chosen], groups[chosen], windows[chosen]
    source_windows = key.times // width
    order = np.lexsort((key.times, source_windows, key.groups))
    ids = np.stack([key.groups[order], source_windows[order]], axis=1)
    distinct, starts, counts = np.unique(ids, axis=0, return_index=True, return_counts=True)
    if np.mean(counts > 1) < MIN_SHARED_WINDOWS:
        return None
    at = _find_pairs(distinct, np.stack([groups, windows], axis=1))
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


def _are_complete(key: SampledField, groups: Integers, starts: Integers, width: int) -> npt.NDArray[np.bool_]:
    """Return whether all source records of a key in each window were sampled.

    Of a key with too many records, whole days were sampled, and the beginning of a last one.
    """
    last = np.cumsum(key.counts)[groups] - 1
    ranks = compute_sampling_ranks(key.distinct[groups], starts).astype(np.int64)
    in_last_day = (ranks == key.ranks[last]) & (starts + width <= key.times[last])
    return np.asarray(key.whole[groups] | (ranks < key.ranks[last]) | in_last_day)


def _find_pairs(distinct: Integers, pairs: Integers) -> Integers:
    """Return the index of each pair among distinct pairs, which ascend, or -1."""
    lowest = min(int(distinct[:, 1].min()), int(pairs[:, 1].min()))
    factor = max(int(distinct[:, 1].max()), int(pairs[:, 1].max())) - lowest + 1
    numbers = distinct[:, 0] * factor + distinct[:, 1] - lowest
    wanted = pairs[:, 0] * factor + pairs[:, 1] - lowest
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
            for f, source_field in enumerate(source.fields):
                match = _compare(windows.values[function][:, f], results[:, g])
                if match is not None and (best is None or match[0] > best.score):
                    rows = RowPairs(windows.sources[match[1]], windows.targets[match[1]])
                    best = AggregatedField(source_field.name, function, match[0], rows)
        if best is not None:
            fields[field.name] = best
            scores.append(best.score)
    if not counted and not any(each.function == "sum" for each in fields.values()):
        return None
    rows = RowPairs(windows.sources, windows.targets)
    key, target_key = source.fields[pair[0]].name, target.fields[pair[1]].name
    return Aggregate(key, target_key, width, float(np.mean(scores)), rows, fields)


def _compare(values: Floats, results: Floats) -> tuple[float, Integers] | None:
    """Return the share of records that have the aggregate, and which; None if other windows have it, too."""
    present = np.flatnonzero(np.isfinite(results))
    if len(present) < MIN_ROWS:
        return None
    values, results = values[present], results[present]
    equal = np.abs(values - results) <= RELATIVE_ERROR * np.maximum(1.0, np.abs(results))
    share = float(np.mean(equal))
    if share < MIN_AGREEMENT or len(np.unique(results[equal])) < MIN_VALUES:
        return None
    others = np.roll(values, len(values) // 2)
    chance = float(np.mean(np.abs(others - results) <= RELATIVE_ERROR * np.maximum(1.0, np.abs(results))))
    return (share, present[equal]) if share - chance >= MIN_BEYOND_CHANCE else None
