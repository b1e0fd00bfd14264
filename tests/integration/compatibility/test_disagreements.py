"""Known differences from Java Avro, each with its smallest pair of schemas.

Classes by their rows in ``docs/compatibility.md``; the open assumption, the branch under another namespace, the aliases
and the default of a later branch stand in ``test_java_avro.py``. A finding that is told once has no decoding: both
refuse.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import compare_schemas, parse_schema
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes.errors import ReaderMismatch

from support.avro_codecs import decode, encode, parse, write_and_read
from support.java_avro import JavaProcess

pytestmark = [pytest.mark.integration, pytest.mark.spark]


def record(name: str, *fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


def field(name: str, kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def javas(java: JavaProcess, reader: Any, writer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return Java's verdict, and what came of its decoding."""
    texts = {"reader": [json.dumps(reader)], "writer": [json.dumps(writer)]}
    compared, decoded = java.ask([{"op": "compare", **texts}, {"op": "decode", **texts, "seed": 1, "count": 20}])
    return compared, decoded


def parse_error(java: JavaProcess, schema: Any) -> str:
    (answer,) = java.ask([{"op": "parse", "schema": [json.dumps(schema)], "strict": True}])
    error: str = answer["error"]
    return error


def test_a_union_default_beside_an_open_record_is_filled_in(java_avro: JavaProcess) -> None:
    """Java's parser fails, so it decodes nothing; the default is the map, as the record would need ``b``."""
    reader = record("R", field("b", "int"), field("a", ["R", {"type": "map", "values": "long"}], default={}))
    writer = record("R", field("b", "int"))
    assert "Schema fields not set yet" in parse_error(java_avro, reader)
    assert parse_schema(SchemaDraft(json.dumps(reader)), strict=True)
    assert list(compare_schemas(parse(reader), parse(writer))) == []
    assert write_and_read(writer, {"b": 1}, reader) == {"b": 1, "a": {}}


def test_a_recursive_type_that_is_defined_twice_alike_is_that_type(java_avro: JavaProcess) -> None:
    """Java's parser fails; it reads the same data by our canonical text, which defines the type once."""
    node = record("A", field("n", ["null", "A"]))
    twice = record("R", field("a", ["null", node]), field("b", ["null", node]))
    assert "Can't redefine: A" in parse_error(java_avro, twice)
    once = json.loads(parse_schema(SchemaDraft(json.dumps(twice)), strict=True).canonical)
    assert once == record("R", field("a", ["null", node]), field("b", ["null", "A"]))
    assert javas(java_avro, once, once) == ({"findings": []}, {"read": 20})
    value = {"a": {"n": {"n": None}}, "b": {"n": None}}
    assert encode(twice, value) == encode(once, value)
    assert decode(twice, encode(once, value)) == value


def test_data_of_a_stored_name_that_no_new_schema_may_have_is_read(java_avro: JavaProcess) -> None:
    """Java refuses the name, stored or not; names are not in the bytes, so it reads them under another."""
    old, renamed = (record(name, field("x", "int")) for name in ("a..b", "a.b"))
    assert "Empty name" in javas(java_avro, old, old)[0]["error"]
    with pytest.raises(InvalidSchema):
        parse_schema(SchemaDraft(json.dumps(old)), strict=True)
    assert list(compare_schemas(parse(old), parse(old))) == []
    assert javas(java_avro, renamed, renamed) == ({"findings": []}, {"read": 20})
    assert encode(old, {"x": 3}) == encode(renamed, {"x": 3})
    assert decode(old, encode(renamed, {"x": 3})) == {"x": 3}


def test_an_ambiguous_field_is_refused_by_both_though_both_would_read_it_by_its_name(java_avro: JavaProcess) -> None:
    """The reference refuses by an exception, here it is a finding; a decoding tells nothing apart."""
    reader = record("R", field("a", "int", aliases=["b"]), field("b", "int"))
    writer = record("R", field("a", "int"), field("b", "int"))
    compared, decoded = javas(java_avro, reader, writer)
    assert "matches multiple fields" in compared["error"]
    assert decoded == {"read": 20}
    assert [finding.check for finding in compare_schemas(parse(reader), parse(writer))] == ["AVRO_FIELD_AMBIGUOUS"]
    assert write_and_read(writer, {"a": 1, "b": 2}, reader) == {"a": 1, "b": 2}


ENUM = {"type": "enum", "name": "E", "symbols": ["A"]}


@pytest.mark.parametrize(
    ("kind", "default"),
    [([{"type": "array", "items": "int"}, "null"], None), ([ENUM, "string"], "Z")],
    ids=["null of a later branch", "string of a later branch"],
)
def test_a_default_of_a_later_branch_is_read_here_and_not_by_java(
    java_avro: JavaProcess, kind: Any, default: Any
) -> None:
    reader = record("R", field("a", kind, default=default))
    compared, decoded = javas(java_avro, reader, record("R"))
    assert compared == {"findings": []}
    assert "error" in decoded
    assert list(compare_schemas(parse(reader), parse(record("R")))) == []
    assert write_and_read(record("R"), {}, reader) == {"a": default}


@pytest.mark.parametrize(
    ("kind", "default", "java_reads"),
    [
        (ENUM, "Z", False),
        ({**ENUM, "default": "A"}, "Z", False),
        ({"type": "fixed", "name": "F", "size": 2}, "a", True),
        ("bytes", "\u0100", True),
    ],
    ids=["no symbol", "no symbol, though the enum has a default", "fixed of another size", "no byte"],
)
def test_a_default_that_java_takes_for_one_and_that_is_none_is_admitted_as_there_and_read_as_an_error(
    java_avro: JavaProcess, kind: Any, default: str, *, java_reads: bool
) -> None:
    """No decoding can prove a verdict here: Java fails too, or reads a value that is none of the type."""
    reader = record("R", field("a", kind, default=default))
    compared, decoded = javas(java_avro, reader, record("R"))
    assert compared == {"findings": []}
    assert ("error" not in decoded) == java_reads
    assert parse_schema(SchemaDraft(json.dumps(reader)), strict=True)
    assert list(compare_schemas(parse(reader), parse(record("R")))) == []
    with pytest.raises(ReaderMismatch, match="its default is not a value of its type"):
        write_and_read(record("R"), {}, reader)


def test_an_endless_default_is_the_branch_that_ends(java_avro: JavaProcess) -> None:
    reader = record("R", field("a", ["R", "float"], default=1.5))
    compared, decoded = javas(java_avro, reader, record("R"))
    assert compared == {"findings": []}
    assert "StackOverflowError" in decoded["error"]
    assert list(compare_schemas(parse(reader), parse(record("R")))) == []
    assert write_and_read(record("R"), {}, reader) == {"a": 1.5}


def test_a_default_that_has_no_end_is_an_error_in_words(java_avro: JavaProcess) -> None:
    reader = record("R", field("a", ["R", {"type": "map", "values": "long"}], default={}))
    assert "Schema fields not set yet" in parse_error(java_avro, reader)
    assert "StackOverflowError" in javas(java_avro, reader, record("R"))[1]["error"]
    with pytest.raises(ReaderMismatch):
        write_and_read(record("R"), {}, reader)
