"""Definitions that a schema repeats of its references."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.formats import omit_shared_definitions, parse_schema
from contractlog.compatibility.schema import SchemaDraft

COLOR = {"type": "enum", "name": "x.Color", "symbols": ["RED"]}
CAR = {"type": "record", "name": "x.Car", "fields": [{"name": "color", "type": COLOR}]}


def of(*types: Any, name: str = "x.Own") -> dict[str, Any]:
    fields = [{"name": f"f{number}", "type": each} for number, each in enumerate(types)]
    return {"type": "record", "name": name, "fields": fields}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (of("Car", COLOR, "Color"), of("Car", "Color", "Color")),
        (of(["null", COLOR], name="Own"), of(["null", "x.Color"], name="Own")),
        (of({"type": "array", "items": COLOR}, "Color"), of({"type": "array", "items": "Color"}, "Color")),
        (of({"type": "map", "values": COLOR}), of({"type": "map", "values": "Color"})),
        (of(CAR, COLOR), of("Car", "Color")),
        (of({**COLOR, "name": "x.Hue"}), of({**COLOR, "name": "x.Hue"})),
        (COLOR, COLOR),
    ],
)
def test_a_definition_that_a_reference_has_becomes_a_name(schema: Any, expected: Any) -> None:
    draft, referenced = SchemaDraft(json.dumps(schema, indent=1)), {"x.Car": json.dumps(CAR)}
    written = omit_shared_definitions(draft, referenced)
    assert json.loads(written) == expected
    parsed = parse_schema(SchemaDraft(written), referenced)
    assert parsed.canonical == parse_schema(draft, referenced).canonical


def test_a_text_is_left_alone_if_names_would_change_its_meaning() -> None:
    draft = SchemaDraft(json.dumps(of({**COLOR, "symbols": ["BLUE"]})))
    assert omit_shared_definitions(draft, {"x.Car": json.dumps(CAR)}) == draft.text
