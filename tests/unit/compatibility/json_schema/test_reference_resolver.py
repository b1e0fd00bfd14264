"""References within a schema and its dependencies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.json_schema.parser import parse_json_schema
from contractlog.compatibility.json_schema.reference_resolver import Documents


def documents(schema: Any, **referenced: Any) -> Documents:
    texts = {name: json.dumps(value) for name, value in referenced.items()}
    return Documents(parse_json_schema(json.dumps(schema), texts), texts)


@pytest.mark.parametrize(
    ("reference", "location"),
    [
        ("#/definitions/no", "/definitions/no"),
        ("#/definitions/any/anyOf/0", "/definitions/any/anyOf/0"),
        ("#/definitions/a~1b", "/definitions/a~1b"),
        ("#/$defs/no", "/definitions/no"),
        ("inner", "/definitions/inner"),
    ],
)
def test_a_target_has_its_json_pointer_in_a_schema_with_inner_ids_too(reference: str, location: str) -> None:
    inner = {"$id": "inner", "type": "object"}
    schema = {"definitions": {"no": False, "any": {"anyOf": [True]}, "a/b": True, "inner": inner}}
    texts = documents(schema)
    target = texts.follow(reference, texts.root().context)
    assert target is not None
    assert target.location == location


def test_a_fragment_in_a_dependency_leads_nowhere_else() -> None:
    texts = documents({"definitions": {"b": {}}}, other={"definitions": {"c": {}}})
    other = texts.follow("other", texts.root().context)
    assert other is not None
    found = texts.follow_from(other, "#/definitions/c")
    assert found is not None
    assert found.location == "other#/definitions/c"
    assert texts.follow_from(other, "#/definitions/b") is None


def test_a_subschema_is_below_the_id_of_its_schema() -> None:
    schema = {"$id": "http://example.com/a/", "items": {"$id": "b/", "items": {"$ref": "c"}, "not": {"$id": "c"}}}
    texts = documents(schema)
    inner = texts.below(texts.below(texts.root(), "items"), "items")
    target = texts.follow_from(inner, "c")
    assert target is not None
    assert target.location == "/items/not"
