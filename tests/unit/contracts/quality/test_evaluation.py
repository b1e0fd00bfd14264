"""Each kind of rule passes good data, fails bad data, and is never passed by what is unknown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.field_drift import FieldDrift
from contractlog.contracts.audit.field_entries import describe_field
from contractlog.contracts.audit.field_profiles import MASK, PATTERN_PREFIX, FieldProfile, ValueRange
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.report import QualityResult, TopicPart
from contractlog.contracts.quality.evaluation import (
    QualityContext,
    evaluate_rules,
    failed_rules,
)
from contractlog.contracts.quality.measurement import Measurement
from contractlog.contracts.quality.rules import OPERATORS, Bound, QualityRule, QualityRules

from support.reports import part, violation

NOW = datetime(2014, 1, 1, 1, tzinfo=UTC)
TEXTS = FieldProfile(
    records=95,
    nulls=5,
    kinds={"text": 90},
    distinct=(1, 2, 3),
    listed={"web": 60, f"{MASK}app": 25, "": 5},
    lengths=NumberHistogram({0: 5, 65_536 + 64: 85}),
    patterns={f"{PATTERN_PREFIX}[a-z]+": 85},
)
NUMBERS = FieldProfile(
    100, kinds={"number": 100}, distinct=(1, 2), listed=None, ranges={"number": ValueRange(-1.0, 9.0)}
)
PROFILES = {"channel": TEXTS, "total": NUMBERS, "tags[]": replace(TEXTS, records=40)}
PART = part("orders", records=100)


def evaluate(
    rule: QualityRule, entry: TopicPart = PART, profiles: dict[str, FieldProfile] | None = PROFILES
) -> QualityResult:
    context = QualityContext(entry, profiles, NOW, lambda value: (value, MASK + value))
    (result,) = evaluate_rules(QualityRules("orders", (rule,)), context)
    return result


def rule(metric: str, operator: str, first: float, field: str = "", **members: object) -> QualityRule:
    return QualityRule(metric, metric, Bound(operator, first), field, **members)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("made", "actual"),
    [
        (rule("rowCount", "mustBe", 100), 100),
        (rule("conformance", "mustBe", 100, unit="percent"), 100),
        (rule("latency", "mustBe", 3_660), 3_660),
        (rule("nullValues", "mustBe", 10, "channel"), 10),
        (rule("nullValues", "mustBe", 10, "channel", unit="percent"), 10),
        (rule("nullValues", "mustBe", 5, "tags[]"), 5),
        (rule("nullValues", "mustBe", 100, "unknown"), 100),
        (rule("missingValues", "mustBe", 15, "channel", values=("",)), 15),
        (rule("invalidValues", "mustBe", 5, "channel", values=("web", "app")), 5),
        (rule("invalidValues", "mustBe", 5, "channel", pattern="[a-z]+"), 5),
        (rule("duplicateValues", "mustBe", 87, "channel"), 87),
        (rule("minimum", "mustBe", -1, "total"), -1),
        (rule("maximum", "mustBe", 9, "total"), 9),
        (rule("minLength", "mustBe", 0, "channel"), 0),
    ],
)
def test_a_rule_measures_its_number(made: QualityRule, actual: float) -> None:
    result = evaluate(made)
    assert (result["outcome"], result["actual"]) == ("passed", actual)
    other = replace(made, bound=Bound("mustBe", actual + 1))
    assert evaluate(other)["outcome"] == "failed"


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (rule("invalidValues", "mustBe", 0, "channel", pattern="x"), "the pattern was not counted"),
        (rule("missingValues", "mustBe", 0, "total", values=("",)), "too many distinct values"),
        (rule("invalidValues", "mustBe", 0, "absent", values=("",)), "no conforming record has a value"),
        (rule("minimum", "mustBe", 0, "channel"), "has no number"),
        (rule("maxLength", "mustBe", 0, "total"), "has no text"),
    ],
)
def test_what_is_unknown_is_not_evaluated_and_says_why(made: QualityRule, reason: str) -> None:
    result = evaluate(made)
    assert (result["outcome"], result["actual"]) == ("not evaluated", None)
    assert reason in result["reason"]


def test_without_profiles_or_conforming_records_fields_are_not_evaluated() -> None:
    made = rule("nullValues", "mustBe", 0, "channel")
    assert "--no-profiles" in evaluate(made, profiles=None)["reason"]
    empty = part("orders", violations=[violation("TRUNCATED", 100)], records=100)
    assert evaluate(made, empty)["reason"] == "no record conforms to its schema"
    assert evaluate(rule("conformance", "mustBe", 100), part("orders", records=0))["reason"] == "no record was audited"


def test_more_distinct_values_than_the_list_has_are_invalid() -> None:
    profile = replace(TEXTS, listed=None, distinct=tuple(range(200)), kinds={"text": 400})
    few = rule("invalidValues", "mustBe", 0, "channel", values=("web",))
    assert evaluate(few, profiles={"channel": profile})["outcome"] == "failed"
    many = rule("invalidValues", "mustBe", 0, "channel", values=tuple(map(str, range(200))))
    assert evaluate(many, profiles={"channel": profile})["outcome"] == "not evaluated"


def test_an_estimate_decides_only_beyond_its_error() -> None:
    hashes = tuple((number + 1) * (2**64 // 5_000) for number in range(512))
    profiles = {"id": FieldProfile(10_000, kinds={"text": 10_000}, distinct=hashes, listed=None)}
    assert evaluate(rule("duplicateValues", "mustBeGreaterThan", 3_000, "id"), profiles=profiles)["outcome"] == "passed"
    assert evaluate(rule("duplicateValues", "mustBeLessThan", 3_000, "id"), profiles=profiles)["outcome"] == "failed"
    near = evaluate(rule("duplicateValues", "mustBeLessThan", 5_000, "id"), profiles=profiles)
    assert near["outcome"] == "not evaluated"
    assert near["reason"].startswith("the number is only known to be from 4,")


def test_every_whole_hour_and_day_must_have_enough_records() -> None:
    entry = part("orders", records=100)
    entry["series"] = [
        {"window": window, "schema_id": 7, "records": records, "violating": 0}
        for window, records in (
            ("2013-01-01T05", 1),
            ("2013-01-01T06", 50),
            ("2013-01-01T08", 60),
            ("2013-01-01T09", 1),
        )
    ]
    gap = evaluate(rule("rowCount", "mustBeGreaterThan", 10, window="hour"), entry)
    assert (gap["outcome"], gap["actual"]) == ("failed", 0)  # of the hour without records
    entry["series"].insert(2, {"window": "2013-01-01T07", "schema_id": None, "records": 11, "violating": 11})
    assert evaluate(rule("rowCount", "mustBeGreaterThan", 10, window="hour"), entry)["outcome"] == "passed"
    assert "three days or more" in evaluate(rule("rowCount", "mustBe", 1, window="day"), entry)["reason"]
    entry["series"] = [{**point, "window": point["window"][:10]} for point in entry["series"]]
    assert "longer than hours" in evaluate(rule("rowCount", "mustBe", 1, window="hour"), entry)["reason"]


def test_a_failure_is_muted_before_its_day_and_only_errors_count() -> None:
    failing = rule("rowCount", "mustBe", 1)
    entry = part("orders", records=100)
    rules = (
        replace(failing, muted_until=date(2014, 1, 2)),
        replace(failing, muted_until=date(2014, 1, 1)),
        replace(failing, severity="warning"),
        replace(failing, owner="team"),
    )
    entry["quality"] = evaluate_rules(QualityRules("orders", rules), QualityContext(entry, None, NOW, lambda value: ()))
    assert [result["outcome"] for result in entry["quality"]] == ["muted", "failed", "failed", "failed"]
    assert [result["owner"] for result in failed_rules(entry)] == ["", "team"]


NUMBER = st.integers(-20, 20)


@given(st.sampled_from(sorted(OPERATORS)), NUMBER, NUMBER, NUMBER, NUMBER)
def test_an_interval_is_decided_as_all_of_its_numbers_are(
    operator: str, first: int, last: int, low: int, size: int
) -> None:
    first, last = sorted((first, last))
    made = QualityRule("r", "maxLength", Bound(operator, first, last), "f")
    from contractlog.contracts.quality import evaluation

    high = low + abs(size)
    decided = evaluation._decide(made, Measurement(low, high))
    results = {made.bound.admits(number / 2) for number in range(2 * low, 2 * high + 1)}
    assert decided == (results.pop() if len(results) == 1 else None)


@pytest.mark.parametrize(
    ("limit", "outcome"),
    [(0.5, "passed"), (0.35, "not evaluated"), (0.25, "failed")],  # of an index of 0.4, of which 0.3 is not by chance
)
def test_drift_is_decided_if_chance_makes_no_difference(limit: float, outcome: str) -> None:
    drift = FieldDrift(index=0.4, lowest=0.3, before=9_000, after=90)
    entry = part("orders", records=100)
    entry["fields"] = [describe_field("channel", TEXTS, 100, drift)]
    result = evaluate(rule("drift", "mustBeLessThan", limit, "channel"), entry)
    assert result["outcome"] == outcome
    if outcome == "not evaluated":
        assert result["reason"] == "the number is only known to be from 0.3 to 0.4"


def test_without_values_before_drift_is_not_evaluated() -> None:
    result = evaluate(rule("drift", "mustBeLessThan", 0.25, "channel"))
    assert (result["outcome"], "no new values" in result["reason"]) == ("not evaluated", True)


def test_references_are_compared_with_the_fields_of_other_topics() -> None:
    made = rule("orphanValues", "mustBe", 1, "channel", target="channels.name")
    names = replace(TEXTS, distinct=(1, 2, 9))
    context = QualityContext(PART, PROFILES, NOW, lambda value: (value,), None, {("channels", "value", "name"): names})
    (result,) = evaluate_rules(QualityRules("orders", (made,)), context)
    assert (result["outcome"], result["actual"]) == ("passed", 1)
    result = evaluate(made)
    assert (result["outcome"], "audit its topic" in result["reason"]) == ("not evaluated", True)
