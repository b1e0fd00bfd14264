"""Entries about records: sizes, keys and steps back in time, exact or estimated."""

from __future__ import annotations

import pytest

from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.record_entries import (
    describe_key_statistics,
    describe_size_statistics,
    describe_time_order,
)
from contractlog.contracts.audit.record_statistics import (
    MAX_SAMPLED_KEYS,
    MAX_SAMPLED_RECORDS,
    KeyCounts,
    RecordStatistics,
    SampledRecord,
    SizeCounts,
    TimestampRun,
)


def _sample(keys: list[int]) -> tuple[SampledRecord, ...]:
    return tuple(SampledRecord(rank, rank % 2, rank, key) for rank, key in enumerate(keys))


def test_few_records_are_described_exactly() -> None:
    keys = {5: KeyCounts(3, ((0, 0), (1, 1))), 8: KeyCounts(1, ((1, 3),))}
    entry = describe_key_statistics(RecordStatistics(5, 1, keys=keys, sample=_sample([5, 5, 5, 8])))
    assert entry == {
        "null": 1,
        "distinct": 2,
        "distinct_error": 0,
        "sampled": 2,
        "repeated": 1,
        "moved": 1,
        "moved_examples": [{"records": 3, "positions": [{"partition": 0, "offset": 0}, {"partition": 1, "offset": 1}]}],
        "frequent": [{"share": 0.75, "low": 0.75, "high": 0.75, "example": {"partition": 0, "offset": 0}}],
    }


def test_a_share_in_a_sample_has_an_interval_that_contains_it() -> None:
    sample = _sample([7] * (MAX_SAMPLED_RECORDS // 4) + list(range(100, 100 + MAX_SAMPLED_RECORDS * 3 // 4)))
    (frequent,) = describe_key_statistics(RecordStatistics(1_000_000, sample=sample))["frequent"]
    assert frequent["share"] == pytest.approx(0.25)
    assert (round(frequent["low"], 3), round(frequent["high"], 3)) == (0.224, 0.277)


def test_the_number_of_keys_is_estimated_from_their_lowest_hashes() -> None:
    spacing = 2**64 // 100_000
    keys = {spacing * (number + 1): KeyCounts(1, ((0, number),)) for number in range(MAX_SAMPLED_KEYS)}
    entry = describe_key_statistics(RecordStatistics(200_000, keys=keys))
    assert entry["distinct"] == pytest.approx(100_000, rel=0.01)
    assert entry["distinct_error"] == pytest.approx(0.044, abs=0.001)
    assert describe_key_statistics(RecordStatistics(700, keys=keys))["distinct"] == 700


def test_sizes_have_quantiles_that_are_not_above_the_largest() -> None:
    histogram = NumberHistogram({65_536 + 64: 3})
    entry = describe_size_statistics(RecordStatistics(sizes={"value": SizeCounts(histogram, 6, 2)}), "value")
    assert entry == {"bytes": 6, "largest": 2, "quantiles": {"p50": 2.0, "p95": 2.0, "p99": 2.0}}
    assert describe_size_statistics(RecordStatistics(sizes={"value": SizeCounts()}), "value") is None
    assert describe_size_statistics(RecordStatistics(), "key") is None


def test_steps_back_are_added_up_over_the_partitions() -> None:
    runs = (TimestampRun(0, 0, 9, 1, 5, 2, 60_000), TimestampRun(1, 0, 9, 1, 5, 1, 7))
    assert describe_time_order(RecordStatistics(runs=runs)) == {"backward": 3, "largest_step_ms": 60_000}
    assert describe_time_order(RecordStatistics()) == {"backward": 0, "largest_step_ms": 0}
