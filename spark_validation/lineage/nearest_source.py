"""Choice of the topic that a copy was made from, among topics with the same values.

A copy has the values of its source, and so those of the source's own source and of other copies. What tells them apart
is rows: the target has no row that its source lacks or had later; it lacks the rows that its source had dropped; and
what was late in its source is late in the target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.copied_fields import Copies
from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledField, SampledTopic

__all__ = ["nearest_sources"]

MIN_MISSING: Final = 2  #: a topic that lacks this many rows of a target, or has them later, is no source
MIN_MISSING_SHARE: Final = 0.003  #: the same as a share of the rows
MIN_DROPPED: Final = 3.0  #: rows that a copy dropped and a target of its source should have; fewer decide nothing
MAX_DROPPED: Final = 0.2  #: a target with a larger share of these rows was not made from the copy
MIN_ROWS: Final = 12  #: minimum number of rows whose delays are compared
MIN_CORRELATION: Final = 0.15  #: of ranks of delays
CERTAIN: Final = 3.0  #: standard deviations beyond chance
MIN_EARLIER: Final = 3.0  #: rows that a target of the source should have before the copy does; fewer decide nothing
MAX_EARLIER: Final = 0.3  #: a target with a larger share of these rows was not made from the copy
LATE: Final = 0.95  #: quantile of the target's delays above which a row of the copy is late
MIN_LATE: Final = 3  #: with at least this many late rows, only they decide


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


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Rows of a target and of candidates, by one field that identifies them in all of these topics."""

    target: _Rows
    candidates: Mapping[str, _Rows]


def nearest_sources(
    target: SampledTopic,
    candidates: Sequence[str],
    topics: Mapping[str, SampledTopic],
    copies: Copies,
    read_shares: Mapping[str, float],
) -> list[str]:
    """Return the candidates that the target may have been made from, those without evidence against them.

    Args:
        target: the copy.
        candidates: names of topics that have values of the target, each with a copy to it.
        topics: topics by name.
        copies: copies with a definite direction; those between candidates tell which one is further upstream.
        read_shares: share of each topic's records that were read.
    """
    comparisons = list(_compare_by_field(target, candidates, topics, copies))
    absent = {name: _lacks_rows(name, comparisons, read_shares[name]) for name in candidates}
    remaining = [name for name in candidates if not absent[name]] or list(candidates)
    dropped = set()
    for upstream in remaining:
        for downstream in remaining:
            if (upstream, downstream) in copies:
                shared = [each for each in comparisons if {upstream, downstream} <= each.candidates.keys()]
                if shared:
                    nearer = _is_nearer(upstream, downstream, shared, read_shares[downstream])
                else:
                    nearer = _waits_for_copy(*_follow_aligned_rows(upstream, downstream, target.name, topics, copies))
                if shared or nearer:
                    dropped.add(upstream if nearer else downstream)
    return [name for name in remaining if name not in dropped] or remaining


def _compare_by_field(
    target: SampledTopic, candidates: Sequence[str], topics: Mapping[str, SampledTopic], copies: Copies
) -> Iterator[_Comparison]:
    """Yield a comparison for each field that identifies rows in the target and in two candidates."""
    for field in target.fields:
        if not field.identifies_rows:
            continue
        rows = {}
        for name in candidates:
            copied = copies[name, target.name].fields.get(field.name)
            if copied is not None:
                source = next(each for each in topics[name].fields if each.name == copied.source)
                if source.identifies_rows:
                    rows[name] = _Rows.of(source)
        if len(rows) > 1:
            yield _Comparison(_Rows.of(field), rows)


def _lacks_rows(name: str, comparisons: Iterable[_Comparison], read_share: float) -> bool:
    """Return whether a candidate lacks rows of the target, or had them later, that others had before."""
    absent = total = 0
    for comparison in comparisons:
        if name in comparison.candidates:
            own, rows = comparison.target, comparison.candidates
            values = own.values[own.values <= _common_limit(own, *rows.values())]
            times = own.times[: len(values)]
            present = {other: each.find_times(values) <= times for other, each in rows.items()}
            anywhere = np.logical_or.reduce(list(present.values()))
            total += int(np.count_nonzero(anywhere))
            absent += int(np.count_nonzero(anywhere & ~present[name]))
    unread = (1 - read_share) * total
    unread += CERTAIN * float(np.sqrt(read_share * unread))
    return absent >= max(MIN_MISSING, MIN_MISSING_SHARE * total + unread)


def _common_limit(*rows: _Rows) -> np.uint64:
    return np.uint64(min(each.highest for each in rows))


def _is_nearer(upstream: str, downstream: str, comparisons: Sequence[_Comparison], read_share: float) -> bool:
    """Return whether the target was made from the copy of a topic rather than from the topic.

    Args:
        upstream: the topic.
        downstream: its copy.
        comparisons: rows of the topic, its copy and the target.
        read_share: share of the copy's records that were read.
    """
    copied, reached, first_delays, whole_delays = (
        np.concatenate(arrays)
        for arrays in zip(*(_follow_rows(upstream, downstream, each) for each in comparisons), strict=True)
    )
    share = float(np.mean(reached[copied])) if copied.any() else 0.0
    unread = np.count_nonzero(copied) * (1 - read_share) / read_share  # rows of the copy
    expected = (np.count_nonzero(~copied) - unread) * share
    uncertain = CERTAIN * float(np.sqrt(unread)) * share
    if expected >= MIN_DROPPED + uncertain:
        return bool(np.count_nonzero(~copied & reached) - unread * share <= MAX_DROPPED * expected + uncertain)
    both = copied & reached
    return _waits_for_copy(first_delays[both], whole_delays[both])


def _waits_for_copy(first_delays: Integers, whole_delays: Integers) -> bool:
    """Return whether the delays of a target show that its rows came by a copy of the source.

    Args:
        first_delays: delay of the copy, by row.
        whole_delays: delay of the target, by row.
    """
    rows = len(first_delays)
    if rows < MIN_ROWS:
        return False
    earlier = _expect_earlier(first_delays, whole_delays)
    if earlier >= MIN_EARLIER:
        return bool(np.count_nonzero(whole_delays < first_delays) <= MAX_EARLIER * earlier)
    late = first_delays > np.quantile(whole_delays, LATE)
    if np.count_nonzero(late) >= MIN_LATE:
        return bool(np.mean(whole_delays[late] >= first_delays[late]) > LATE)
    return _rank_correlation(first_delays, whole_delays) > max(MIN_CORRELATION, CERTAIN / float(np.sqrt(rows)))


def _follow_aligned_rows(
    upstream: str, downstream: str, target: str, topics: Mapping[str, SampledTopic], copies: Copies
) -> tuple[Integers, Integers]:
    """Return the delays of the copy and of the target, by row of the upstream topic that both have.

    This is for topics without a field that identifies their rows: rows are those that were aligned.
    """
    to_copy, to_target = copies[upstream, downstream].rows, copies[upstream, target].rows
    sources, firsts, seconds = np.intersect1d(to_copy.sources, to_target.sources, return_indices=True)
    starts = topics[upstream].times[sources]
    first_delays = topics[downstream].times[to_copy.targets[firsts]] - starts
    return first_delays, topics[target].times[to_target.targets[seconds]] - starts


def _follow_rows(
    upstream: str, downstream: str, comparison: _Comparison
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_], Integers, Integers]:
    """Return, by row of the upstream topic, whether the copy and the target have it, and both delays."""
    source, copy, target = comparison.candidates[upstream], comparison.candidates[downstream], comparison.target
    values = source.values[source.values <= _common_limit(source, copy, target)]
    times, later, last = (rows.find_times(values) for rows in (source, copy, target))
    copied, reached = later < _NEVER, last < _NEVER
    return copied, reached, np.where(copied, later - times, 0), np.where(reached, last - times, 0)


def _expect_earlier(first_delays: Integers, whole_delays: Integers) -> float:
    """Return the number of rows that the target would have before the copy if it did not wait for it."""
    ranks = np.searchsorted(np.sort(whole_delays), first_delays)
    return float(np.sum(ranks)) / len(first_delays)


def _rank_correlation(first: Integers, second: Integers) -> float:
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    ranks = np.stack([np.argsort(np.argsort(values, kind="stable"), kind="stable") for values in (first, second)])
    return float(np.asarray(np.corrcoef(ranks))[0, 1])
