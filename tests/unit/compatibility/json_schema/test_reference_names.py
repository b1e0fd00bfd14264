"""Ids of JSON schemas, and the documents that they refer to."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.json_schema.reference_names import list_json_names
from contractlog.compatibility.reference_names import ExternalName, SchemaNames


@pytest.mark.parametrize(
    ("schema", "external"),
    [
        (True, []),
        ({"$ref": "#/definitions/a"}, []),
        ({"$ref": "a.json"}, [("a.json", "a.json")]),
        ({"$ref": "../a.json#/definitions/x"}, [("../a.json", "../a.json")]),
        ({"items": {"$ref": "a.json"}, "not": {"$ref": "a.json#/b"}}, [("a.json", "a.json")]),
        ({"$id": "https://acme/x/b.json", "$ref": "a.json"}, [("https://acme/x/a.json", "a.json")]),
        ({"$id": "https://acme/b.json", "$ref": "https://acme/b.json#/x"}, []),
        ({"$ref": "https://acme/a.json"}, [("https://acme/a.json", "")]),
        ({"properties": {"a": {"$id": "https://acme/y/", "$ref": "a.json"}}}, [("https://acme/y/a.json", "a.json")]),
        ({"const": {"$ref": "a.json"}, "default": {"$ref": "b.json"}, "enum": [{"$ref": "c.json"}]}, []),
        ({"properties": {"$ref": {"$ref": "a.json"}}}, [("a.json", "a.json")]),
        ({"$ref": 7}, []),
    ],
)
def test_references_to_other_documents_are_external(schema: Any, external: list[tuple[str, str]]) -> None:
    assert list_json_names(json.dumps(schema)).external == tuple(ExternalName(*names) for names in external)


def test_every_id_is_defined() -> None:
    names = list_json_names(
        '{"$id": "https://acme/a.json#", "definitions": {"b": {"$id": "b.json"}, "c": {"$id": "#c"}}}'
    )
    assert (names.root, names.defined) == ("https://acme/a.json", ("https://acme/a.json", "https://acme/b.json"))


@pytest.mark.parametrize("text", ["", "{", "[" * 10_000, "7"])
def test_texts_that_are_no_schemas_have_no_names(text: str) -> None:
    assert list_json_names(text) == SchemaNames()
