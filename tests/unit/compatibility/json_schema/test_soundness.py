"""Invalid documents after changes that STRICT and LENIENT accept have documented causes."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import Any

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import compare_schemas, parse_schema, select_breaking
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft, SchemaType

from support.json_policy_gaps import CAUSES, assign_causes
from support.json_schemas import URIS, DocumentGenerator, JsonSchemaGenerator, VersionGenerator, validator

DOCUMENTS = 12


def parsed(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON))


def examine(random: Random, policy: Policy, counts: Counter[str]) -> None:
    """Make a pair, and count what documents say of it."""
    draft = random.choice(list(URIS))
    writer = JsonSchemaGenerator(random, draft).schema()
    versions = VersionGenerator(random, draft)
    reader = versions.evolve(writer) if random.randrange(4) else versions.widen(writer)
    try:
        findings = list(compare_schemas(parsed(reader), parsed(writer), policy))
        reads, writes = validator(reader, draft), validator(writer, draft)
    except (InvalidSchema, ValueError):
        counts["no schema"] += 1
        return
    admitted = not select_breaking(findings, policy)
    counts["admitted" if admitted else "refused"] += 1
    for document in (DocumentGenerator(random, writer).instance() for _ in range(DOCUMENTS * admitted)):
        counts["documents"] += 1
        if not writes.is_valid(document) or reads.is_valid(document):
            continue
        counts["counterexamples"] += 1

        def spoilt(eased: Any, tightened: Any, document: Any = document) -> bool:
            return validator(tightened, draft).is_valid(document) and not validator(eased, draft).is_valid(document)

        causes = assign_causes(reader, writer, findings, spoilt)
        assert causes is not None, json.dumps({"reader": reader, "writer": writer, "document": document})
        counts[" + ".join(causes)] += 1


@pytest.mark.parametrize("policy", [Policy.STRICT, Policy.LENIENT])
def test_every_document_that_an_admitted_change_spoils_has_a_written_cause(policy: Policy) -> None:
    counts = Counter[str]()
    for seed in range(400):
        examine(Random(seed), policy, counts)  # noqa: S311 - a repeatable one
    assert counts["admitted"] > 100
    assert counts["refused"] > 50


@pytest.mark.slow
@pytest.mark.parametrize("policy", [Policy.STRICT, Policy.LENIENT])
def test_many_documents_have_written_causes(policy: Policy) -> None:
    counts = Counter[str]()
    for seed in range(10_000, 30_000):
        examine(Random(seed), policy, counts)  # noqa: S311 - a repeatable one
    print(policy, *counts.most_common(), sep="\n  ")  # noqa: T201 - the figures that the issue asks for
    assert counts["admitted"] > 5_000
    assert counts["counterexamples"] > 500


D4 = {"$schema": URIS[4]}
D20 = {"$schema": URIS[2020]}
TEXT = {"type": "string"}
SHOWN: dict[str, tuple[Any, Any, Any]] = {
    "silent gap: required names outside properties": (
        {"minProperties": 0},
        {"minProperties": 0, "required": ["a"]},
        {},
    ),
    "silent gap: if, then, else": ({"if": {}, "then": {}}, {"if": {}, "then": False}, 1),
    "silent gap: contains": ({"contains": {}}, {"contains": TEXT}, [1]),
    "silent gap: propertyNames": ({"propertyNames": {}}, {"propertyNames": {"maxLength": 1}}, {"ab": 1}),
    "silent gap: patternProperties": ({"patternProperties": {"a": {}}}, {"patternProperties": {"a": TEXT}}, {"a": 1}),
    "silent gap: a type demanded where its words stood": ({"minLength": 1}, {"minLength": 1, "type": "string"}, 1),
    "silent gap: draft 4 limits excluded": (
        {**D4, "maximum": 5},
        {**D4, "maximum": 5, "exclusiveMaximum": True},
        5,
    ),
    "required with default": (
        {"properties": {"a": {"default": 1}}},
        {"properties": {"a": {"default": 1}}, "required": ["a"]},
        {},
    ),
    "overlapping branches of oneOf": (TEXT, {"oneOf": [TEXT, {"type": "string", "maxLength": 5}]}, "a"),
    "patterns make a model that counts as closed": (
        {"patternProperties": {"^x": {}}},
        {"patternProperties": {"^x": {}}, "properties": {"a": TEXT}},
        {"a": 1},
    ),
    "what is unevaluated depends on other words": (
        {**D20, "allOf": [{"minProperties": 0, "properties": {"a": {}}}], "unevaluatedProperties": False},
        {**D20, "allOf": [{"minProperties": 0}], "unevaluatedProperties": False},
        {"a": 1},
    ),
    "admitted by LENIENT by design": ({"type": "object"}, {"type": "object", "properties": {"a": TEXT}}, {"a": 1}),
}


def spoils(reader: Any, writer: Any, document: Any) -> bool:
    draft = next((draft for draft, uri in URIS.items() if uri == writer.get("$schema")), 7)
    return validator(writer, draft).is_valid(document) and not validator(reader, draft).is_valid(document)


@pytest.mark.parametrize("cause", CAUSES)
def test_every_cause_has_a_smallest_pair(cause: str) -> None:
    writer, reader, document = SHOWN[cause]
    assert spoils(reader, writer, document)
    policy = Policy.LENIENT if "LENIENT" in cause else Policy.STRICT
    findings = list(compare_schemas(parsed(reader), parsed(writer), policy))
    assert not select_breaking(findings, policy)
    assert assign_causes(reader, writer, findings, lambda one, other: spoils(one, other, document)) == (cause,)


def test_a_difference_that_an_engine_overlooked_has_no_cause() -> None:
    for writer, reader, document in (
        ({"maxLength": 5}, {"maxLength": 4}, "12345"),
        ({"properties": {"a": {"enum": [1, 2]}}}, {"properties": {"a": {"enum": [1]}}}, {"a": 2}),
        ({"items": {"minimum": 1}}, {"items": {"minimum": 2}}, [1]),
        ({"additionalProperties": True}, {"additionalProperties": False}, {"a": 1}),
    ):
        assert assign_causes(reader, writer, [], lambda one, other, it=document: spoils(one, other, it)) is None  # type: ignore[misc]
