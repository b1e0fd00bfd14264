"""Linting and fixing of whole schemas: many findings, references, hostile texts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.lint.fixer import fix_schema
from contractlog.compatibility.lint.linter import lint_schema
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.schema import SchemaDraft, SchemaType

from support import avro_annotations, avro_schemas, json_schemas
from support.hostile_schemas import HOSTILE

EXAMPLES = Path(__file__).parents[4] / "examples"
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def lint_avro(schema: Any, subject: str = "orders-value", severity: Severity = Severity.WARNING) -> list[str]:
    return [*rule_ids(schema, SchemaType.AVRO, subject, severity)]


def lint_json(members: dict[str, Any], severity: Severity = Severity.WARNING) -> list[str]:
    schema = {"$schema": DRAFT, "$id": "https://shop.example/order", "title": "Order", **members}
    return [*rule_ids(schema, SchemaType.JSON, "orders-value", severity)]


def rule_ids(schema: Any, kind: SchemaType, subject: str, severity: Severity) -> Iterator[str]:
    for finding in lint_schema(json.dumps(schema), kind, subject):
        if finding.rule.severity.reaches(severity):
            yield finding.rule.id.removeprefix(f"LINT_{kind}_")


def record(*fields: Any, **members: Any) -> dict[str, Any]:
    listed = [{"doc": "Explained.", **field} for field in fields]
    return {"type": "record", "name": "Order", "namespace": "shop", "doc": "An order.", "fields": listed, **members}


def test_all_fixes_of_a_text_are_applied_though_they_are_nested() -> None:
    text = """\
{
  // an order
  "type": "record", "name": "Order", "namespace": "shop", "doc": "An order.", "aliases": ["Order", "Purchase"],
  "fields": [
    {"name": "note",   "type": ["string", "null"], "default": null, "doc": "Free text."},
    {"name": "status", "doc": "State.", "type": ["null",
      {"type": "enum", "name": "Status", "symbols": ["UNKNOWN", "OPEN"], "doc": "State."}]},
    {"name": "sums", "doc": "Sums.", "type": {"type": "array", "items":
      [ {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2} ]}}
  ]
}
"""
    fixed = """\
{
  // an order
  "type": "record", "name": "Order", "namespace": "shop", "doc": "An order.", "aliases": ["Purchase"],
  "fields": [
    {"name": "note",   "type": ["null", "string"], "default": null, "doc": "Free text."},
    {"name": "status", "doc": "State.", "type": ["null",
      {"type": "enum", "name": "Status", "symbols": ["UNKNOWN", "OPEN"], "default": "UNKNOWN", "doc": "State."}], "default": null},
    {"name": "sums", "doc": "Sums.", "type": {"type": "array", "items":
      {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}}}
  ]
}
"""  # noqa: E501 - the author's lines
    result = fix_schema(text, SchemaType.AVRO)
    assert result.text == fixed
    assert len(result.fixed) == 5
    assert result.remaining == []


def test_findings_are_in_the_order_of_the_text() -> None:
    schema = record({"name": "b", "type": ["string"]}, {"name": "a_time", "type": "long"}, name="order", namespace="")
    text = json.dumps(schema, indent=1)
    findings = lint_schema(text, SchemaType.AVRO)
    assert len(findings) > 3
    assert [finding.position for finding in findings] == sorted(finding.position for finding in findings)


def test_a_schema_of_a_format_without_rules_has_no_findings() -> None:
    assert lint_schema('syntax = "proto3";', SchemaType.PROTOBUF) == []


@pytest.mark.parametrize("text", ["true", "false", "{}"])
def test_a_schema_without_keywords_is_linted(text: str) -> None:
    assert {finding.rule.severity for finding in lint_schema(text, SchemaType.JSON)} <= {
        Severity.NOTE,
        Severity.WARNING,
    }


@pytest.mark.parametrize("kind", [SchemaType.AVRO, SchemaType.JSON])
def test_an_invalid_schema_has_a_position(kind: SchemaType) -> None:
    with pytest.raises(InvalidSchema) as raised:
        lint_schema('{\n  "type": ]', kind)
    assert (raised.value.facts["line"], raised.value.facts["column"]) == (2, 11)


def test_types_of_other_files_are_accepted_and_misspelled_types_are_not() -> None:
    def field(name: str) -> dict[str, Any]:
        return record({"name": "to", "type": ["null", name], "default": None})

    assert lint_avro(field("shop.address.Address")) == []
    assert lint_avro(field("Address")) == []
    assert lint_avro(field("OrderV2")) == []
    assert lint_avro(field("boolen")) == ["TYPE_UNKNOWN"]
    assert lint_avro(field("integer")) == ["TYPE_UNKNOWN"]
    assert lint_avro(field("order")) == ["TYPE_UNKNOWN"]


REASONABLE_FIELDS = [
    {"name": "ts_ms", "type": "long"},
    {"name": "air_time", "type": "int"},
    {"name": "response_time", "type": "long"},
    {"name": "rain_amount", "type": "double"},
    {"name": "price_ratio", "type": "double"},
    {"name": "total_distance", "type": "double"},
    {"name": "attempts_total", "type": "long"},
    {"name": "format", "type": "string"},
    {"name": "customer_id", "type": "string"},
    {"name": "update", "type": "string"},
    {"name": "x", "type": "double"},
    {"name": "place", "type": {"type": "record", "name": "PlaceV2", "fields": [{"name": "lat", "type": "double"}]}},
    {"name": "tag", "type": {"type": "string", "avro.java.string": "String", "connect.version": 1}, "x-owner": "shop"},
    {"name": "level", "type": {"type": "int", "connect.default": 3}, "default": 3},
    {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["a", "b_c"], "default": "a"}},
    {"name": "value", "type": ["null", "long", "string", {"type": "array", "items": "string"}], "default": None},
]


@pytest.mark.parametrize("field", REASONABLE_FIELDS, ids=lambda field: field["name"])
def test_a_reasonable_field_has_no_warning(field: dict[str, Any]) -> None:
    assert lint_avro(record({"name": "id", "type": "long"}, field)) == []


def enum(*symbols: str) -> dict[str, Any]:
    return {"type": "enum", "name": "E", "namespace": "shop", "symbols": symbols, "default": symbols[0]}


def test_the_symbols_of_an_enum_have_one_case_of_whatever_kind() -> None:
    for symbols in (
        ("OPEN", "PAID_BACK"),
        ("open", "paid_back"),
        ("Open", "PaidBack"),
        ("open", "paidBack"),
        ("ID", "Url"),
    ):
        assert lint_avro(enum(*symbols)) == []
    for symbols in (("OPEN", "PAID", "Sent"), ("open", "PAID"), ("paid_back", "paidLater", "sent_back")):
        assert lint_avro(enum(*symbols)) == ["ENUM_SYMBOL_CASE"]


def test_the_events_of_a_topic_in_one_union_have_no_warning() -> None:
    created = record({"name": "created", "type": "long"}, name="Created")
    deleted = record({"name": "deleted", "type": "long"}, name="Deleted")
    assert lint_avro([created, deleted]) == []
    assert lint_avro([created, record({"name": "created", "type": "string"}, name="Imported")]) == []
    assert lint_avro(["shop.Created", "shop.Deleted"]) == []


def payment(kind: str, types: Any = "object") -> dict[str, Any]:
    return {"type": types, "properties": {"kind": {"const": kind, "description": "…"}}, "required": ["kind"]}


REASONABLE_JSON: list[dict[str, Any]] = [
    {"oneOf": [{"type": "string"}, {"type": "null"}]},
    {"oneOf": [{"type": "integer"}, {"type": "string", "pattern": "^[0-9]+$"}]},
    {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    {"oneOf": [payment("card"), payment("cash", ["object", "null"])]},
    {"oneOf": [{"$ref": "https://shop.example/a"}, {"$ref": "https://shop.example/b"}]},
    {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}}},
    {"$defs": {"library": {"type": "string"}}},
    {"type": "object", "if": {"properties": {"kind": {"const": "a"}}}, "then": {"required": ["b"]}},
    {
        "allOf": [{"$ref": "#/$defs/base"}, {"properties": {"kind": {"const": "a"}}}],
        "$defs": {"base": {"type": "object", "properties": {"kind": {"type": "string"}}}},
    },
    {"type": "object", "properties": {"price": {"type": "number", "multipleOf": 0.01}}},
    {"type": "object", "properties": {"payload": True, "other": {}}},
    {"type": "object", "patternProperties": {"^x-": {}}, "properties": {"a": {}}, "required": ["x-b"]},
    {"type": "object", "properties": {"created_at": {"type": ["string", "null"], "format": "date-time"}}},
    {"type": "object", "confluent:tags": ["PII"], "x-owner": "shop", "javaType": "shop.Order", "example": {}},
    {"type": ["string", "integer"], "maxLength": 3, "maximum": 999},
    {"enum": [1, 2.5]},
    {"enum": ["a", None]},
    {"type": "number", "const": 1},
    {"type": "object", "comment": "…", "descriptions": [], "ordering": 1, "titles": {}},
    {"type": "string", "pattern": "^a|b$"},
    {"type": "string", "pattern": ".*@.*"},
]


@pytest.mark.parametrize("members", REASONABLE_JSON, ids=json.dumps)
def test_a_reasonable_json_schema_has_no_warning(members: dict[str, Any]) -> None:
    assert lint_json(members) == []


DOUBTFUL_JSON: list[tuple[dict[str, Any], str]] = [
    ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "ONE_OF_AMBIGUOUS"),
    ({"oneOf": [payment("card", ["object", "null"]), payment("cash", ["object", "null"])]}, "ONE_OF_AMBIGUOUS"),
    ({"oneOf": [payment("card"), payment("card")]}, "ONE_OF_AMBIGUOUS"),
    ({"type": "string", "default": 3}, "DEFAULT_INVALID"),
    ({"type": "string", "const": 3}, "VALUE_IMPOSSIBLE"),
    ({"type": "number", "format": "date"}, "KEYWORD_OF_OTHER_TYPE"),
    ({"properties": {"a": {"description": "Anything."}}, "type": "object"}, "TYPE_MISSING"),
    ({"id": "https://shop.example/order", "type": "string"}, "KEYWORD_OF_OTHER_DRAFT"),
    ({"type": "array", "item": {"type": "string"}, "minItems": 1, "contains": {}}, "KEYWORD_UNKNOWN"),
    ({"type": "object", "properties": {"a": {}}, "required": "a"}, "SCHEMA_INVALID"),
]


@pytest.mark.parametrize(("members", "rule"), DOUBTFUL_JSON)
def test_a_doubtful_json_schema_has_a_warning(members: dict[str, Any], rule: str) -> None:
    assert lint_json(members) == [rule]


def test_the_schemas_of_the_examples_have_no_errors() -> None:
    files = [*EXAMPLES.rglob("*.avsc"), *EXAMPLES.rglob("*.schema.json")]
    assert len(files) > 10
    for file in files:
        kind = SchemaType.AVRO if file.suffix == ".avsc" else SchemaType.JSON
        subject = file.name.removesuffix(".avsc").removesuffix(".schema.json")
        ids = {
            finding.rule.id
            for finding in lint_schema(file.read_text("utf-8"), kind, subject)
            if finding.rule.severity is not Severity.NOTE
        }
        assert ids <= {"LINT_AVRO_ENUM_DEFAULT_MISSING"}, file  # the airports of New York


def assert_fixes_are_safe(text: str, kind: SchemaType) -> None:
    """Check that fixes keep a schema compatible, leave nothing to fix, and remove findings without adding others."""
    fixed = fix_schema(text, kind)
    before, after = (parse_schema(SchemaDraft(each, kind)) for each in (text, fixed.text))
    assert check_compatibility(after, [ParsedVersion(1, before)], Level.FULL).compatible
    assert not any(finding.changes for finding in fixed.remaining)
    assert fix_schema(fixed.text, kind) == (fixed.text, [], fixed.remaining)
    assert len(fixed.fixed) + len(fixed.remaining) >= len(lint_schema(text, kind))
    assert bool(fixed.fixed) == (fixed.text != text)


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False))
def test_fixes_of_any_avro_schema_are_safe(random: Random) -> None:
    plain = avro_schemas.AvroSchemaGenerator(random).schema()
    for schema in (plain, avro_annotations.add_annotations(plain, random)):
        text = json.dumps(schema, indent=random.choice([None, 1, 4]))
        try:
            parse_schema(SchemaDraft(text))
        except InvalidSchema:
            continue
        assert_fixes_are_safe(text, SchemaType.AVRO)


@settings(max_examples=30, deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from([4, 6, 7, 2019, 2020]))
def test_fixes_of_any_json_schema_are_safe(random: Random, draft: int) -> None:
    schema = json_schemas.JsonSchemaGenerator(random, draft).schema()
    if random.random() < 0.5:
        schema.pop("$schema")
    text = json.dumps(schema, indent=random.choice([None, 1, 4]))
    try:
        parse_schema(SchemaDraft(text, SchemaType.JSON))
    except InvalidSchema:  # of another draft
        return
    assert_fixes_are_safe(text, SchemaType.JSON)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_of_the_registry_is_linted_or_rejected(name: str) -> None:
    text, _ = HOSTILE[name].texts()
    try:
        findings = lint_schema(text, HOSTILE[name].type, "orders-key")
    except InvalidSchema:
        return
    assert all(len(finding.message) < 1_000 for finding in findings)


def hostile_schemas() -> Iterator[tuple[str, SchemaType, str]]:
    size = 3_000
    fields = [{"name": f"f{index}", "type": ["null", "long"], "aliases": [f"f{index}"]} for index in range(size)]
    yield "many fixes", SchemaType.AVRO, json.dumps(record(*fields))
    records = [{"type": "record", "name": f"R{index}", "fields": []} for index in range(900)]
    yield "many records in a union", SchemaType.AVRO, json.dumps(records)
    names = [{"name": "F" + "_" * index, "type": "long"} for index in range(1, size)]
    yield "long similar names", SchemaType.AVRO, json.dumps(record(*names))
    yield (
        "unknown types",
        SchemaType.AVRO,
        json.dumps(record(*({"name": f"n{i}", "type": f"strin{i}"} for i in range(400)))),
    )
    definitions = {f"d{index}": {"$ref": f"#/$defs/d{index + 1}"} for index in range(size)}
    yield (
        "a chain of references",
        SchemaType.JSON,
        json.dumps({"oneOf": [{"$ref": "#/$defs/d0"}] * 50, "$defs": definitions}),
    )
    branch = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    yield "wide oneOfs", SchemaType.JSON, json.dumps({"allOf": [{"oneOf": [branch] * 30} for _ in range(100)]})
    yield "unknown keywords", SchemaType.JSON, json.dumps({f"propertie{index}": 1 for index in range(1_000)})
    yield "repeated members", SchemaType.JSON, "{" + ",".join('"type": "string"' for _ in range(size)) + "}"
    yield "deep", SchemaType.JSON, '{"items": ' * 120 + "{}" + "}" * 120
    yield "a loop of references", SchemaType.JSON, '{"oneOf": [{"$ref": "#"}, {"$ref": "#/oneOf/0"}]}'


@pytest.mark.parametrize(
    ("kind", "text"), [pytest.param(kind, text, id=name) for name, kind, text in hostile_schemas()]
)
def test_a_hostile_schema_is_linted_and_fixed(kind: SchemaType, text: str) -> None:
    result = fix_schema(text, kind, "orders-key")
    assert all(len(finding.message) < 1_000 for finding in (*result.fixed, *result.remaining))
