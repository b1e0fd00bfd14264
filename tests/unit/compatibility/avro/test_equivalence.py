"""Schemas that a lookup considers equal to one with inlined references."""

from __future__ import annotations

import json

import pytest

from contractlog.compatibility.avro.canonical_form import format_inlined
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import are_equivalent, parse_schema
from contractlog.compatibility.schema import ParsedSchema, Reference, SchemaDraft, SchemaType

GATE = '{"type":"enum","name":"n.Gate","symbols":["A"]}'
LEG = '{"type":"record","name":"Leg","namespace":"n","fields":[{"name":"gate","type":"Gate"}]}'
FLIGHT = '{"type":"record","name":"Flight","fields":[{"name":"first","type":"n.Leg"},{"name":"next","type":"n.Leg"}]}'
WHOLE = (
    '{"type":"record","name":"Flight","fields":[{"name":"first","type":{"type":"record","name":"Leg","namespace":"n",'
    '"fields":[{"name":"gate","type":{"type":"enum","name":"Gate","symbols":["A"]}}]}},{"name":"next","type":"n.Leg"}]}'
)
ONE, OTHER = Reference("n.Leg", "leg", 1), Reference("n.Leg", "leg", 2)


def leaning(*references: Reference) -> ParsedSchema:
    return parse_schema(SchemaDraft(FLIGHT, references=references), {"n.Gate": GATE, "n.Leg": LEG})


def test_all_that_a_schema_leans_on_is_written_once_where_it_is_used_first() -> None:
    assert format_inlined(leaning(ONE).root) == WHOLE
    assert parse_schema(SchemaDraft(WHOLE)).canonical == WHOLE


def test_writing_ends_at_the_limit() -> None:
    assert format_inlined(leaning(ONE).root, limit=len(WHOLE)) == WHOLE
    with pytest.raises(InvalidSchema, match="more than 30 characters"):
        format_inlined(leaning(ONE).root, limit=30)


def test_names_that_make_a_small_text_large_are_not_written_to_the_end() -> None:
    name = "N" * 50_000
    fields = [{"name": f"f{index}", "type": "Long"} for index in range(1_000)]
    leaned_on = json.dumps({"type": "fixed", "name": "Long", "size": 1}).replace("Long", name)
    text = json.dumps({"type": "record", "name": "R", "fields": fields[:100]}).replace("Long", name)
    parsed = parse_schema(SchemaDraft(text), {"long": leaned_on})
    with pytest.raises(InvalidSchema, match="more than 1000000 characters"):
        format_inlined(parsed.root, limit=1_000_000)


def test_a_schema_is_found_by_the_same_references_or_with_all_of_them_inlined() -> None:
    whole = parse_schema(SchemaDraft(WHOLE))
    assert are_equivalent(leaning(ONE), leaning(ONE))
    assert not are_equivalent(leaning(ONE), leaning(OTHER))
    assert are_equivalent(leaning(ONE), whole)
    assert are_equivalent(whole, leaning(OTHER))
    assert not are_equivalent(parse_schema(SchemaDraft(WHOLE.replace('"A"', '"B"'))), leaning(ONE))


def test_a_lookup_does_not_look_at_how_a_schema_is_written() -> None:
    loose = parse_schema(SchemaDraft(WHOLE.replace('"fields"', '"aliases":["B","A"],"fields"', 1)))
    sorted_ = parse_schema(SchemaDraft(WHOLE.replace('"fields"', '"aliases":["A","B"],"fields"', 1)))
    assert loose.canonical != sorted_.canonical
    assert are_equivalent(loose, sorted_)


def test_json_schemas_are_found_by_the_same_references_and_another_type_never() -> None:
    first, same, other = (
        parse_schema(SchemaDraft(text, SchemaType.JSON))
        for text in ('{"type":"object","title":"a"}', '{"title":"a","type":"object"}', "true")
    )
    assert are_equivalent(first, same)
    assert not are_equivalent(first, other)
    assert not are_equivalent(first, leaning(ONE))
