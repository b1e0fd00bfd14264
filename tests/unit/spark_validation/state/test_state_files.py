"""States written by earlier versions of the format are read with everything that they hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from contractlog.contracts.audit.field_profiles import ValueRange
from contractlog.contracts.audit.mergeable_state import (
    AuditState,
    CellKey,
    Coverage,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
    limit_state,
)
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.producers import ProducerCounts, ProducerKey
from contractlog.contracts.audit.record_origins import (
    OriginCounts,
    OriginKey,
    OriginPosition,
    TopicOrigins,
    TracedRecord,
)
from contractlog.contracts.audit.record_statistics import KeyCounts, TimestampRun
from contractlog.contracts.audit.rule_counts import RuleCounts, RuleKey
from contractlog.spark_validation.state.state_files import read_state, write_state

GOLDEN = Path(__file__).parent / "golden"

COUNTS = {
    Outcome.CONFORMS: 5,
    Outcome.TOMBSTONE: 5,
    Outcome.NOT_FRAMED: 5,
    Outcome.UNKNOWN_SCHEMA_ID: 5,
    Outcome.WRONG_SUBJECT: 5,
    Outcome.TRUNCATED: 5,
    Outcome.TRAILING_BYTES: 5,
    Outcome.BAD_UTF8: 5,
}


def count_outcomes(state: AuditState) -> dict[Outcome, int]:
    """Add up the outcomes of the values."""
    counts: dict[Outcome, int] = {}
    for key, cell in state.cells.items():
        for outcome, records in cell.counts.items() if key.part == "value" else ():
            counts[outcome] = counts.get(outcome, 0) + records
    return counts


def test_a_state_of_format_1_is_read() -> None:
    """Forty records in two partitions over four days, one of them without a time."""
    state = read_state(GOLDEN / "state_1")
    assert state.coverage == {Coverage("orders", 0, 0, 77, 20), Coverage("orders", 1, 0, 79, 20)}
    assert count_outcomes(state) == COUNTS
    windows = {key.window for key in state.cells}
    assert windows == {"", "1970-01-01", "1970-01-02", "1970-01-03", "1970-01-04"}
    cell = state.cells[CellKey("orders", "value", 0, "1970-01-01", 1)]
    assert (cell.counts, cell.first_seen) == ({Outcome.CONFORMS: 2, Outcome.TRAILING_BYTES: 1}, 0)
    violation = state.violations[ViolationKey("orders", "value", Outcome.BAD_UTF8, 1, "/fields/1/type", "note")]
    assert (violation.records, violation.first_seen, violation.last_seen) == (5, 60_480_000, 336_960_000)
    assert [(example.partition, example.offset) for example in violation.examples] == [
        (1, offset) for offset in (14, 30, 46, 62, 78)
    ]
    assert violation.examples[0] == ViolationExample(1, 14)
    assert violation.detail == "`note` (string) is not UTF-8 (byte 2 of the body)"
    assert len(state.samples["orders", "value", "total"].values) == 5
    assert state.unsampled == {("orders", "value", "wide")}


def test_a_state_of_format_2_is_read() -> None:
    """The same records in hours, two thirds of them with a producer."""
    state = read_state(GOLDEN / "state_2")
    assert count_outcomes(state) == COUNTS
    assert {len(key.window) for key in state.cells} == {0, len("1970-01-01T00")}
    assert state.producers == {
        ProducerKey("orders", "value", "desk"): ProducerCounts(13, 10, 17_280_000, 328_320_000),
        ProducerKey("orders", "value", "gate"): ProducerCounts(13, 10, 8_640_000, 319_680_000),
    }
    violation = state.violations[ViolationKey("orders", "value", Outcome.TRUNCATED, 1, "/fields/1/type", "note")]
    assert violation.producers == {"desk": 2, "gate": 2}
    first = ViolationExample(
        partition=1,
        offset=26,
        timestamp=112_320_000,
        producer="gate",
        size=9,
        failed_at=1,
        key="text(1)",
        headers=(("producer", "text(4)"), ("trace", "null")),
        decoded="{total: long, note: ✗",
    )
    assert violation.first == first
    assert first in violation.examples


def test_a_state_of_format_3_is_read() -> None:
    """The same records, and profiles of some fields."""
    state = read_state(GOLDEN / "state_3")
    assert replace(state, profiles={}) == read_state(GOLDEN / "state_2")
    assert {key[2] for key in state.profiles} == {"at", "name[]", "none", "real", "state", "whole"}
    names = state.profiles["orders", "value", "name[]"]
    assert (names.records, names.kinds, names.patterns) == (2, {"text": 4}, {"e-mail address": 1})
    assert names.distinct == (5398234366358093398, 10769164218237392466, 15732674100528651738)
    assert sorted((names.listed or {}).values()) == [1, 1, 2]
    assert names.sizes.quantile(0.99) == 3
    whole = state.profiles["orders", "value", "whole"]
    assert whole.ranges == {"number": ValueRange(-3.0, 2.0**53)}
    assert whole.listed == {"7": 1, "-3": 1, "9007199254740993": 1}
    assert state.profiles["orders", "value", "none"].nulls == 1


def test_a_state_of_format_4_is_read() -> None:
    """The same as in format 3, and statistics of forty other records."""
    state = read_state(GOLDEN / "state_4")
    assert replace(state, statistics={}) == read_state(GOLDEN / "state_3")
    statistics = state.statistics["orders"]
    assert (statistics.records, statistics.null_keys, len(statistics.sample)) == (40, 2, 38)
    assert statistics.keys[5498924445479915879] == KeyCounts(8, ((0, 0), (1, 1)))
    assert (statistics.sizes["value"].total, statistics.sizes["value"].largest) == (380, 19)
    assert statistics.runs == (
        TimestampRun(0, 0, 77, 0, 19_000, 1, 4_000),
        TimestampRun(1, 0, 79, 0, 19_000, 1, 4_000),
    )


def test_a_state_of_format_5_is_read() -> None:
    """The same as in format 4, and origins of the records."""
    state = read_state(GOLDEN / "state_5")
    assert replace(state, origins={}) == read_state(GOLDEN / "state_4")
    assert state.origins == {
        "orders": TopicOrigins(
            {
                OriginKey("contractlog.origin", "carts", "checkout"): OriginCounts(
                    30, 0, 19_000, NumberHistogram({5125: 29}), OriginPosition(0, 2, 1, 7)
                ),
                OriginKey("kafka_dlt-original-topic", "orders.v1", ""): OriginCounts(
                    1, 5, 5, example=OriginPosition(1, 3, 0, 9)
                ),
            },
            {7: TracedRecord(4000, 1, 8, 2**64 - 1), 2**64 - 1: TracedRecord(2**63 - 1, 0, 0, 1)},
            2,
        )
    }


def test_a_state_of_format_6_is_read() -> None:
    """The same as in format 5, and counts of two rules."""
    state = read_state(GOLDEN / "state_6")
    assert replace(state, rules={}) == read_state(GOLDEN / "state_5")
    assert state.rules == {
        RuleKey("orders", "value", 1, "/ruleSet/domainRules/0"): RuleCounts(5, 2, 1, 0, 0),
        RuleKey("orders", "value", 1, "/ruleSet/domainRules/1"): RuleCounts(4, 1, 0, 4, 1),
    }


def test_states_of_both_formats_are_merged_into_days() -> None:
    old, new = read_state(GOLDEN / "state_1"), read_state(GOLDEN / "state_2")
    state = limit_state(old.merge(new))
    assert count_outcomes(state) == {outcome: 2 * records for outcome, records in COUNTS.items()}
    assert {len(key.window) for key in state.cells} == {0, len("1970-01-01")}
    assert state == limit_state(new.merge(old))


def test_headers_of_one_name_are_stored_in_order(tmp_path: Path) -> None:
    example = ViolationExample(0, 1, headers=(("b", "text(1)"), ("a", "null"), ("b", "text(2)")))
    key = ViolationKey("t", "value", Outcome.NOT_FRAMED, 0, "", "")
    state = AuditState(violations={key: ViolationCounts(1, 0, 0, (example,), first=example)})
    write_state(state, tmp_path)
    assert read_state(tmp_path) == state
