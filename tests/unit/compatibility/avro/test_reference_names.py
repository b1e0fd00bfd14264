"""Names that Avro schemas define and use."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.avro.reference_names import list_avro_names
from contractlog.compatibility.reference_names import SchemaNames

MONEY = {
    "type": "record",
    "name": "Money",
    "namespace": "com.acme",
    "fields": [{"name": "currency", "type": {"type": "enum", "name": "Currency", "symbols": ["EUR"]}}],
}


@pytest.mark.parametrize(
    ("schema", "defined", "external"),
    [
        ("long", [], []),
        ("com.acme.Money", [], ["com.acme.Money"]),
        (MONEY, ["com.acme.Money", "com.acme.Currency"], []),
        (["null", "a.A", "b.B", "a.A"], [], ["a.A", "b.B"]),
        ({"type": "array", "items": {"type": "map", "values": "a.A"}}, [], ["a.A"]),
        ({"type": {"type": "a.A"}}, [], ["a.A"]),
        ({"type": "fixed", "name": "F", "size": 2}, ["F"], []),
        ({**MONEY, "fields": [{"name": "next", "type": ["null", "Money"]}]}, ["com.acme.Money"], []),
        ({**MONEY, "fields": [{"name": "to", "type": "Address"}]}, ["com.acme.Money"], ["com.acme.Address"]),
        ({**MONEY, "name": "org.x.Money", "fields": [{"name": "to", "type": "A"}]}, ["org.x.Money"], ["org.x.A"]),
        ({**MONEY, "fields": [{"name": "a", "type": "int", "default": {"type": "a.A"}}]}, ["com.acme.Money"], []),
    ],
)
def test_names_are_full_names(schema: Any, defined: list[str], external: list[str]) -> None:
    names = list_avro_names(json.dumps(schema))
    assert names.defined == tuple(defined)
    assert [use.name for use in names.external] == external
    assert names.root == (defined[0] if defined else "")


@pytest.mark.parametrize("text", ["", "{", "[" * 10_000, '{"type": "record", "name": 7, "fields": 7}', "7"])
def test_texts_that_are_no_schemas_have_no_names(text: str) -> None:
    assert list_avro_names(text) == SchemaNames()
