"""Descriptions of changes: their risk, and the levels that permit them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.formats import CATALOGUE, parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.named_change import NamedChange, Risk, name_changes
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.compatibility.schema_diff import DiffSide, SchemaDiff, diff_schemas

_BACKWARD = [Level.NONE, Level.BACKWARD, Level.BACKWARD_TRANSITIVE]
_FORWARD = [Level.NONE, Level.FORWARD, Level.FORWARD_TRANSITIVE]


def side(text: str, schema_type: SchemaType) -> DiffSide:
    return DiffSide("", text, parse_schema(SchemaDraft(text, schema_type), strict=False))


def diff(earlier: str, later: str, schema_type: SchemaType = SchemaType.AVRO) -> SchemaDiff:
    sides = side(earlier, schema_type), side(later, schema_type)
    return diff_schemas(*sides, level=Level.FULL, policy=Policy.STRICT)


def record(*fields: Any, **members: Any) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": list(fields), **members})


def field(schema_type: Any, **members: Any) -> dict[str, Any]:
    return {"name": "x", "type": schema_type, **members}


def enum(*symbols: str, **members: Any) -> dict[str, Any]:
    return {"type": "enum", "name": "Status", "symbols": list(symbols), **members}


INNER = {"type": "record", "name": "Leg", "fields": [field("int")]}
WIDER = {"type": "record", "name": "Leg", "fields": [field("long")]}


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        (record(), record(field("double", default=0.0)), ["harmless: field `x` added with default 0.0"]),
        (record(), record(field("int")), ["breaking: field `x` added without a default"]),
        (record(field("int")), record(), ["breaking: field `x` removed, which had no default"]),
        (record(field("int", default=1)), record(), ["harmless: field `x` removed, which had a default"]),
        (
            record(field("int")),
            record({**field("int"), "name": "y", "aliases": ["x"]}),
            ["breaking: field `x` renamed to `y`, with an alias"],
        ),
        (record(field("int")), record(field("string")), ["breaking: type of field `x` changed from `int` to `string`"]),
        (
            record(field("int")),
            record(field(["null", "int"])),
            ["breaking: type of field `x` changed from `int` to `null | int`"],
        ),
        (
            record(field(["null", "int"])),
            record(field(["null", "string"])),
            ["breaking: union of field `x` lost `int`", "breaking: union of field `x` gained `string`"],
        ),
        (record(field(["null", "int"])), record(field(["int", "null"])), ["harmless: union of field `x` reordered"]),
        (
            record(field("int", default=1)),
            record(field("int", default=2)),
            ["dangerous: default of field `x` changed from 1 to 2"],
        ),
        (record(field("int")), record(field("int", default=2)), ["harmless: default of field `x` added: 2"]),
        (
            record(field(enum("A", "B"))),
            record(field(enum("A", "C"))),
            ["breaking: enum `Status` lost symbol `B`", "breaking: enum `Status` gained symbol `C`"],
        ),
        (
            record(field(enum("A", "B"))),
            record(field(enum("B", "A"))),
            ["harmless: symbols of enum `Status` reordered"],
        ),
        (
            record(field(enum("A", "B", default="A"))),
            record(field(enum("A", "B", default="B"))),
            ["dangerous: default of enum `Status` changed from `A` to `B`"],
        ),
        (
            record(field(enum("A", "B", default="A"))),
            record(field(enum("A", default="A"))),
            ["dangerous: enum `Status` lost symbol `B`"],
        ),
        (
            record(field(enum("A", "B", default="A"))),
            record(field(enum("A", "C", default="C"))),
            [
                "dangerous: enum `Status` lost symbol `B`",
                "dangerous: default of enum `Status` changed from `A` to `C`",
                "harmless: enum `Status` gained symbol `C`",
            ],
        ),
        (
            record(field(INNER)),
            record(field(WIDER)),
            ["breaking: type of field `x` of `Leg` changed from `int` to `long`"],
        ),
        (
            record(field({"type": "array", "items": "int"})),
            record(field({"type": "array", "items": "long"})),
            ["breaking: type of items of field `x` changed from `int` to `long`"],
        ),
        (
            record(field({"type": "fixed", "name": "F", "size": 1})),
            record(field({"type": "fixed", "name": "F", "size": 2})),
            ["breaking: size of fixed `F` changed from 1 to 2 bytes"],
        ),
        (
            record(field({"type": "long", "logicalType": "timestamp-millis"})),
            record(field({"type": "long", "logicalType": "timestamp-micros"})),
            ["dangerous: logical type of field `x` changed from timestamp-millis to timestamp-micros"],
        ),
        (
            record(field("int")),
            record(field("int", doc="d", pii=True), doc="e"),
            [
                "harmless: documentation of record `Order` added",
                "harmless: documentation of field `x` added",
                "harmless: property `pii` of field `x` changed",
            ],
        ),
        (record(namespace="a"), record(namespace="b"), ["harmless: record `a.Order` renamed to `b.Order`"]),
        (record(), record(name="Bill"), ["breaking: type of the schema changed from `Order` to `Bill`"]),
        ('"int"', '"long"', ["breaking: type of the schema changed from `int` to `long`"]),
        (record(field("int")), " " + record(field("int")), []),
    ],
)
def test_avro_changes_in_words(earlier: str, later: str, expected: list[str]) -> None:
    assert [f"{change.risk.value}: {change.text}" for change in name_changes(diff(earlier, later))] == expected


def test_a_change_has_the_levels_that_admit_it() -> None:
    lost, gained = name_changes(diff(json.dumps(enum("A", "B")), json.dumps(enum("A", "C"))))
    assert (list(lost.levels), lost.checks) == (_FORWARD, ("AVRO_ENUM_SYMBOLS_MISSING", "AVRO_ENUM_DEFAULT_MISSING"))
    assert list(gained.levels) == _BACKWARD
    (added,) = name_changes(diff(record(), record(field("int", default=1))))
    assert (added.levels, added.pointer) == (tuple(Level), "/fields/0")


def test_json_changes_in_words() -> None:
    earlier = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    properties = {"a": {"type": "string", "default": "x"}, "b": {"type": "integer"}}
    later = {"type": "object", "title": "t", "properties": properties}
    changes = name_changes(diff(json.dumps(earlier), json.dumps(later), SchemaType.JSON))
    assert [change.risk for change in changes] == [Risk.BREAKING, Risk.DANGEROUS, Risk.HARMLESS]
    assert "the title changed" in changes[-1].text


def test_the_levels_of_all_changes_are_those_of_the_whole_change() -> None:
    compared = 0
    for check in CATALOGUE.values():
        schema_type = SchemaType.JSON if check.id.startswith("JSON_") else SchemaType.AVRO
        for example in filter(None, (check.bad, check.good)):
            for earlier, later in ((example.writer, example.reader), (example.reader, example.writer)):
                if check.id == "SCHEMA_TYPE_CHANGED":
                    continue
                difference = diff(earlier, later, schema_type)
                changes = name_changes(difference)
                assert admitted_by_all(changes) == set(difference.change.levels), (check.id, changes)
                found = {finding.finding.check for finding in difference.findings}
                assert found <= {each for change in changes for each in change.checks}
                compared += 1
    assert compared > 50


def admitted_by_all(changes: list[NamedChange]) -> set[Level]:
    return set(Level).intersection(*(change.levels for change in changes))


def test_another_type_of_schema_is_one_change() -> None:
    sides = side('"int"', SchemaType.AVRO), side("true", SchemaType.JSON)
    (change,) = name_changes(diff_schemas(*sides, level=Level.FULL, policy=Policy.STRICT))
    assert (change.risk, change.levels) == (Risk.BREAKING, (Level.NONE,))
