"""JSON and Avro schemas that name places outside: addresses, files, devices. Reading them must open none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import are_equivalent, parse_schema
from contractlog.compatibility.level import Direction, Level
from contractlog.compatibility.lint.linter import fix_schema
from contractlog.compatibility.schema import ParsedSchema, Reference, SchemaDraft, SchemaType

from support.fix_search import find_fix

__all__ = ["DRAFTS", "everything_of", "leading_to"]

DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
WRITER = {"type": "object", "properties": {"a": {"type": "string"}}}


def leading_to(place: str, drafts: Sequence[str] = DRAFTS) -> Iterator[tuple[SchemaType, str]]:
    """Yield schemas in which a place is named, wherever a place can be."""
    for draft in drafts:
        said, word = {"$schema": draft}, "id" if "draft-04" in draft else "$id"
        for schema in (
            {**said, "$ref": place},
            {**said, "properties": {"a": {"$ref": f"{place}#/properties/a"}}},
            {**said, word: place, "properties": {"a": {"$ref": "other.json"}, "b": {"$ref": "#/definitions/b"}}},
            {**said, word: place, "properties": {"a": {word: f"{place}/inner", "$ref": "x.json"}}},
            {**said, "$dynamicRef": place, "$recursiveRef": place},
            {**said, "properties": {"a": {"$dynamicRef": f"{place}#a"}}},
            {**said, "allOf": [{"$ref": place}], "definitions": {"b": {"$schema": place}}},
            {**said, "contentSchema": {"$ref": place}, "$vocabulary": {place: True}},
        ):
            yield SchemaType.JSON, json.dumps(schema)
    yield SchemaType.JSON, json.dumps({**WRITER, "$schema": place})
    yield SchemaType.JSON, json.dumps({"properties": {"a": {"$schema": place, "$ref": "#"}}})
    yield SchemaType.AVRO, json.dumps(place)
    yield SchemaType.AVRO, json.dumps({"$ref": place, "type": "int"})
    yield SchemaType.AVRO, json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": place}]})
    yield (
        SchemaType.AVRO,
        json.dumps({"type": "record", "name": "R", "namespace": place, "$schema": place, "fields": []}),
    )


def everything_of(kind: SchemaType, text: str) -> Iterator[str]:
    """Do all that a registry does with a schema, itself leant on or not; say what came of it."""
    writer = parse_schema(
        SchemaDraft(json.dumps(WRITER), SchemaType.JSON) if kind is SchemaType.JSON else SchemaDraft('"int"')
    )
    reference = Reference("leg", "leg", 1)
    leaning: Any = {"$ref": "leg"} if kind is SchemaType.JSON else "leg"
    for strict, draft in product(
        (True, False), (SchemaDraft(text, kind), SchemaDraft(json.dumps(leaning), kind, (reference,)))
    ):
        try:
            yield f"lint: {[finding.message for finding in fix_schema(draft.text, kind).remaining]}"
            parsed = parse_schema(draft, {"leg": text} if draft.references else {}, strict=strict)
            yield from _compared(parsed, writer, draft.text)
        except InvalidSchema as problem:
            yield f"refused: {problem}"


def _compared(parsed: ParsedSchema, writer: ParsedSchema, text: str) -> Iterator[str]:
    yield f"canonical: {parsed.canonical}, found: {are_equivalent(parsed, writer)}"
    for policy in Policy:
        verdict = check_compatibility(parsed, [ParsedVersion(1, writer)], Level.FULL, policy=policy)
        for finding in verdict.findings:
            yield f"{policy}: {finding.check} {finding.detail}"
        for finding in verdict.findings[:1] if policy is Policy.STRICT else ():
            yield str(find_fix(text, finding, parsed, writer, Direction.BACKWARD))
