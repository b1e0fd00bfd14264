"""Optional Avro checks, which concern only the candidate."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contractlog.compatibility.avro.check_catalogue import AVRO_WARNINGS
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility, find_differences
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import ALLOWED_CHECKS, CATALOGUE, find_warnings, parse_schema
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.compatibility.verdict_messages import format_messages

from support.avro_schemas import AvroSchemaGenerator, evolve_schema

DOCUMENTED = '{"type":"record","name":"R","fields":[{"name":"t","type":"long","doc":"said","default":1}]}'
PLAIN = '{"type":"record","name":"R","fields":[{"name":"t","type":"long","default":1}]}'
MILLIS, MICROS = (f'{{"type":"long","logicalType":"timestamp-{unit}"}}' for unit in ("millis", "micros"))
BOTH = (Direction.BACKWARD, Direction.FORWARD)
LEVELS = [level for level in Level if level is not Level.NONE]
DOC_LOST, LOGICAL = frozenset({"AVRO_DOC_LOST"}), frozenset({"AVRO_LOGICAL_TYPE_CHANGED"})


def parsed(text: str) -> ParsedSchema:
    return parse_schema(SchemaDraft(text))


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("check", sorted(AVRO_WARNINGS))
def test_no_policy_breaks_by_them_unless_they_are_asked_for(check: str, policy: Policy) -> None:
    assert check in ALLOWED_CHECKS[policy]
    bad = CATALOGUE[check].bad
    assert bad is not None
    candidate, history = parsed(bad.reader), [ParsedVersion(1, parsed(bad.writer))]
    assert check_compatibility(candidate, history, Level.BACKWARD, policy=policy).compatible
    asked = check_compatibility(candidate, history, Level.BACKWARD, policy=policy, additional_checks=frozenset({check}))
    assert [finding.check for finding in asked.findings] == [check]


@pytest.mark.parametrize("level", LEVELS)
def test_removed_documentation_is_reported_once_and_added_documentation_never(level: Level) -> None:
    lost = check_compatibility(parsed(PLAIN), [ParsedVersion(1, parsed(DOCUMENTED))], level, additional_checks=DOC_LOST)
    assert [(finding.check, finding.reader_at) for finding in lost.findings] == [("AVRO_DOC_LOST", "/fields/0")]
    assert check_compatibility(
        parsed(DOCUMENTED), [ParsedVersion(1, parsed(PLAIN))], level, additional_checks=DOC_LOST
    ).compatible


def test_another_meaning_is_told_in_each_direction() -> None:
    verdict = check_compatibility(
        parsed(MICROS), [ParsedVersion(1, parsed(MILLIS))], Level.FULL, additional_checks=LOGICAL
    )
    assert [comparison.direction for comparison in verdict.comparisons] == [Direction.FORWARD, Direction.BACKWARD]
    assert "read as timestamp-millis" in verdict.findings[0].detail
    assert format_messages(verdict)[0] == (
        "{errorType:'LOGICAL_TYPE_CHANGED', description:'The same bytes are read as a different value (path '/')', "
        "additionalInfo:'reader: timestamp-millis, writer: timestamp-micros'}"
    )


def test_all_differences_contain_them_when_something_is_asked_for() -> None:
    backward, forward = (
        find_differences(parsed(PLAIN), parsed(DOCUMENTED), way, additional_checks=DOC_LOST) for way in BOTH
    )
    assert [finding.check for finding in backward] == ["AVRO_DOC_LOST"]
    assert forward == ()
    assert find_differences(parsed(PLAIN), parsed(DOCUMENTED), Direction.BACKWARD) == ()


def test_a_field_is_compared_where_an_alias_leads_and_a_type_where_it_is_widened() -> None:
    reader = '{"type":"record","name":"R","fields":[{"name":"b","aliases":["a"],"type":["null","long"]}]}'
    writer = '{"type":"record","name":"R","fields":[{"name":"a","type":{"type":"int","logicalType":"date"},"doc":"d"}]}'
    found = [(finding.check, finding.reader_at) for finding in find_warnings(parsed(reader), parsed(writer))]
    assert found == [("AVRO_DOC_LOST", "/fields/0"), ("AVRO_LOGICAL_TYPE_CHANGED", "/fields/0/type/1")]


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 3))
def test_a_schema_gives_no_cause_beside_itself_and_any_pair_comes_to_an_end(random: Random, changes: int) -> None:
    schema = AvroSchemaGenerator(random).schema()
    first, again = (parse_schema(SchemaDraft(json.dumps(schema))) for _ in range(2))
    assert list(find_warnings(first, again)) == []
    try:
        other = parse_schema(
            SchemaDraft(json.dumps(evolve_schema(AvroSchemaGenerator(random).schema(), random, changes))), strict=False
        )
    except InvalidSchema:
        assume(False)  # noqa: FBT003 - a renamed type that is used elsewhere
    for finding in find_warnings(first, other):
        assert finding.check in AVRO_WARNINGS
