"""Compatibility levels: compared versions, direction, and end of the check."""

from __future__ import annotations

import json

import pytest

from contractlog.compatibility.change_classification import classify_change
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import STEP_LIMIT, ParsedVersion, check_compatibility
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.step_budget import StepBudget

from support.deadlines import hang_guard


def avro(kind: str) -> ParsedSchema:
    return parse_schema(SchemaDraft(f'"{kind}"'))


def history(*kinds: str) -> list[ParsedVersion]:
    return [ParsedVersion(number, avro(kind)) for number, kind in enumerate(kinds, start=1)]


@pytest.mark.parametrize(
    ("level", "candidate", "versions", "compatible"),
    [
        (Level.NONE, "boolean", ["int"], True),
        (Level.BACKWARD, "long", ["int"], True),
        (Level.BACKWARD, "int", ["long"], False),
        (Level.BACKWARD, "int", ["long", "int"], True),
        (Level.BACKWARD_TRANSITIVE, "int", ["long", "int"], False),
        (Level.BACKWARD_TRANSITIVE, "double", ["int", "long"], True),
        (Level.FORWARD, "int", ["long"], True),
        (Level.FORWARD, "long", ["int"], False),
        (Level.FORWARD, "long", ["int", "long"], True),
        (Level.FORWARD_TRANSITIVE, "long", ["int", "long"], False),
        (Level.FULL, "long", ["int"], False),
        (Level.FULL, "string", ["bytes"], True),
        (Level.FULL, "int", ["boolean", "int"], True),
        (Level.FULL_TRANSITIVE, "int", ["boolean", "int"], False),
    ],
)
def test_a_level_decides_who_reads_whom(level: Level, candidate: str, versions: list[str], *, compatible: bool) -> None:
    assert check_compatibility(avro(candidate), history(*versions), level).compatible is compatible


@pytest.mark.parametrize("level", Level)
def test_the_first_schema_of_a_subject_is_compatible(level: Level) -> None:
    assert check_compatibility(avro("int"), [], level).compatible


def test_a_transitive_check_goes_from_the_newest_on_and_ends_at_the_first_failure() -> None:
    verdict = check_compatibility(avro("int"), history("boolean", "string", "int"), Level.BACKWARD_TRANSITIVE)
    assert [comparison.version for comparison in verdict.comparisons] == [2]
    assert verdict.comparisons[0].earlier_text == '"string"'


def test_full_compares_both_directions_forward_first() -> None:
    verdict = check_compatibility(avro("int"), history("string"), Level.FULL)
    assert [comparison.direction for comparison in verdict.comparisons] == [Direction.FORWARD, Direction.BACKWARD]
    assert len(verdict.findings) == 2


def test_fixes_are_addressed_to_the_author_of_the_candidate() -> None:
    backward = check_compatibility(avro("int"), history("long"), Level.BACKWARD).findings[0].fix
    forward = check_compatibility(avro("long"), history("int"), Level.FORWARD).findings[0].fix
    assert backward.startswith('set the type back to "long", or to one that reads long (float, double)')
    assert forward.startswith('set the type back to "int"')


def test_a_mend_is_true_in_its_direction() -> None:
    old = parse_schema(SchemaDraft('{"type":"record","name":"R","fields":[{"name":"gate","type":"string"}]}'))
    new = parse_schema(SchemaDraft('{"type":"record","name":"R","fields":[]}'))
    forward = check_compatibility(new, [ParsedVersion(1, old)], Level.FORWARD).findings[0]
    backward = check_compatibility(old, [ParsedVersion(1, new)], Level.BACKWARD).findings[0]
    assert forward.fix == 'keep the field "gate": earlier readers have no default for the field'
    assert backward.fix == 'give the field "gate" a default, such as "default": null with the type ["null", "string"]'


def test_another_schema_type_is_never_compatible_but_at_none() -> None:
    candidate = parse_schema(SchemaDraft("true", SchemaType.JSON))
    verdict = check_compatibility(candidate, history("int"), Level.FULL_TRANSITIVE)
    assert [finding.check for finding in verdict.findings] == ["SCHEMA_TYPE_CHANGED"]
    assert check_compatibility(candidate, history("int"), Level.NONE).compatible


def test_a_policy_decides_which_differences_of_a_json_schema_break() -> None:
    old, same, wider, another = (
        parse_schema(SchemaDraft(text, SchemaType.JSON))
        for text in (
            '{"type":"object","title":"a"}',
            '{ "title": "a", "type": "object" }',
            '{"type":"object","properties":{"gate":{"type":"string"}}}',
            '{"type":"array"}',
        )
    )
    for level in set(Level) - {Level.NONE}:
        assert check_compatibility(same, [ParsedVersion(1, old)], level).compatible
        assert not check_compatibility(another, [ParsedVersion(1, old)], level, policy=Policy.LENIENT).compatible
    strict = check_compatibility(wider, [ParsedVersion(1, old)], Level.BACKWARD)
    assert [finding.check for finding in strict.findings] == ["JSON_OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"]
    assert check_compatibility(wider, [ParsedVersion(1, old)], Level.BACKWARD, policy=Policy.LENIENT).compatible
    assert check_compatibility(wider, [ParsedVersion(1, old)], Level.FORWARD).compatible
    assert check_compatibility(another, [ParsedVersion(1, old)], Level.NONE).compatible
    additional_checks = frozenset({"JSON_TITLE_CHANGED"})
    assert not check_compatibility(
        wider, [ParsedVersion(1, old)], Level.BACKWARD, policy=Policy.LENIENT, additional_checks=additional_checks
    ).compatible


SCARCE = 100  #: steps, so that they are used up


class CountedSteps(StepBudget):
    """Steps that say how often they were asked for, and how often in vain."""

    def __init__(self, limit: int) -> None:
        super().__init__(limit)
        self.given = self.refused = 0

    def take(self, steps: int = 1) -> None:
        self.refused += 1
        super().take(steps)
        self.refused -= 1
        self.given += steps


def look_alikes(kind: str, number: int) -> ParsedSchema:
    """Return a union of records of one name in many namespaces, each of which may be meant."""
    records = [
        {
            "type": "record",
            "name": f"n{index}.R",
            "fields": [
                {"name": "next", "type": ["null", f"n{max(index - 1, 0)}.R"]},
                {"name": f"y{number}", "type": "int", "default": 0},
                {"name": "x", "type": "int" if index else kind},
            ],
        }
        for index in range(4)
    ]
    return parse_schema(SchemaDraft(json.dumps(records)), strict=False)


def test_a_thousand_hostile_versions_share_the_steps_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """When they are used up, no version gets more: the first that is compared in detail ends the call."""
    calls: list[CountedSteps] = []

    def counted(limit: int, within: StepBudget | None = None) -> CountedSteps:
        assert within is None
        assert limit <= 2 * STEP_LIMIT
        calls.append(CountedSteps(SCARCE))
        return calls[-1]

    monkeypatch.setattr("contractlog.compatibility.engine.StepBudget", counted)
    versions = [ParsedVersion(number, look_alikes("long", number)) for number in range(1, 1_001)]
    verdict = check_compatibility(look_alikes("int", 0), versions, Level.BACKWARD_TRANSITIVE)
    assert {comparison.version for comparison in verdict.comparisons} == {1_000}
    _, steps = calls  # those of all comparisons in detail come first, since they are made first
    assert steps.given <= SCARCE
    assert 1 <= steps.refused <= 1 + len(versions)


def choices(width: int, length: int) -> ParsedSchema:
    """Return a JSON schema of objects that EXACT follows through every combination of its choices."""
    each = [
        {
            "type": "object",
            "properties": {f"p{one}": {"type": "string", "maxLength": length + number} for one in range(2)},
            "required": [f"p{number % 2}"],
        }
        for number in range(width)
    ]
    return parse_schema(SchemaDraft(json.dumps({"anyOf": each}), SchemaType.JSON))


def test_comparisons_in_detail_share_the_steps_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each version alone is within its own limit; together they are not, and the call ends with the one that was."""
    old, new = choices(4, 10), choices(4, 11)
    versions = [ParsedVersion(number, old) for number in range(1, 101)]

    def verdict(history: list[ParsedVersion]) -> Verdict:
        return check_compatibility(new, history, Level.BACKWARD_TRANSITIVE, policy=Policy.EXACT)

    assert verdict(versions[:1]).compatible
    monkeypatch.setattr("contractlog.compatibility.engine.detailed_step_budget", lambda _: 50_000)
    assert verdict(versions[:1]).compatible
    refused = verdict(versions)
    (finding,) = refused.findings
    assert finding.check == "WORK_LIMIT_EXCEEDED"
    assert "more than 50000 steps" in finding.detail
    assert 1 < refused.comparisons[0].version < 100


@pytest.mark.parametrize("policy", Policy)
def test_a_change_over_many_versions_shares_its_steps_too(monkeypatch: pytest.MonkeyPatch, policy: Policy) -> None:
    monkeypatch.setattr("contractlog.compatibility.change_classification.detailed_step_budget", lambda _: 40)
    found = classify_change(
        choices(4, 11), [ParsedVersion(number, choices(4, 10)) for number in range(1, 11)], policy=policy
    )
    assert "WORK_LIMIT_EXCEEDED" in {finding.check for finding in found.findings}


def test_cautions_share_the_steps_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contractlog.compatibility.engine.detailed_step_budget", lambda _: 100)
    versions = [ParsedVersion(number, look_alikes("int", 1)) for number in range(1, 101)]
    verdict = check_compatibility(
        look_alikes("int", 1), versions, Level.BACKWARD_TRANSITIVE, additional_checks=frozenset({"AVRO_DOC_LOST"})
    )
    assert {finding.check for finding in verdict.findings} == {"WORK_LIMIT_EXCEEDED"}
    assert 1 < verdict.comparisons[0].version < 100


@pytest.mark.slow
def test_a_thousand_costly_versions_end_within_the_steps_of_one_call() -> None:
    """All steps that a call may take are a few seconds of processor time."""
    versions = [ParsedVersion(number, choices(6, 10)) for number in range(1, 1_001)]
    with hang_guard(200):
        verdict = check_compatibility(choices(6, 11), versions, Level.BACKWARD_TRANSITIVE, policy=Policy.EXACT)
    assert [finding.check for finding in verdict.findings] == ["WORK_LIMIT_EXCEEDED"]
