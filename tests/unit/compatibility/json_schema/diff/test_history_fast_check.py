"""The check of merged versions accepts exactly the JSON histories without findings."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import compare_schemas, parse_schema, select_breaking
from contractlog.compatibility.json_schema.schema_format import JSON_FORMAT
from contractlog.compatibility.level import Level
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType
from contractlog.compatibility.step_budget import StepBudget

from support.json_schemas import JsonSchemaGenerator, VersionGenerator

reads_all, shape = JSON_FORMAT.reads_all, JSON_FORMAT.build_shape


def parsed(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False)


def history(random: Random, length: int) -> list[ParsedSchema]:
    versions = [JsonSchemaGenerator(random).schema()]
    while len(versions) < length:
        versions.append(VersionGenerator(random).evolve(random.choice(versions)))
    made = []
    for version in versions:
        try:
            made.append(parsed(version))
        except InvalidSchema:
            continue
    return made


@pytest.mark.parametrize("policy", [Policy.STRICT, Policy.LENIENT])
@settings(max_examples=50, deadline=None)
@given(random=st.randoms(use_true_random=False))
def test_the_quick_look_agrees_with_the_comparison_in_detail(random: Random, policy: Policy) -> None:
    memo = Memo()
    versions = history(random, 5)

    def reads(reader: ParsedSchema, *writers: ParsedSchema) -> bool:
        shapes = frozenset(shape(writer, memo) for writer in writers)
        return reads_all(shape(reader, memo), shapes, policy, memo, StepBudget(1_000_000))

    for reader in versions:
        clean = [not select_breaking(compare_schemas(reader, writer, policy), policy) for writer in versions]
        assert [reads(reader, writer) for writer in versions] == clean
        assert reads(reader, *versions) == all(clean)


@settings(max_examples=40, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from(Level), st.sampled_from(Policy))
def test_a_memo_changes_no_verdict(random: Random, level: Level, policy: Policy) -> None:
    versions = history(random, 4)
    memo = Memo(shapes=random.choice([5, 5_000]), verdicts=random.choice([5, 5_000]))
    earlier = [ParsedVersion(number, version) for number, version in enumerate(versions)]
    for candidate in versions[:2]:
        assert check_compatibility(candidate, earlier, level, policy=policy, memo=memo) == check_compatibility(
            candidate, earlier, level, policy=policy
        )


def test_objects_that_differ_in_many_ways_are_compared_property_by_property() -> None:
    def closed(**properties: Any) -> ParsedSchema:
        required = [name for name in properties if name.startswith("r")]
        return parsed({"properties": properties, "required": required, "additionalProperties": False})

    whole = {"type": "integer"}
    old, wider, more = closed(a=whole, r=whole), closed(a={"type": "number"}, r=whole), closed(a=whole, r=whole, b={})
    memo = Memo()
    for candidate, follows in [(closed(a={"type": "number"}, r=whole, b={}), True), (closed(a=whole, r=whole), False)]:
        earlier = [ParsedVersion(number, one) for number, one in enumerate([old, wider, more])]
        assert check_compatibility(candidate, earlier, Level.BACKWARD_TRANSITIVE, memo=memo).compatible is follows
    demanding = closed(a={"type": "number"}, r=whole, b={}, r2=whole)
    assert not check_compatibility(demanding, [ParsedVersion(1, old)], Level.BACKWARD, memo=memo).compatible


def test_properties_that_versions_share_are_one_node_and_texts_are_written_when_they_are_needed() -> None:
    kinds: list[Any] = [{"type": "string", "maxLength": 3}, {"items": [{"const": 1}, True]}, {"enum": [1, "a"]}]
    properties = {f"f{number}": kinds[number % 3] for number in range(30)}
    first, second = (
        parsed({"type": "object", "properties": {**properties, "own": {"type": kind}}}) for kind in ("string", "null")
    )
    memo = Memo()
    one, other = (shape(version, memo).node.properties for version in (first, second))
    assert all(one[name] is other[name] for name in properties)
    assert one["own"] != other["own"]
    alone = shape(parsed({"type": "object", "properties": {**properties, "own": {"type": "null"}}}), Memo())
    assert alone.node == shape(second, memo).node
    assert not first._texts
    assert first.canonical == json.dumps(json.loads(first.canonical), separators=(",", ":"))


def test_a_property_that_leads_elsewhere_is_no_ones_but_its_schemas() -> None:
    def version(kind: str) -> ParsedSchema:
        leading = {"p": {"$ref": "#/definitions/d"}, "q": {"properties": {"r": {"$ref": "#/definitions/d"}}}}
        return parsed({"properties": leading, "definitions": {"d": {"type": kind}}})

    memo, versions = Memo(), [version("string"), version("integer")]
    writers = frozenset([shape(versions[0], memo)])
    assert not reads_all(shape(versions[1], memo), writers, Policy.STRICT, memo, StepBudget(1_000_000))
    assert reads_all(shape(version("string"), memo), writers, Policy.STRICT, memo, StepBudget(1_000_000))
