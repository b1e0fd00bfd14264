"""Choice of the topic that a copy was made from, among topics with the same values.

A copy has the values of its source, and so those of the source's own source and of other copies. What tells them apart
is rows: the target has no row that its source lacks or had later; it lacks the rows that its source had dropped; and
what was late in its source is late in the target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.copied_fields import TopicCopy
from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledField, SampledTopic

__all__ = ["Copies", "nearest_sources"]

Copies = Mapping[tuple[str, str], TopicCopy]
"""Copies by source and target."""

MIN_ROWS: Final = 30
MAX_MISSING: Final = 0.003  #: maximum share of a target's rows that its source may lack or have later
MIN_MISSING: Final = 2  #: so many may always be missing
MIN_DROPPED: Final = 3.0  #: expected number of rows, dropped by a copy, from which their absence in the target counts
MAX_DROPPED: Final = 0.2  #: maximum share of these in a target that was made from the copy
MIN_CORRELATION: Final = 0.15  #: of ranks of delays
CERTAIN: Final = 3.0  #: standard deviations beyond chance
LATE: Final = 0.95  #: quantile of the target's delays above which a row of the copy is late
MIN_LATE: Final = 3


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of a topic, by the values of a field that identifies them."""

    values: npt.NDArray[np.uint64]  #: ascending
    times: Integers
    highest: int  #: all values up to this one were sampled

    @classmethod
    def of(cls, field: SampledField) -> _Rows:
        firsts = np.searchsorted(field.hashes, field.distinct)
        return cls(field.distinct, field.times[firsts], field.highest)

    def find_times(self, values: npt.NDArray[np.uint64]) -> Integers:
        """Return the time of each value's row; ``_NEVER`` without one."""
        indexes = np.minimum(np.searchsorted(self.values, values), len(self.values) - 1)
        return np.where(self.values[indexes] == values, self.times[indexes], _NEVER)


_NEVER: Final = np.iinfo(np.int64).max


def nearest_sources(
    target: SampledTopic, candidates: Sequence[str], topics: Mapping[str, SampledTopic], copies: Copies
) -> list[str]:
    """Return the candidates that the target may have been made from, those without evidence against them.

    Args:
        target: the copy.
        candidates: names of topics that have values of the target, each with a copy to it.
        topics: topics by name.
        copies: copies with a definite direction; those between candidates tell which one is further upstream.
    """
    remaining = list(candidates)
    compared = _rows_of_candidates(target, candidates, topics, copies)
    if compared is None:
        return remaining
    own, rows = compared
    absent = _count_absent(own, rows)
    limit = {name: max(MIN_MISSING, MAX_MISSING * absent[name][1]) for name in rows}
    remaining = [name for name in remaining if name not in rows or absent[name][0] < limit[name]] or remaining
    dropped = set()
    for upstream in remaining:
        for downstream in remaining:
            if upstream in rows and downstream in rows and (upstream, downstream) in copies:
                nearer = _is_nearer(rows[upstream], rows[downstream], own)
                dropped.add(upstream if nearer else downstream)
    return [name for name in remaining if name not in dropped] or remaining


def _rows_of_candidates(
    target: SampledTopic, candidates: Sequence[str], topics: Mapping[str, SampledTopic], copies: Copies
) -> tuple[_Rows, dict[str, _Rows]] | None:
    """Return the rows of the target and its candidates, by a field that identifies them in most."""
    best: tuple[tuple[int, int], _Rows, dict[str, _Rows]] | None = None
    for field in target.fields:
        if not field.identifies_rows or len(field.distinct) < MIN_ROWS:
            continue
        rows = {}
        for name in candidates:
            copied = copies[name, target.name].fields.get(field.name)
            if copied is not None:
                source = next(each for each in topics[name].fields if each.name == copied.source)
                if source.identifies_rows and len(source.distinct) >= MIN_ROWS:
                    rows[name] = _Rows.of(source)
        rank = len(rows), len(field.distinct)
        if len(rows) > 1 and (best is None or rank > best[0]):
            best = rank, _Rows.of(field), rows
    return best[1:] if best else None


def _count_absent(own: _Rows, rows: Mapping[str, _Rows]) -> dict[str, tuple[int, int]]:
    """Return, by candidate, the number of target rows that it lacked, and of those that any had.

    A row that the candidate had later than the target counts as lacking.
    """
    highest = np.uint64(min(own.highest, *(each.highest for each in rows.values())))
    values = own.values[own.values <= highest]
    times = own.times[: len(values)]
    present = {name: each.find_times(values) <= times for name, each in rows.items()}
    anywhere = np.logical_or.reduce(list(present.values()))
    total = int(np.count_nonzero(anywhere))
    return {name: (int(np.count_nonzero(anywhere & ~each)), total) for name, each in present.items()}


def _is_nearer(upstream: _Rows, downstream: _Rows, target: _Rows) -> bool:
    """Return whether the target was made from the copy of a topic rather than from the topic."""
    highest = np.uint64(min(upstream.highest, downstream.highest, target.highest))
    values = upstream.values[upstream.values <= highest]
    times, later, last = (rows.find_times(values) for rows in (upstream, downstream, target))
    copied, reached = later < _NEVER, last < _NEVER
    expected = np.count_nonzero(~copied) * float(np.mean(reached[copied])) if copied.any() else 0.0
    if expected >= MIN_DROPPED:
        return bool(np.count_nonzero(~copied & reached) <= MAX_DROPPED * expected)
    both = copied & reached
    if np.count_nonzero(both) < MIN_ROWS:
        return False
    first_delays, whole_delays = (later - times)[both], (last - times)[both]
    late = first_delays > np.quantile(whole_delays, LATE)
    if np.count_nonzero(late) >= MIN_LATE:
        return bool(np.mean(whole_delays[late] >= first_delays[late]) > LATE)
    correlation = _rank_correlation(first_delays, whole_delays)
    return correlation > max(MIN_CORRELATION, CERTAIN / float(np.sqrt(np.count_nonzero(both))))


def _rank_correlation(first: Integers, second: Integers) -> float:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    ranks = np.stack([np.argsort(np.argsort(values, kind="stable"), kind="stable") for values in (first, second)])
    return float(np.asarray(np.corrcoef(ranks))[0, 1])
