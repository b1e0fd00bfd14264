"""Inferred rules are satisfied by the records that they come from, and by similar ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.field_entries import describe_field
from contractlog.contracts.audit.field_profiles import MAX_FIELDS_PER_PART, FieldProfile, ValueRange
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.report import SeriesPoint, TopicPart
from contractlog.contracts.quality.evaluation import QualityContext, evaluate_rules
from contractlog.contracts.quality.inference import InferredRule, infer_rules
from contractlog.contracts.quality.odcs_reader import parse_quality
from contractlog.contracts.quality.odcs_writer import write_quality
from contractlog.contracts.quality.rules import QualityRules

from support.reports import part

NUMBER = FieldProfile(
    2_000, kinds={"number": 2_000}, distinct=(1, 2), listed=None, ranges={"number": ValueRange(0.0, 37.5)}
)
TEXT = FieldProfile(
    1_000,
    nulls=10,
    kinds={"text": 990},
    distinct=(1, 2, 3),
    listed=None,
    lengths=NumberHistogram({0: 5, 65_536 + 64: 985}),
)
CHANNEL = FieldProfile(
    1_000,
    kinds={"text": 1_000},
    distinct=(1, 2),
    listed={"web": 600, "app": 400},
    lengths=NumberHistogram({65_536 + 64: 1_000}),
)


def _audit(profiles: dict[str, FieldProfile], records: int = 2_000, days: int = 0) -> TopicPart:
    entry = part("orders", records=records)
    entry["fields"] = [describe_field(name, profile, records) for name, profile in sorted(profiles.items())]
    entry["series"] = [_day(number, 100 + number) for number in range(days)]
    return entry


def _day(number: int, records: int) -> SeriesPoint:
    return {"window": f"2026-01-{number + 1:02d}T10", "schema_id": 1, "records": records, "violating": 0}


def _describe(rules: list[InferredRule]) -> list[tuple[str, str]]:
    return [(rule.rule.name, str(rule.rule.bound)) for rule in rules]


def test_rules_have_a_margin() -> None:
    profiles = {"total": NUMBER, "note": TEXT, "channel": CHANNEL}
    assert _describe(infer_rules(_audit(profiles, days=9), profiles, min_records=700)) == [
        ("records conform", "must be at least 100"),
        ("enough records every day", "must be at least 50"),
        ("few nulls of channel", "must be at most 100"),
        ("known values of channel", "must be 0"),
        ("maxLength of note", "must be at most 9"),
        ("total is required", "must be 0"),
        ("minimum of total", "must be at least 0"),
        ("maximum of total", "must be at most 400"),
    ]


def test_values_without_fields_have_rules_of_the_topic_only() -> None:
    profiles = {"": NUMBER}
    assert {rule.rule.metric for rule in infer_rules(_audit(profiles), profiles)} == {"conformance"}


def test_a_rule_needs_enough_records() -> None:
    profiles = {"total": replace(NUMBER, records=999, kinds={"number": 999})}
    assert infer_rules(_audit(profiles, records=999), profiles) == []
    assert infer_rules(_audit(profiles, records=999), profiles, min_records=999) != []


@pytest.mark.parametrize(("days", "inferred"), [(0, False), (8, False), (9, True)])
def test_days_are_counted_if_there_are_seven_complete_ones(days: int, *, inferred: bool) -> None:
    names = [name for name, _ in _describe(infer_rules(_audit({}, days=days), {}, min_records=1))]
    assert ("enough records every day" in names) == inferred


def test_values_that_are_hidden_or_too_many_are_no_valid_values() -> None:
    for profile in (
        replace(CHANNEL, listed=None),
        replace(CHANNEL, distinct=(1, 2, 3)),
        replace(CHANNEL, kinds={"text": 99}, listed={"web": 99}),
    ):
        names = [name for name, _ in _describe(infer_rules(_audit({"c": profile}), {"c": profile}, min_records=1))]
        assert "known values of c" not in names
        assert "maxLength of c" in names


def test_the_rules_of_as_many_fields_as_an_audit_profiles_can_be_read() -> None:
    profiles = {f"f{number}": NUMBER for number in range(MAX_FIELDS_PER_PART)}
    inferred = infer_rules(_audit(profiles), profiles)
    assert len(inferred) > 3 * MAX_FIELDS_PER_PART
    text = write_quality("orders", [(rule.rule, "a comment") for rule in inferred], ["a header"])
    assert len(parse_quality("orders", yaml.safe_load(text), "orders.quality.yaml", {}).rules) == len(inferred)


NAMES = st.text(min_size=1, max_size=12)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def _profiles(draw: st.DrawFn) -> dict[str, FieldProfile]:
    profiles = {}
    for name in draw(st.lists(NAMES, max_size=4, unique=True)):
        low, high = sorted([draw(NUMBERS), draw(NUMBERS)])
        values = draw(st.dictionaries(st.text(max_size=5), st.integers(1, 9_000), min_size=1, max_size=25))
        counts = {draw(st.integers(0, 2**17)): 5 for _ in range(3)}
        profiles[name] = draw(
            st.sampled_from(
                [
                    FieldProfile(1_900, nulls=7, kinds={"number": 1_893}, ranges={"number": ValueRange(low, high)}),
                    FieldProfile(
                        sum(values.values()),
                        kinds={"text": sum(values.values())},
                        distinct=tuple(range(1, len(values) + 1)),
                        listed=values,
                        lengths=NumberHistogram(counts),
                    ),
                ]
            )
        )
    return profiles


@given(_profiles(), st.integers(0, 20))
def test_the_audit_itself_satisfies_the_text_of_its_rules(profiles: dict[str, FieldProfile], days: int) -> None:
    entry = _audit(profiles, max([2_000, *(profile.records for profile in profiles.values())]), days)
    inferred = infer_rules(entry, profiles, min_records=1)
    text = write_quality("orders", [(rule.rule, "a comment") for rule in inferred], ["a header"])
    rules = parse_quality("orders", yaml.safe_load(text), "orders.quality.yaml", {})
    assert {_key(rule) for rule in rules.rules} == {_key(rule.rule) for rule in inferred}
    context = QualityContext(entry, profiles, datetime(2026, 2, 1, tzinfo=UTC), lambda value: (value,))
    results = evaluate_rules(QualityRules("orders", rules.rules), context)
    assert [result for result in results if result["outcome"] != "passed"] == []


def _key(rule: object) -> tuple[object, ...]:
    return tuple(getattr(rule, name) for name in ("metric", "bound", "field", "unit", "severity", "values", "window"))
