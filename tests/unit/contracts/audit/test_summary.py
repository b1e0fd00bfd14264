"""Summary of a state: consistent counts, and verdicts by rule."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.field_drift import FieldDrift
from contractlog.contracts.audit.mergeable_state import (
    AuditState,
    Cell,
    CellKey,
    Coverage,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
)
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.producers import OTHER_PRODUCERS, ProducerCounts, ProducerKey
from contractlog.contracts.audit.report import AuditVerdict, TopicPart
from contractlog.contracts.audit.summary import VersionUse, newest_in_use, summarize
from contractlog.contracts.audit.time_text import format_timestamp

USES = {("t", "value", 1): VersionUse("t-value", 1), ("t", "value", 2): VersionUse("t-value", 2)}
DAY = "2013-01-01"


def state_of(counts: dict[tuple[int, int, Outcome], int], *, absent: int = 0) -> AuditState:
    """Make a state from counts by partition, schema id and outcome."""
    cells: dict[CellKey, Cell] = {}
    violations: dict[ViolationKey, ViolationCounts] = {}
    for (partition, schema_id, outcome), records in counts.items():
        key = CellKey("t", "value", partition, DAY, schema_id)
        cell = Cell({outcome: records}, 1_000, 2_000)
        cells[key] = cells[key].merge(cell) if key in cells else cell
        if outcome.violating:
            line = ViolationKey("t", "value", outcome, schema_id, "/fields/0", "a")
            violation = ViolationCounts(records, 1_000, 2_000, (ViolationExample(partition, 5),), "why")
            violations[line] = violations[line].merge(violation) if line in violations else violation
    read = {partition: 0 for partition, _, _ in counts} or {0: 0}
    for (partition, _, _), records in counts.items():
        read[partition] += records
    coverage = frozenset(Coverage("t", at, 0, records + absent, records) for at, records in read.items())
    return AuditState(coverage, cells, violations)


def entry_of(state: AuditState, part: str = "value") -> TopicPart:
    """Return the entry of one part."""
    (entry,) = [one for one in summarize(state, USES) if one["part"] == part]
    return entry


@pytest.mark.parametrize(
    ("counts", "verdict"),
    [
        ({(0, 1, Outcome.CONFORMS): 10}, "passing"),
        ({(0, 1, Outcome.CONFORMS): 10, (0, 0, Outcome.TOMBSTONE): 5}, "passing"),
        ({(0, 0, Outcome.TOMBSTONE): 5}, "unknown"),
        ({}, "unknown"),
        ({(0, 0, Outcome.UNAUDITED): 5, (0, 0, Outcome.TOMBSTONE): 5}, "unknown"),
        # an old version has one bad record in ten thousand, the newest has none
        ({(0, 2, Outcome.CONFORMS): 9_999, (0, 1, Outcome.TRUNCATED): 1}, "degraded"),
        # one in ten thousand, in the newest version: within the threshold, too
        ({(0, 2, Outcome.CONFORMS): 9_999, (0, 2, Outcome.TRUNCATED): 1}, "degraded"),
        # one in ten thousand, and one in ten of the newest version
        ({(0, 1, Outcome.CONFORMS): 9_990, (0, 2, Outcome.CONFORMS): 9, (0, 2, Outcome.TRUNCATED): 1}, "failing"),
        # without a schema of this subject, below and above one in a thousand
        ({(0, 2, Outcome.CONFORMS): 9_999, (0, 0, Outcome.NOT_FRAMED): 1}, "degraded"),
        ({(0, 2, Outcome.CONFORMS): 9_999, (0, 99, Outcome.WRONG_SUBJECT): 1}, "degraded"),
        ({(0, 2, Outcome.CONFORMS): 999, (0, 0, Outcome.NOT_FRAMED): 1}, "degraded"),
        ({(0, 2, Outcome.CONFORMS): 998, (0, 0, Outcome.NOT_FRAMED): 2}, "failing"),
        # records of a schema that validators cannot use count neither way
        ({(0, 2, Outcome.SCHEMA_NOT_USABLE): 5}, "unknown"),
        ({(0, 2, Outcome.SCHEMA_NOT_USABLE): 5, (0, 0, Outcome.TOMBSTONE): 5}, "unknown"),
        ({(0, 2, Outcome.SCHEMA_NOT_USABLE): 5, (0, 1, Outcome.CONFORMS): 10}, "passing"),
        (
            {(0, 2, Outcome.SCHEMA_NOT_USABLE): 5_000, (0, 1, Outcome.CONFORMS): 998, (0, 1, Outcome.TRUNCATED): 2},
            "failing",
        ),
        # the newest version in use counts, not the newest there is
        ({(0, 0, Outcome.NOT_FRAMED): 1, (0, 1, Outcome.CONFORMS): 9_999}, "degraded"),
    ],
)
def test_the_verdict_follows_from_the_newest_version_in_use_and_the_share(
    counts: dict[tuple[int, int, Outcome], int], verdict: AuditVerdict
) -> None:
    assert entry_of(state_of(counts))["verdict"] == verdict


def test_the_threshold_is_a_setting_and_what_missed_it_is_named() -> None:
    state = state_of({(0, 1, Outcome.CONFORMS): 970, (0, 2, Outcome.CONFORMS): 9, (0, 2, Outcome.TRUNCATED): 1})
    for threshold, verdict, missed in [
        (0.9, "degraded", []),
        (0.95, "failing", ["newest version"]),
        (0.999, "failing", ["all versions", "newest version"]),
    ]:
        entry = summarize(state, USES, threshold=threshold)[0]
        assert (entry["verdict"], entry["missed"], entry["threshold"]) == (verdict, missed, threshold)


def test_the_same_share_gives_the_same_verdict_in_every_part_and_a_reason_where_it_does_not() -> None:
    """99.95 % conform in both; in one, the violations are of the newest version, which has few records."""
    old = entry_of(
        state_of({(0, 1, Outcome.CONFORMS): 9_895, (0, 1, Outcome.TRUNCATED): 5, (0, 2, Outcome.CONFORMS): 100})
    )
    new = entry_of(
        state_of({(0, 1, Outcome.CONFORMS): 9_900, (0, 2, Outcome.CONFORMS): 95, (0, 2, Outcome.TRUNCATED): 5})
    )
    assert old["conformance"] == new["conformance"] == 0.9995
    assert (old["verdict"], old["missed"]) == ("degraded", [])
    assert (new["verdict"], new["missed"]) == ("failing", ["newest version"])


def test_the_newest_version_is_the_one_with_the_highest_number_whichever_id_or_time_it_has() -> None:
    uses = {("t", "value", 18): VersionUse("t-value", 1), ("t", "value", 7): VersionUse("t-value", 2)}
    state = state_of({(0, 18, Outcome.CONFORMS): 5, (0, 7, Outcome.CONFORMS): 5})
    newest = newest_in_use(summarize(state, uses)[0]["schemas"])
    assert [(use["schema_id"], use["version"]) for use in newest] == [(7, 2)]


def test_ids_of_wrong_subjects_name_their_subject_and_are_nobodys_newest_version() -> None:
    uses = {**USES, ("t", "value", 99): VersionUse("other-value", 5, expected=False)}
    entry = summarize(state_of({(0, 2, Outcome.CONFORMS): 9_999, (0, 99, Outcome.WRONG_SUBJECT): 1}), uses)[0]
    assert (entry["verdict"], entry["missed"]) == ("degraded", [])
    assert [(use["subject"], use["expected"]) for use in entry["schemas"]] == [
        ("t-value", True),
        ("other-value", False),
    ]


COUNTS = st.dictionaries(
    st.tuples(
        st.integers(0, 3),
        st.sampled_from([0, 1, 2, 99]),
        st.sampled_from([one for one in Outcome if one is not Outcome.UNAUDITED]),
    ),
    st.integers(1, 5),
    max_size=30,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(COUNTS, st.integers(0, 9))
def test_counts_add_up_for_every_partition_and_in_all(counts: dict[tuple[int, int, Outcome], int], absent: int) -> None:
    for entry in summarize(state_of(counts, absent=absent), USES):
        for one in entry["partitions"]:
            told = one["conforming"] + one["violating"] + one["tombstones"] + one["unaudited"] + one["absent"]
            assert told == one["to_offset"] - one["from_offset"]
        for name in ("records", "conforming", "violating", "tombstones", "unaudited", "absent"):
            assert entry[name] == sum(one[name] for one in entry["partitions"])  # type: ignore[literal-required]
    entry = entry_of(state_of(counts, absent=absent))
    assert entry["records"] == sum(counts.values()) == sum(point["records"] for point in entry["series"])
    assert entry["violating"] == sum(line["records"] for line in entry["violations"])
    assert entry["violating"] == sum(point["violating"] for point in entry["series"])


@pytest.mark.parametrize("audited", [{}, {(1, 1, Outcome.CONFORMS): 3, (1, 2, Outcome.TRUNCATED): 1}])
def test_a_part_that_was_not_held_against_anything_says_so_and_accounts_for_its_offsets(
    audited: dict[tuple[int, int, Outcome], int],
) -> None:
    counts = {(0, 0, Outcome.UNAUDITED): 5, (0, 0, Outcome.TOMBSTONE): 2} | audited
    entry = entry_of(state_of(counts, absent=4))
    assert (entry["verdict"], entry["conformance"], entry["violations"]) == ("unknown", None, [])
    assert entry["notes"] == [f"5 of {sum(counts.values())} records were not checked against any schema."]
    assert entry["partitions"][0] == {
        "partition": 0,
        "from_offset": 0,
        "to_offset": 11,
        "records": 7,
        "conforming": 0,
        "violating": 0,
        "tombstones": 2,
        "unaudited": 5,
        "absent": 4,
    }
    for name in ("records", "conforming", "violating", "tombstones", "unaudited", "absent"):
        assert entry[name] == sum(one[name] for one in entry["partitions"])  # type: ignore[literal-required]
    assert (entry["conforming"], entry["violating"]) == (0, 0)
    assert sum(point["records"] for point in entry["series"]) == entry["records"] == sum(counts.values())


def test_schemas_that_validators_cannot_use_are_named_with_the_reason_and_what_to_do() -> None:
    counts = {(0, schema_id, Outcome.SCHEMA_NOT_USABLE): 1_000 + schema_id for schema_id in range(1, 14)}
    entry = summarize(state_of({**counts, (0, 0, Outcome.TOMBSTONE): 2}), USES, unusable={1: "it is bad"})[0]
    assert entry["unaudited"] == sum(counts.values())
    assert entry["notes"][0] == (
        "1,001 records carry schema id 1 (version 1 of `t-value`), which validators cannot use: it is bad. Such "
        "records are not audited (`SCHEMA_NOT_USABLE`): register a corrected version, and write with it."
    )
    assert "1,003 records carry schema id 3, which validators cannot use. Such" in entry["notes"][2]
    assert entry["notes"][10:] == ["The same holds for 3 further schema ids."]


def test_both_parts_of_every_covered_topic_are_listed_values_first() -> None:
    parts = [(entry["topic"], entry["part"]) for entry in summarize(state_of({}), USES)]
    assert parts == [("t", "value"), ("t", "key")]


def test_schemas_name_subject_and_version_and_foreign_ids_name_none() -> None:
    entry = entry_of(
        state_of({(0, 2, Outcome.CONFORMS): 3, (0, 1, Outcome.CONFORMS): 2, (0, 99, Outcome.UNKNOWN_SCHEMA_ID): 1})
    )
    assert [(use["schema_id"], use["subject"], use["version"], use["records"]) for use in entry["schemas"]] == [
        (1, "t-value", 1, 2),
        (2, "t-value", 2, 3),
        (99, None, None, 1),
    ]
    assert {use["first_seen"] for use in entry["schemas"]} == {"1970-01-01T00:00:01Z"}


def test_offsets_between_ranges_that_nobody_read_are_told() -> None:
    state = AuditState(frozenset({Coverage("t", 0, 0, 10, 0), Coverage("t", 0, 20, 30, 0)}))
    assert "Offsets 10 to 20 of partition 0 were not read." in entry_of(state)["notes"]


def test_fields_whose_new_values_have_surely_shifted_are_told_the_farthest_first() -> None:
    state = AuditState(frozenset({Coverage("t", 0, 0, 10, 0)}))
    drifts = {
        ("t", "value", "near"): FieldDrift(index=0.4, lowest=0.3, before=900, after=900),
        ("t", "value", "far"): FieldDrift(index=2, lowest=1.9, before=900, after=900),
        ("t", "value", "chance"): FieldDrift(index=2, lowest=0.2, before=9, after=9),
        ("t", "key", "other"): FieldDrift(index=2, lowest=1.9, before=900, after=900),
    }
    value, _ = summarize(state, USES, drifts=drifts)
    sentence = "The distribution of new values has shifted (population stability index): `far` (2.00), `near` (0.40)."
    assert sentence in value["notes"]


def test_times_are_iso_in_utc_and_impossible_ones_are_empty() -> None:
    assert format_timestamp(1_372_651_920_000) == "2013-07-01T04:12:00Z"
    assert format_timestamp(1_372_651_920_001) == "2013-07-01T04:12:00.001Z"
    assert (format_timestamp(2**63 - 1), format_timestamp(-(2**63))) == ("", "")


def test_producers_are_named_with_their_counts_and_records_without_one_are_counted() -> None:
    state = state_of({(0, 1, Outcome.CONFORMS): 90, (0, 1, Outcome.TRUNCATED): 10})
    ((line, violation),) = state.violations.items()
    assert entry_of(state)["producers"] == entry_of(state)["violations"][0]["producers"] == []
    state = replace(
        state,
        violations={line: replace(violation, producers={"gate": 7, OTHER_PRODUCERS: 1})},
        producers={
            ProducerKey("t", "value", "gate"): ProducerCounts(20, 7, 1_000, 2_000),
            ProducerKey("t", "value", OTHER_PRODUCERS): ProducerCounts(60, 1, 1_000, 2_000),
        },
    )
    entry = entry_of(state)
    assert entry["violations"][0]["producers"] == [
        {"producer": "gate", "kind": "named", "records": 7},
        {"producer": None, "kind": "none", "records": 2},
        {"producer": None, "kind": "others", "records": 1},
    ]
    assert [(use["producer"], use["kind"], use["records"], use["violating"]) for use in entry["producers"]] == [
        ("gate", "named", 20, 7),
        (None, "none", 20, 2),
        (None, "others", 60, 1),
    ]
    assert entry["producers"][0]["first_seen"] == "1970-01-01T00:00:01Z"


def test_the_first_violation_is_unknown_if_an_earlier_release_counted_an_earlier_one() -> None:
    key = ViolationKey("t", "value", Outcome.TRUNCATED, 1, "/fields/0", "a")
    earlier = ViolationCounts(1, 1_000, 1_000, (ViolationExample(0, 1),))
    later = ViolationCounts(1, 2_000, 2_000, (ViolationExample(0, 5, 2_000),), first=ViolationExample(0, 5, 2_000))
    state = state_of({(0, 1, Outcome.TRUNCATED): 2})
    (line,) = entry_of(replace(state, violations={key: later}))["violations"]
    assert line["first"] is not None
    assert (line["first"]["offset"], line["first"]["timestamp"]) == (5, "1970-01-01T00:00:02Z")
    (line,) = entry_of(replace(state, violations={key: earlier.merge(later)}))["violations"]
    assert line["first"] is None
    assert [example["size"] for example in line["examples"]] == [None, None]
