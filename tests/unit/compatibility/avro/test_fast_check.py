"""The fast check of a pair accepts only readable pairs, and most of them."""

from __future__ import annotations

import json
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.compatibility.avro.fast_check import is_readable
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import compare_schemas, parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft

from support.avro_schemas import AvroSchemaGenerator, evolve_schema


def parsed(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema)), strict=False)


def record(name: str, *fields: tuple[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": n, "type": kind} for n, kind in fields], **more}


def pair(random: Random) -> tuple[Any, Any]:
    """Make a schema and a next version of it."""
    old = AvroSchemaGenerator(random).schema()
    while True:
        new = evolve_schema(old, random, random.randint(0, 2))
        with suppress(InvalidSchema):
            parsed(new)
            return old, new


def seen(reader: Any, writer: Any, **limit: int) -> bool:
    return is_readable(parsed(reader).root, parsed(writer).root, **limit)


@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False))
def test_a_yes_is_what_the_comparison_in_detail_says(random: Random) -> None:
    old, new = pair(random)
    for reader, writer in ((old, new), (new, old), (old, old)):
        if seen(reader, writer):
            assert list(compare_schemas(parsed(reader), parsed(writer))) == []


def test_most_pairs_that_are_clean_get_a_yes() -> None:
    clean = told = 0
    for seed in range(300):
        old, new = pair(Random(seed))  # noqa: S311 - repeatable
        if not list(compare_schemas(parsed(new), parsed(old))):
            clean += 1
            told += seen(new, old)
    assert clean > 60
    assert told > 0.95 * clean


@pytest.mark.parametrize(
    ("reader", "writer", "follow"),
    [
        ("long", "int", True),
        ("int", "long", False),
        (["null", "double"], ["int", "null"], True),
        (["null", "string"], "int", False),
        ("string", ["string", "bytes"], True),
        ("string", ["string", "null"], False),
        (["null", {"type": "array", "items": "long"}], {"type": "array", "items": "int"}, True),
        ({"type": "map", "values": "int"}, {"type": "map", "values": "string"}, False),
        ({"type": "array", "items": "int"}, {"type": "map", "values": "int"}, False),
        (record("a.R", ("x", "int")), record("b.R", ("x", "int"), ("y", "int")), True),
        (record("R", ("x", "int")), record("R"), False),
        (record("S", aliases=["R"]), record("R"), True),
        (record("S"), record("R"), False),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, {"type": "enum", "name": "E", "symbols": ["A", "B"]}, False),
        (
            {"type": "enum", "name": "E", "symbols": ["A"], "default": "A"},
            {"type": "enum", "name": "E", "symbols": ["B"]},
            True,
        ),
        ({"type": "fixed", "name": "F", "size": 2}, {"type": "fixed", "name": "F", "size": 3}, False),
        ({"type": "fixed", "name": "F", "size": 2}, record("F"), False),
        (record("L", ("next", ["null", "L"])), record("L", ("next", ["null", "L"])), True),
    ],
)
def test_readable_pairs_are_recognized(reader: Any, writer: Any, *, follow: bool) -> None:
    assert seen(reader, writer) is follow


def test_a_pair_that_leads_back_to_itself_fails_with_what_fails_in_it() -> None:
    reader = record("L", ("next", ["null", "L"]), ("value", "int"))
    writer = record("L", ("next", ["null", "L"]), ("value", "long"))
    assert not seen(reader, writer)


def test_a_field_under_two_names_is_left_to_the_comparison_in_detail() -> None:
    reader = {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int", "aliases": ["b"]}]}
    assert seen(reader, record("R", ("b", "int")))
    assert not seen(reader, record("R", ("a", "int"), ("b", "int")))


def test_expensive_pairs_are_left_to_the_full_comparison() -> None:
    wide = record("R", *[(f"f{one}", ["null", "int"]) for one in range(200)])
    assert seen(wide, wide)
    assert not seen(wide, wide, limit=100)


def test_a_single_version_needs_no_shapes(monkeypatch: pytest.MonkeyPatch) -> None:
    def shape(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("contractlog.compatibility.engine.build_shape", shape)
    reader, writer = parsed(record("R", ("x", "long"))), parsed(record("R", ("x", "int")))
    assert check_compatibility(reader, [ParsedVersion(1, writer)], Level.BACKWARD).compatible
    assert check_compatibility(writer, [ParsedVersion(1, writer)], Level.FULL_TRANSITIVE).compatible
