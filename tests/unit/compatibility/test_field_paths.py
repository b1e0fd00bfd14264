"""Paths of values of positions in schemas, as audits name them."""

from __future__ import annotations

import json

import pytest

from contractlog.compatibility.field_paths import find_field_path

LEG = {
    "type": "record",
    "name": "Leg",
    "fields": [{"name": "id", "type": "long"}, {"name": "carrier", "type": ["null", "string"]}],
}
AVRO = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "legs", "type": {"type": "array", "items": LEG}},
            {"name": "tags", "type": {"type": "map", "values": ["null", "string"]}},
            {"name": "fields", "type": ["null", {"type": "array", "items": ["null", "string"]}]},
        ],
    }
)
JSON_SCHEMA = json.dumps(
    {
        "properties": {
            "legs": {"type": "array", "items": {"properties": {"carrier": {"type": "string"}}}},
            "properties": {"properties": {"items": {"type": "string"}}},
            "tags": {"additionalProperties": {"type": "string"}},
            "pair": {"prefixItems": [{"type": "string"}]},
            "any": {"allOf": [{"properties": {"x": {"minimum": 1}}}]},
        },
        "additionalProperties": False,
        "$defs": {"a": {"type": "string"}},
    }
)


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("", ""),
        ("/fields/0", "legs"),
        ("/fields/0/type/items", "legs[]"),
        ("/fields/0/type/items/fields/1/type/1", "legs[].carrier"),
        ("/fields/1/type/values/1", "tags{}"),
        ("/fields/2/type/1/items/0", "fields[]"),
        ("/fields/9", ""),
        ("Leg#/fields/0", None),
    ],
)
def test_positions_in_avro(pointer: str, path: str | None) -> None:
    assert find_field_path(AVRO, pointer) == path


@pytest.mark.parametrize(
    ("pointer", "path"),
    [
        ("/properties/legs/items/properties/carrier/type", "legs[].carrier"),
        ("/properties/properties/properties/items", "properties.items"),
        ("/properties/tags/additionalProperties", "tags{}"),
        ("/properties/pair/prefixItems/0", "pair[]"),
        ("/properties/any/allOf/0/properties/x/minimum", "any.x"),
        ("/additionalProperties", ""),
        ("/required/0", ""),
        ("/$defs/a", None),
    ],
)
def test_positions_in_json_schema(pointer: str, path: str | None) -> None:
    assert find_field_path(JSON_SCHEMA, pointer) == path


def test_a_text_that_is_no_schema_has_no_paths() -> None:
    assert find_field_path("not JSON", "/fields/0") is None
    assert find_field_path('"string"', "") == ""
    assert find_field_path('"string"', "/fields/0") == ""
