"""Schemas become elements of ODCS, and come back equal."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.lint.rule import Severity
from contractlog.compatibility.schema import SchemaDraft
from contractlog.contracts.odcs.avro_elements import describe_avro
from contractlog.contracts.odcs.avro_schema import build_avro
from contractlog.contracts.odcs.json_schema import build_json_schema, describe_json_schema
from contractlog.contracts.odcs.validator import validate_contract

from support.avro_annotations import add_annotations
from support.avro_strategies import schemas
from support.json_schemas import JsonSchemaGenerator
from support.odcs_contracts import official_validator

OFFICIAL = official_validator()


def contract_of(element: dict[str, Any]) -> dict[str, Any]:
    """Return a contract with a schema object; a fresh copy, as if it had been written and read."""
    contract = {"apiVersion": "v3.2.0", "kind": "DataContract", "id": "orders", "version": "1", "schema": [element]}
    return dict(json.loads(json.dumps(contract)))


def unwrap(schema: Any) -> Any:
    """Return an Avro schema without objects that have nothing but a type."""
    if isinstance(schema, dict):
        inner = {name: unwrap(value) if name in _NESTED else value for name, value in schema.items()}
        return inner["type"] if list(inner) == ["type"] else inner
    return [unwrap(each) for each in schema] if isinstance(schema, list) else schema


_NESTED = ("type", "items", "values", "fields")


def sort_required(schema: Any) -> Any:
    """Return a JSON Schema with sorted names of required properties."""
    if isinstance(schema, dict):
        inner = {name: sort_required(value) for name, value in schema.items()}
        names = inner.get("required")
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            inner["required"] = sorted(names)
        return inner
    return [sort_required(each) for each in schema] if isinstance(schema, list) else schema


def write(value: Any) -> str:
    return json.dumps(value, sort_keys=True)  # tells 1, 1.0 and true apart


@settings(max_examples=80, deadline=None)
@given(schemas(), st.integers(0, 10**6))
def test_an_avro_schema_comes_back_from_a_valid_contract(schema: Any, seed: int) -> None:
    schema = json.loads(json.dumps(add_annotations(schema, Random(seed)) if seed % 3 else schema))  # noqa: S311 - repeatable
    contract = contract_of(describe_avro(schema))
    assert OFFICIAL.is_valid(contract)
    assert not [each for each in validate_contract(contract) if each.severity is Severity.ERROR]
    built, findings, _ = build_avro(contract["schema"][0])
    assert write(unwrap(built)) == write(unwrap(schema))
    assert not findings


@pytest.mark.parametrize(
    "schema",
    [
        "string",
        ["null", "string"],
        [],
        ["null"],
        {"type": "array", "items": ["null", "long", "string"]},
        {"type": ["null", "string"]},
        {"type": {"type": "string"}},
        {"type": "enum", "name": "E", "symbols": [], "default": "A"},
        {"type": "error", "name": "E", "fields": []},
        {"type": "record", "name": "a.b.R", "namespace": "c", "doc": "d", "confluent:tags": ["PII"], "fields": [
            {"name": "next", "type": ["null", "R"], "default": None},
            {"name": "last", "type": ["R", "null"], "confluent:tags": ["PII"], "doc": ""},
            {"name": "text", "type": ["null", "string"], "default": "x"},
            {"name": "same", "type": ["null", "string"]},
            {"name": "kind", "type": {"type": "enum", "name": "K", "symbols": ["A"], "default": "A", "doc": "k"}},
            {"name": "any", "type": [{"type": "map", "values": ["int", "null"]}, "null", "R"], "order": "ignore"},
        ]},
    ],
)  # fmt: skip
def test_avro_of_every_form_comes_back(schema: Any) -> None:
    contract = contract_of(describe_avro(schema))
    assert OFFICIAL.is_valid(contract)
    assert write(unwrap(build_avro(contract["schema"][0])[0])) == write(unwrap(schema))


@pytest.mark.parametrize("draft", [4, 6, 7, 2019, 2020])
def test_a_json_schema_comes_back_from_a_valid_contract(draft: int) -> None:
    generator = JsonSchemaGenerator(Random(draft), draft)  # noqa: S311 - repeatable
    for _ in range(100):
        schema = generator.schema()
        contract = contract_of(describe_json_schema(schema))
        assert OFFICIAL.is_valid(contract)
        built, findings = build_json_schema(contract["schema"][0])
        assert write(sort_required(built)) == write(sort_required(schema))
        assert not findings


def test_a_contract_of_people_becomes_avro() -> None:
    element = {
        "name": "order",
        "description": "An order.",
        "properties": [
            {"name": "id", "logicalType": "string", "required": True, "logicalTypeOptions": {"format": "uuid"}},
            {"name": "email", "logicalType": "string", "tags": ["PII"], "classification": "confidential"},
            {"name": "total", "logicalType": "number", "customProperties": [{"property": "precision", "value": 9}]},
            {"name": "size", "logicalType": "integer", "logicalTypeOptions": {"format": "i64", "minimum": 0}},
            {"name": "at", "logicalType": "timestamp", "required": True},
            {"name": "lines", "logicalType": "array", "required": True, "items": {
                "logicalType": "object", "properties": [{"name": "sku", "logicalType": "string", "required": True}]}},
            {"name": "labels", "logicalType": "map", "required": True, "map": {
                "key": {"logicalType": "string"}, "value": {"logicalType": "string", "required": False}}},
        ],
    }  # fmt: skip
    schema, findings, classifications = build_avro(element)
    assert [field["type"] for field in schema["fields"]] == [
        {"type": "string", "logicalType": "uuid"},
        ["null", "string"],
        ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 0}],
        ["null", "long"],
        {"type": "long", "logicalType": "timestamp-millis"},
        {
            "type": "array",
            "items": {
                "type": "record",
                "name": "order_lines_item",
                "fields": [{"name": "sku", "type": "string"}],
            },
        },
        {"type": "map", "values": ["null", "string"]},
    ]
    assert schema["fields"][1] == {
        "name": "email",
        "type": ["null", "string"],
        "confluent:tags": ["PII"],
        "default": None,
    }
    parse_schema(SchemaDraft(json.dumps(schema)))
    assert classifications == {"order.email": "confidential"}
    assert [str(each) for each in findings] == [
        "properties[3].logicalTypeOptions.minimum is not in the Avro schema; quality rules check it"
    ]


def test_a_contract_of_people_becomes_a_json_schema() -> None:
    element = {
        "name": "order",
        "properties": [
            {"name": "id", "logicalType": "string", "required": True, "logicalTypeOptions": {"minLength": 1}},
            {"name": "day", "logicalType": "date", "logicalTypeOptions": {"minimum": "2026-01-01"}},
            {"name": "kind", "logicalType": "string", "enum": [{"value": "a"}, {"value": "b"}]},
        ],
    }
    schema, findings = build_json_schema(element)
    assert schema == {
        "type": "object",
        "properties": {
            "id": {"type": "string", "minLength": 1},
            "day": {"type": "string", "format": "date"},
            "kind": {"type": "string", "enum": ["a", "b"]},
        },
        "required": ["id"],
    }
    assert [str(each) for each in findings] == [
        "properties[1].logicalTypeOptions.minimum is not in the JSON Schema, which has no such keyword for a date"
    ]


def test_an_edited_member_that_a_more_exact_one_contradicts_is_reported() -> None:
    element = {"name": "a", "properties": [{"name": "b", "logicalType": "integer", "physicalType": "string"}]}
    assert [str(each) for each in build_avro(element)[1]] == [
        "properties[0].logicalType is integer, but the physical type string is string: the latter counts"
    ]
    contract = describe_json_schema({"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a", "b"]})
    contract["properties"][0]["required"] = False
    assert [str(each) for each in build_json_schema(contract)[1]] == [
        "properties[0].required is not what jsonSchemaRequired says, which counts"
    ]
