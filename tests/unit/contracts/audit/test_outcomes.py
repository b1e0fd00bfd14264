"""Outcome codes and their groups."""

from __future__ import annotations

from contractlog.contracts.audit.outcomes import FIRST_VIOLATION, NO_ID, NOT_DECODED, Outcome, OutcomeGroup
from contractlog.contracts.audit.report import Counts
from contractlog.spark_validation.report.charts.coverage import OFFSET_KINDS


def test_in_columns_exactly_the_codes_from_the_first_violation_on_are_violations() -> None:
    assert all(outcome.violating is (outcome >= FIRST_VIOLATION) for outcome in Outcome)
    assert max(Outcome) < 2**8


def test_only_one_outcome_conforms_and_no_id_is_read_from_nulls_and_records_without_a_frame() -> None:
    groups = {group: [outcome for outcome in Outcome if outcome.group is group] for group in OutcomeGroup}
    assert groups[OutcomeGroup.CONFORMING] == [Outcome.CONFORMS]
    assert groups[OutcomeGroup.TOMBSTONES] == [Outcome.TOMBSTONE]
    assert groups[OutcomeGroup.UNAUDITED] == [
        Outcome.UNAUDITED,
        Outcome.SCHEMA_NOT_USABLE,
        Outcome.ENCRYPTED,
    ]
    assert {Outcome.TOMBSTONE, Outcome.UNAUDITED, Outcome.NOT_FRAMED} == NO_ID


def test_each_group_is_a_count_of_reports_and_a_kind_of_offsets_in_their_pictures() -> None:
    assert set(OutcomeGroup) | {"records", "absent"} == set(Counts.__annotations__)
    assert list(OFFSET_KINDS) == [*OutcomeGroup, "absent"]


def test_records_without_an_id_are_not_decoded() -> None:
    assert NO_ID < NOT_DECODED
    assert NOT_DECODED.isdisjoint({Outcome.CONFORMS, Outcome.SCHEMA_VIOLATION, Outcome.TRUNCATED})
