"""Schemas whose branches multiply are refused before a value is validated against them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes.json_schema.schema_preparation import prepare_parsed

from support.deadlines import hang_guard


def refer(levels: int, times: int, keyword: str = "anyOf", path: str = "#/definitions/d{}") -> dict[str, Any]:
    """Return a schema with levels of definitions that refer some times to the next one."""
    definitions: dict[str, Any] = {
        f"d{level}": {keyword: [{"$ref": path.format(level + 1)}] * times} for level in range(levels)
    }
    definitions[f"d{levels}"] = {"type": "integer"}
    return {"definitions": definitions, "$ref": path.format(0)}


def prepare(schema: Any) -> Any:
    return prepare_parsed(parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON), strict=False)).validator


@pytest.mark.parametrize(
    "schema",
    [
        refer(40, 2),
        refer(40, 2, "allOf"),
        refer(6, 10, "oneOf"),
        {**refer(40, 2), "$ref": "#/definitions/d3", "title": "x"},
        {"properties": {"a": refer(40, 2)["definitions"]["d0"]}, "definitions": refer(40, 2)["definitions"]},
    ],
)
def test_branches_that_multiply_are_refused(schema: Any) -> None:
    with hang_guard(), pytest.raises(InvalidSchema, match="more than 100,000 branches"):
        prepare(schema)


@pytest.mark.parametrize(
    "schema",
    [
        refer(10, 2),
        refer(400, 1),
        {"definitions": {"n": {"properties": {f"p{n}": {"$ref": "#/definitions/n"} for n in range(60)}}}},
        {"anyOf": [{"$ref": "#"}] * 2 + [{"$ref": "#/definitions/a"}] * 60, "definitions": {"a": {"type": "integer"}}},
    ],
)
def test_other_schemas_are_prepared(schema: Any) -> None:
    with hang_guard():
        assert prepare(schema) is not None


def test_large_schemas_take_little_time() -> None:
    definitions = {
        f"d{n}": {"oneOf": [{"$ref": f"#/definitions/d{(n * 7 + k) % 2_000}"} for k in range(3)], "type": "object"}
        for n in range(2_000)
    }
    with hang_guard(), pytest.raises(InvalidSchema, match="more than 100,000 branches"):
        prepare({"definitions": definitions, "$ref": "#/definitions/d0"})
