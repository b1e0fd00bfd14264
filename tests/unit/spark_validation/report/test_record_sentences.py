"""Sentences about the records of a part."""

from __future__ import annotations

from contractlog.contracts.audit.record_position import RecordPosition
from contractlog.contracts.audit.report import KeyStatistics
from contractlog.spark_validation.report.record_sentences import describe_records

from support.reports import part


def _position(partition: int, offset: int) -> RecordPosition:
    return {"partition": partition, "offset": offset}


KEYS: KeyStatistics = {
    "null": 0,
    "distinct": 40_000,
    "distinct_error": 0.0443,
    "sampled": 512,
    "repeated": 500,
    "moved": 0,
    "moved_examples": [],
    "frequent": [],
}


def test_a_part_of_an_earlier_release_has_none() -> None:
    assert describe_records(part("t")) == []


def test_sizes_and_steps_back() -> None:
    entry = part("t")
    entry["sizes"] = {"bytes": 45_200_000, "largest": 5_120, "quantiles": {"p50": 74.0, "p95": 300.0, "p99": 410.0}}
    entry["time_order"] = {"backward": 12, "largest_step_ms": 7_200_000}
    sizes, steps = describe_records(entry)
    assert sizes == (
        "A value has 74 bytes at the median, 410 bytes at the 99th percentile and 5.12 kB at most; all together have "
        "45.2 MB."
    )
    assert steps == ("12 records are earlier than the record before in the same partition, by 2.0 h at most.")
    entry["time_order"] = {"backward": 0, "largest_step_ms": 0}
    assert len(describe_records(entry)) == 1


def test_keys_that_are_frequent_or_in_several_partitions_are_named_by_position() -> None:
    entry = part("t", name="key")
    entry["keys"] = KEYS | {
        "null": 1,
        "moved": 6,
        "moved_examples": [{"records": 3, "positions": [_position(0, 12), _position(3, 9_900)]}],
        "frequent": [{"share": 0.31, "low": 0.281, "high": 0.339, "example": _position(0, 7)}],
    }
    total, frequent, moved = describe_records(entry)
    assert total == "There are about 40,000 distinct keys; 1 record has no key."
    assert frequent == (
        "The most frequent key has 31 % of the records with a key (95 % interval: 28.1 % to 33.9 %), such as "
        "partition 0, offset 7."
    )
    assert moved.startswith("6 of 512 sampled keys occur in more than one partition, so ")
    assert "one is at partition 0, offset 12, and at partition 3, offset 9,900." in moved


def test_equal_sizes_and_keys_without_a_second_record() -> None:
    entry = part("t", name="key")
    entry["sizes"] = {"bytes": 45_200_000, "largest": 12, "quantiles": {"p50": 12.0, "p95": 12.0, "p99": 12.0}}
    entry["keys"] = KEYS | {"distinct": 41_234, "repeated": 0}
    assert describe_records(entry) == [
        "A key has 12 bytes at the median, 12 bytes at most; all together have 45.2 MB.",
        "There are about 41,200 distinct keys.",
        "None of the 512 sampled keys has a second record.",
    ]


def test_an_even_share_is_not_worth_a_sentence() -> None:
    entry = part("t", name="key")
    entry["keys"] = KEYS | {
        "distinct": 4,
        "distinct_error": 0.0,
        "frequent": [{"share": 0.3, "low": 0.28, "high": 0.32, "example": _position(0, 7)}],
    }
    assert describe_records(entry) == ["There are 4 distinct keys."]


def test_a_topic_without_keys() -> None:
    entry = part("t", name="key", records=10)
    entry["keys"] = KEYS | {"null": 10}
    assert describe_records(entry) == ["No record has a key."]
