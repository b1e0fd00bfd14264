"""Rules are read with their lines; what is wrong or unknown is an error that names it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from contractlog.compatibility.errors import UsageError
from contractlog.contracts.quality.odcs_reader import MAX_RULES, parse_quality
from contractlog.contracts.quality.rules import Bound, QualityRule


def parse(document: Any) -> tuple[QualityRule, ...]:
    return parse_quality("orders", document, "orders.quality.yaml", {(): 1, ("quality", 0): 3}).rules


def test_a_rule_has_all_its_members() -> None:
    (rule,) = parse(
        {
            "properties": [
                {
                    "name": "channel",
                    "quality": [
                        {
                            "name": "known",
                            "metric": "invalidValues",
                            "arguments": {"validValues": ["web", 5, 5.0, True, None]},
                            "mustBeBetween": [0, 2.5],
                            "unit": "percent",
                            "severity": "warning",
                            "customProperties": [
                                {"property": "owner", "value": "team"},
                                {"property": "mutedUntil", "value": date(2026, 12, 31)},
                                {"property": "anything", "value": {}},
                            ],
                        }
                    ],
                }
            ]
        }
    )
    assert rule == QualityRule(
        name="known",
        metric="invalidValues",
        bound=Bound("mustBeBetween", 0.0, 2.5),
        field="channel",
        unit="percent",
        severity="warning",
        owner="team",
        muted_until=date(2026, 12, 31),
        values=("web", "5", "5", "true"),
        line=1,
    )
    assert str(rule.bound) == "must be from 0 to 2.5"


def test_relationships_and_rules_name_the_field_that_has_the_values() -> None:
    member = {"type": "custom", "engine": "contractlog", "implementation": "orphanValues", "mustBeLessThan": 1}
    arguments = {"to": "customers", "part": "key"}
    strict, tolerant = parse(
        {
            "properties": [
                {
                    "name": "customer",
                    "relationships": [{"type": "foreignKey", "to": "customers.id"}],
                    "quality": [{**member, "unit": "percent", "arguments": arguments}],
                }
            ]
        }
    )[::-1]
    assert (strict.name, strict.metric, strict.target) == (
        "customer refers to customers.id",
        "orphanValues",
        "customers.id",
    )
    assert (strict.bound, strict.target_part) == (Bound("mustBe", 0), "value")
    assert (tolerant.target, tolerant.target_part, tolerant.unit) == ("customers", "key", "percent")


def test_drift_is_a_custom_rule_of_a_property() -> None:
    member = {"type": "custom", "engine": "contractlog", "implementation": "drift", "mustBeLessThan": 0.25}
    (rule,) = parse({"properties": [{"name": "channel", "quality": [member]}]})
    assert (rule.metric, rule.field, rule.bound) == ("drift", "channel", Bound("mustBeLessThan", 0.25))


def test_properties_have_rules_of_their_own() -> None:
    options = {"minimum": 0, "exclusiveMaximum": 10, "minLength": 1, "maxLength": 5, "pattern": "[a-z]+"}
    rules = parse(
        {
            "properties": [
                {
                    "name": "a",
                    "required": True,
                    "unique": True,
                    "logicalTypeOptions": options,
                    "properties": [{"name": "b", "required": True}],
                    "items": {"required": True, "properties": [{"name": "c", "unique": True}]},
                },
                {"name": "day", "logicalType": "date", "logicalTypeOptions": {"minimum": "2020-01-01"}},
            ]
        }
    )
    assert [(rule.metric, rule.field, rule.bound.operator, rule.bound.first) for rule in rules] == [
        ("nullValues", "a", "mustBe", 0),
        ("duplicateValues", "a", "mustBe", 0),
        ("minimum", "a", "mustBeGreaterOrEqualTo", 0),
        ("maximum", "a", "mustBeLessThan", 10),
        ("minLength", "a", "mustBeGreaterOrEqualTo", 1),
        ("maxLength", "a", "mustBeLessOrEqualTo", 5),
        ("invalidValues", "a", "mustBe", 0),
        ("nullValues", "a.b", "mustBe", 0),
        ("nullValues", "a[]", "mustBe", 0),
        ("duplicateValues", "a[].c", "mustBe", 0),
    ]


@pytest.mark.parametrize(
    ("value", "unit", "seconds"), [(4, "h", 14_400), (2, "days", 172_800), (90, "min", 5_400), (5, "s", 5)]
)
def test_latency_is_a_service_level(value: int, unit: str, seconds: int) -> None:
    (rule,) = parse({"slaProperties": [{"property": "latency", "value": value, "unit": unit}]})
    assert (rule.metric, rule.bound) == ("latency", Bound("mustBeLessOrEqualTo", seconds))


def rows(**members: Any) -> dict[str, Any]:
    return {"quality": [{"metric": "rowCount", "mustBe": 1, **members}]}


def field(**members: Any) -> dict[str, Any]:
    return {"properties": [{"name": "f", "quality": [{"metric": "nullValues", "mustBe": 1, **members}]}]}


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "the document must be an object"),
        ({"qualty": []}, "qualty is not known"),
        ({"quality": {}}, "quality must be a list"),
        ({"quality": [1]}, "quality[0] must be an object"),
        (rows(metric="nullValues"), "other metrics are for a property"),
        (field(metric="rowCount"), "rowCount is for the topic"),
        (rows(metric="sum"), "must be one of nullValues"),
        (rows(mustBeLessThan=1), "must have exactly one of"),
        (rows(mustBe="1"), "mustBe must be a number"),
        (rows(mustBe=True), "mustBe must be a number"),
        (rows(mustBe=10**400), "must be a finite number"),
        (rows(mustBe=float("nan")), "must be a finite number"),
        (rows(severity="fatal"), "severity must be one of error, warning, info"),
        (rows(unit="share"), "unit must be one of rows, percent"),
        (rows(type="sql"), "cannot be sql"),
        (rows(type="custom"), "must have engine: contractlog"),
        (rows(type="custom", engine="contractlog", implementation="drift"), "backwardTimestamps, for the topic"),
        (
            field(type="custom", engine="contractlog", implementation="nullKeys"),
            "must have engine: contractlog and implementation: drift or orphanValues, for a property",
        ),
        (
            field(type="custom", engine="contractlog", implementation="orphanValues"),
            "needs arguments.to, such as customers.id",
        ),
        (field(metric="nullValues", arguments={"to": "customers.id"}), "if and only if it is about orphanValues"),
        ({"properties": [{"name": "f", "relationships": [{"type": "foreignKey"}]}]}, "relationships[0].to is missing"),
        ({"properties": [{"name": "f", "relationships": [{"type": "link", "to": "a.b"}]}]}, "type must be one of"),
        (rows(name=5), "name must be a text"),
        (rows(name="x" * 2_000), "name must be a text"),
        (rows(customProperties=[{"property": "mutedUntil", "value": "soon"}]), "must be a day"),
        (rows(customProperties=[{"property": "per", "value": "minute"}]), "must be hour or day"),
        (field(customProperties=[{"property": "per", "value": "day"}]), "of a rule on rowCount"),
        (field(metric="invalidValues"), "needs arguments.validValues or arguments.pattern"),
        (field(metric="invalidValues", arguments={"validValues": [[]]}), "must have texts, numbers"),
        (field(metric="invalidValues", arguments={"validValues": ["a"] * 101}), "at most 100 values"),
        ({"properties": [{"quality": []}]}, "properties[0].name is missing"),
        ({"properties": [{"name": "f", "required": 1}]}, "must be true or false"),
        ({"slaProperties": [{"property": "retention", "value": 1}]}, "must be latency"),
        ({"slaProperties": [{"property": "latency", "value": 1, "unit": "fortnight"}]}, "unit must be"),
        ({"quality": [{"metric": "rowCount", "mustBe": 1}] * (MAX_RULES + 1)}, "more than 10,000"),
    ],
)
def test_a_wrong_member_is_named(document: Any, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(document)
    assert problem in str(caught.value)
    assert str(caught.value).startswith("orders.quality.yaml:")


def test_an_error_has_the_line_of_the_nearest_member() -> None:
    with pytest.raises(UsageError, match=r"^orders\.quality\.yaml:3: quality\[0\]\.mustBe must be"):
        parse(rows(mustBe="x"))


def test_nesting_is_bounded() -> None:
    document: dict[str, Any] = {"name": "f"}
    for _ in range(50):
        document = {"name": "f", "properties": [document]}
    with pytest.raises(UsageError, match="nested deeper"):
        parse({"properties": [document]})
    for _ in range(50):
        document = {"name": "f", "items": document}
    with pytest.raises(UsageError, match="nested deeper"):
        parse({"properties": [document]})
