"""Content keywords are removed where they are keywords, and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from contractlog.serdes.json_schema.content_keyword_removal import remove_content_keywords

CONTENT = {"contentEncoding": "base64", "contentMediaType": "application/json"}


@pytest.mark.parametrize(
    "nest",
    [
        lambda schema: schema,
        lambda schema: {"properties": {"const": schema, "contentEncoding": schema}},
        lambda schema: {"allOf": [schema, True], "items": [schema]},
        lambda schema: {"definitions": {"enum": schema}, "dependencies": {"a": schema, "b": ["c"]}},
        lambda schema: {"not": {"if": schema}, "shapes": {"any": {"name": schema}}},
    ],
)
def test_content_keywords_are_removed_from_every_subschema(nest: Any) -> None:
    assert remove_content_keywords(nest({"type": "string", **CONTENT})) == nest({"type": "string"})


@pytest.mark.parametrize(
    "schema",
    [
        {"const": CONTENT, "enum": [CONTENT]},
        {"properties": {name: {"type": "string"} for name in CONTENT}, "required": list(CONTENT)},
        {"patternProperties": {"contentEncoding": True}, "dependentSchemas": {"contentEncoding": False}},
        {"contentEncoding": 5},
        True,
    ],
)
def test_properties_and_values_of_these_names_are_unchanged(schema: Any) -> None:
    assert remove_content_keywords(schema) == schema
