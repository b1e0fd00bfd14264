"""JSON and Avro schemas with external locations, such as URLs and files, which must not be opened."""

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
from contractlog.compatibility.lint.fixer import fix_schema
from contractlog.compatibility.schema import ParsedSchema, Reference, SchemaDraft, SchemaType

from support.fix_search import find_fix

__all__ = ["DRAFTS", "create_referring_schemas", "process_schema"]

DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
WRITER = {"type": "object", "properties": {"a": {"type": "string"}}}


def create_referring_schemas(location: str, drafts: Sequence[str] = DRAFTS) -> Iterator[tuple[SchemaType, str]]:
    """Yield schemas that contain a location in every possible position."""
    for draft in drafts:
        schema_member, keyword = {"$schema": draft}, "id" if "draft-04" in draft else "$id"
        for schema in (
            {**schema_member, "$ref": location},
            {**schema_member, "properties": {"a": {"$ref": f"{location}#/properties/a"}}},
            {
                **schema_member,
                keyword: location,
                "properties": {"a": {"$ref": "other.json"}, "b": {"$ref": "#/definitions/b"}},
            },
            {**schema_member, keyword: location, "properties": {"a": {keyword: f"{location}/inner", "$ref": "x.json"}}},
            {**schema_member, "$dynamicRef": location, "$recursiveRef": location},
            {**schema_member, "properties": {"a": {"$dynamicRef": f"{location}#a"}}},
            {**schema_member, "allOf": [{"$ref": location}], "definitions": {"b": {"$schema": location}}},
            {**schema_member, "contentSchema": {"$ref": location}, "$vocabulary": {location: True}},
        ):
            yield SchemaType.JSON, json.dumps(schema)
    yield SchemaType.JSON, json.dumps({**WRITER, "$schema": location})
    yield SchemaType.JSON, json.dumps({"properties": {"a": {"$schema": location, "$ref": "#"}}})
    yield SchemaType.AVRO, json.dumps(location)
    yield SchemaType.AVRO, json.dumps({"$ref": location, "type": "int"})
    yield SchemaType.AVRO, json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": location}]})
    yield (
        SchemaType.AVRO,
        json.dumps({"type": "record", "name": "R", "namespace": location, "$schema": location, "fields": []}),
    )


def process_schema(kind: SchemaType, text: str) -> Iterator[str]:
    """Process a schema as a registry does, directly and as a reference; yield the results."""
    writer = parse_schema(
        SchemaDraft(json.dumps(WRITER), SchemaType.JSON) if kind is SchemaType.JSON else SchemaDraft('"int"')
    )
    reference = Reference("leg", "leg", 1)
    referring: Any = {"$ref": "leg"} if kind is SchemaType.JSON else "leg"
    for strict, draft in product(
        (True, False), (SchemaDraft(text, kind), SchemaDraft(json.dumps(referring), kind, (reference,)))
    ):
        try:
            yield f"lint: {[finding.message for finding in fix_schema(draft.text, kind).remaining]}"
            parsed = parse_schema(draft, {"leg": text} if draft.references else {}, strict=strict)
            yield from _compare(parsed, writer, draft.text)
        except InvalidSchema as problem:
            yield f"refused: {problem}"


def _compare(parsed: ParsedSchema, writer: ParsedSchema, text: str) -> Iterator[str]:
    yield f"canonical: {parsed.canonical}, found: {are_equivalent(parsed, writer)}"
    for policy in Policy:
        verdict = check_compatibility(parsed, [ParsedVersion(1, writer)], Level.FULL, policy=policy)
        for finding in verdict.findings:
            yield f"{policy}: {finding.check} {finding.detail}"
        for finding in verdict.findings[:1] if policy is Policy.STRICT else ():
            yield str(find_fix(text, finding, parsed, writer, Direction.BACKWARD))
