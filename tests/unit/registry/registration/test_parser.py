"""A cached parse result is equivalent to parsing the stored text."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import Reference, RegisteredSchema, SchemaDraft, SchemaType
from contractlog.registry.registration.candidate import build_content
from contractlog.registry.registration.parser import SchemaParser
from contractlog.registry.storage.snapshot import Snapshot

from support.avro_annotations import add_annotations
from support.avro_schemas import AvroSchemaGenerator, evolve_schema

SUBJECT = Subject.parse("s")


class Nowhere(Snapshot):
    """A state of nothing: whoever asks it has no business to."""

    def __init__(self) -> None:
        pass


def parse(parser: SchemaParser, text: str, schema_type: SchemaType = SchemaType.AVRO) -> Any:
    draft = SchemaDraft(text, schema_type)
    found = parser.parse_draft(Nowhere(), SUBJECT, draft, strict=False)
    content = build_content(Nowhere(), found, normalize=False)
    parser.cache_expected(content, found.parsed)
    held = RegisteredSchema(7, content.text, schema_type, SUBJECT, 1, content.guid)
    return found.parsed, held


@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.randoms(use_true_random=False))
def test_an_avro_draft_and_what_is_stored_of_it_are_judged_alike(random: Random) -> None:
    """In both directions, with every word of every finding."""
    first = add_annotations(AvroSchemaGenerator(random).schema(2), random)
    parsed, held = parse(SchemaParser(), json.dumps(first, indent=random.choice([None, 2])))
    stored = parse_schema(SchemaDraft(held.text), strict=False)
    try:
        other = parse_schema(SchemaDraft(json.dumps(evolve_schema(first, random, random.randint(1, 4)))), strict=False)
    except InvalidSchema:
        reject()
    for level in (Level.FULL, Level.BACKWARD, Level.FORWARD):
        assert check_compatibility(other, [ParsedVersion(1, parsed)], level) == check_compatibility(
            other, [ParsedVersion(1, stored)], level
        )
        assert check_compatibility(parsed, [ParsedVersion(1, other)], level) == check_compatibility(
            stored, [ParsedVersion(1, other)], level
        )
    assert (parsed.canonical, parsed.normalized) == (stored.canonical, stored.normalized)


def test_recently_checked_schemas_are_not_parsed_again() -> None:
    parser = SchemaParser()
    parsed, held = parse(parser, '{ "type": "string" }')
    assert parser.parse_stored(Nowhere(), held) is parsed
    assert parser.parse_stored(Nowhere(), held) is parsed  # by its id now


@pytest.mark.parametrize(
    "change",
    [
        {"text": '"long"'},
        {"guid": "another"},
        {"type": SchemaType.JSON, "text": '{"type":"string"}'},
    ],
)
def test_another_schema_is_never_taken_for_what_was_expected(change: dict[str, Any]) -> None:
    """Two contents may be made to have one guid, which is an MD5: the text has to be the same."""
    parser = SchemaParser()
    parsed, held = parse(parser, '{ "type": "string" }')
    found = parser.parse_stored(Nowhere(), replace(held, **change))
    assert found is not parsed
    assert found.type is replace(held, **change).type
    assert found.canonical == replace(held, **change).text


def test_schemas_with_references_are_parsed_from_stored_texts() -> None:
    parser = SchemaParser()
    parsed, held = parse(parser, '"string"')
    with pytest.raises(AttributeError):  # it asks the state for what it leans on
        parser.parse_stored(Nowhere(), replace(held, references=(Reference("R", "r", 1),)))
    assert parser.parse_stored(Nowhere(), held) is parsed
