"""JSON schemas that a lookup considers equal: same references, or all inlined on one side."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import are_equivalent, parse_schema
from contractlog.compatibility.json_schema import inlined_equivalence
from contractlog.compatibility.schema import ParsedSchema, Reference, SchemaDraft, SchemaType

GATE = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#"}}}
PORT = {"$id": "port.json", "type": "string", "pattern": "^[A-Z]{3}$"}
LEG = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "properties": {"from": {"$ref": "port.json"}, "gates": {"$ref": "#/definitions/many"}},
    "definitions": {"many": {"type": "integer", "minimum": 1}},
}
PORT_HERE = {"type": "string", "pattern": "^[A-Z]{3}$"}
LEG_HERE = {"type": "object", "properties": {"from": PORT_HERE, "gates": {"type": "integer", "minimum": 1}}}
TEXTS = {"port.json": PORT, "leg.json": LEG}
ONE, OTHER = Reference("leg.json", "leg", 1), Reference("leg.json", "leg", 2)


def parsed(schema: Any, *references: Reference, texts: Mapping[str, Any] = TEXTS) -> ParsedSchema:
    leaned_on = {name: json.dumps(text) for name, text in texts.items()} if references else {}
    return parse_schema(SchemaDraft(json.dumps(schema), SchemaType.JSON, references), leaned_on)


def flight(leg: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"first": leg, "legs": {"type": "array", "items": leg}}, **more}


LEANING = parsed(flight({"$ref": "leg.json"}), ONE)


@pytest.mark.parametrize(
    "whole",
    [
        flight(LEG_HERE),
        dict(reversed(flight(LEG_HERE).items())),
        flight({"$ref": "#/definitions/leg"}, definitions={"leg": LEG_HERE}),
        flight({"$ref": "#/definitions/leg"}, definitions={
            "leg": {"type": "object", "properties": {"from": {"$ref": "#/definitions/port"},
                                                     "gates": {"type": "integer", "minimum": 1}}},
            "port": PORT_HERE,
        }),
    ],
    ids=["in place", "in another order", "as a definition", "as definitions"],
)  # fmt: skip
def test_a_schema_is_found_with_all_its_references_inlined(whole: Any) -> None:
    assert are_equivalent(LEANING, parsed(whole))
    assert are_equivalent(parsed(whole), LEANING)


@pytest.mark.parametrize(
    "other",
    [
        flight({**LEG_HERE, "title": "leg"}),
        flight({**LEG_HERE, "properties": {"from": PORT_HERE}}),
        flight({**LEG_HERE, "type": ["object"]}),
        {**flight(LEG_HERE), "required": ["first"]},
        {**flight(LEG_HERE), "$schema": "https://json-schema.org/draft/2020-12/schema"},
        True,
    ],
)
def test_another_schema_is_not_found(other: Any) -> None:
    assert not are_equivalent(LEANING, parsed(other))
    assert not are_equivalent(parsed(other), LEANING)


def test_with_references_on_both_sides_they_must_be_the_same() -> None:
    assert are_equivalent(LEANING, parsed(flight({"$ref": "leg.json"}), ONE))
    assert not are_equivalent(LEANING, parsed(flight({"$ref": "leg.json"}), OTHER))
    assert not are_equivalent(LEANING, parsed(flight(LEG_HERE), OTHER))


def test_cyclic_references_are_compared_completely() -> None:
    reference = Reference("gate.json", "gate", 1)
    leaning = parsed({"properties": {"gate": {"$ref": "gate.json"}}}, reference, texts={"gate.json": GATE})
    inner = {"type": "object", "properties": {"name": {"type": "string"}, "next": {"$ref": "#/definitions/gate"}}}
    whole = {"properties": {"gate": {"$ref": "#/definitions/gate"}}, "definitions": {"gate": inner}}
    assert are_equivalent(leaning, parsed(whole))
    inner["properties"]["name"] = {"type": "integer"}  # type: ignore[index]
    assert not are_equivalent(leaning, parsed(whole))
    assert not are_equivalent(
        parsed({"$ref": "#"}), parsed({"$ref": "gate.json"}, reference, texts={"gate.json": GATE})
    )


def test_a_reference_is_none_where_data_stands() -> None:
    for word in ("const", "default"):
        kept = {"properties": {"a": {word: {"$ref": "leg.json"}}}}
        assert are_equivalent(parsed(kept, ONE), parsed(kept))
        assert not are_equivalent(parsed(kept, ONE), parsed({"properties": {"a": {word: LEG}}}))
    named = {"properties": {"$ref": {"$ref": "port.json"}, "enum": {"$ref": "port.json"}}}
    assert are_equivalent(parsed(named, ONE), parsed({"properties": {"$ref": PORT_HERE, "enum": PORT_HERE}}))


def test_beside_a_reference_later_drafts_have_more() -> None:
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    leaning = parsed({**draft, "$ref": "port.json", "maxLength": 3}, ONE)
    assert not are_equivalent(leaning, parsed({**draft, **PORT_HERE}))
    assert not are_equivalent(leaning, parsed({**draft, **PORT_HERE, "maxLength": 3}))
    whole = {**draft, "$ref": "#/$defs/port", "maxLength": 3, "$defs": {"port": PORT_HERE}}
    assert are_equivalent(leaning, parsed(whole))
    assert not are_equivalent(leaning, parsed({**whole, "$defs": {"port": {**PORT_HERE, "minLength": 1}}}))
    moving = {**draft, "$dynamicRef": "#n", "$defs": {"n": {"$dynamicAnchor": "n", "type": "string"}}}
    assert not are_equivalent(parsed(moving, ONE), parsed(moving))


def test_too_much_to_compare_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inlined_equivalence, "MAX_PAIRS", 3)
    with pytest.raises(InvalidSchema, match="more than 3 places"):
        are_equivalent(LEANING, parsed(flight(LEG_HERE)))
