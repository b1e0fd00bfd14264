"""Statistics of records merge exactly, in any order, and steps back in time are counted across ranges."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.record_statistics import (
    MAX_SAMPLED_KEYS,
    MAX_SAMPLED_RECORDS,
    KeyCounts,
    RecordStatistics,
    SampledRecord,
    SizeCounts,
    TimestampRun,
)

TIMES = st.one_of(st.none(), st.integers(0, 5))


def _statistics_of(offset: int, time: int | None, key: int) -> RecordStatistics:
    """Return the statistics of one record."""
    return RecordStatistics(
        1,
        sizes={"key": SizeCounts(total=key, largest=key)},
        keys={key: KeyCounts(1, ((offset % 3, offset),))},
        sample=(SampledRecord(offset * 7 % 11, offset % 3, offset, key),),
        runs=(TimestampRun(0, offset, offset + 1, time, time),),
    )


@given(st.lists(st.tuples(TIMES, st.integers(0, 4)), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_a_merge_does_not_depend_on_the_order(records: list[tuple[int | None, int]], random: object) -> None:
    parts = [_statistics_of(offset, *record) for offset, record in enumerate(records)]
    in_order = reduce(RecordStatistics.merge, parts)
    getattr(random, "shuffle")(parts)  # noqa: B009 - the strategy's type is private
    assert reduce(RecordStatistics.merge, parts) == in_order
    times = [time for time, _ in records if time is not None]
    steps = [before - after for before, after in pairwise(times) if after < before]
    first, last = (times[0], times[-1]) if times else (None, None)
    assert in_order.runs == (TimestampRun(0, 0, len(records), first, last, len(steps), max(steps, default=0)),)
    assert sum(counts.records for counts in in_order.keys.values()) == len(records)


def test_runs_with_a_gap_between_them_are_not_joined() -> None:
    runs = [TimestampRun(0, 0, 5, 9, 9), TimestampRun(0, 6, 7, 1, 1), TimestampRun(1, 5, 6, 1, 1)]
    merged = reduce(RecordStatistics.merge, (RecordStatistics(runs=(run,)) for run in runs))
    assert merged.runs == tuple(runs)
    joined = merged.merge(RecordStatistics(runs=(TimestampRun(0, 5, 6, None, None),)))
    assert joined.runs == (TimestampRun(0, 0, 7, 9, 1, 1, 8), runs[2])


def test_a_key_has_the_first_offsets_of_its_two_lowest_partitions() -> None:
    counts = KeyCounts(2, ((1, 8), (3, 4)))
    assert counts.merge(KeyCounts(1, ((1, 5),))) == KeyCounts(3, ((1, 5), (3, 4)))
    assert counts.merge(KeyCounts(1, ((2, 0),))) == KeyCounts(3, ((1, 8), (2, 0)))


def test_samples_are_bounded_and_have_the_lowest() -> None:
    keys = {key: KeyCounts(1, ((0, key),)) for key in range(MAX_SAMPLED_KEYS)}
    sample = tuple(SampledRecord(rank, 0, rank, rank) for rank in range(MAX_SAMPLED_RECORDS))
    full = RecordStatistics(keys={key + 1: counts for key, counts in keys.items()}, sample=sample[1:])
    more = RecordStatistics(keys={0: KeyCounts(1, ((0, 0),))}, sample=(*sample[:1], SampledRecord(5000, 0, 5000, 1)))
    merged = full.merge(more)
    assert sorted(merged.keys) == sorted(keys)
    assert merged.sample == sample
