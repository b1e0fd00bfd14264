# ruff: noqa: E501 -- one case per line
"""Schema resolution as in Java, for pairs on which engines differ."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from contractlog.compatibility.formats import compare_schemas
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.readers_and_writers import AvroReader
from contractlog.serdes.errors import DecodeError, ReaderMismatch

from support.avro_codecs import encode, parse, record, write_and_read

ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}
FEWER = {"type": "enum", "name": "E", "symbols": ["A", "B"], "default": "A"}
A = record(("a", "int"))
PRIMITIVES = {
    "null": None, "boolean": True, "int": 1, "long": 1, "float": 1.0, "double": 1.0, "bytes": b"b", "string": "s",
}  # fmt: skip
CASES: list[tuple[str, Any, Any, Any, Any]] = [
    ("int to long", "int", 7, "long", 7),
    ("long to double", "long", 7, "double", 7.0),
    ("float to double", "float", 1.5, "double", 1.5),
    ("long to float rounds as Java does", "long", 2**24 + 1, "float", float(2**24)),
    ("string to bytes", record(("s", "string")), {"s": "é"}, record(("s", "bytes")), {"s": "é".encode()}),
    ("items are promoted", {"type": "array", "items": "int"}, [1], {"type": "array", "items": "double"}, [1.0]),
    ("values are promoted", {"type": "map", "values": "int"}, {"k": 1}, {"type": "map", "values": "long"}, {"k": 1}),
    ("records of other names", A, {"a": 1}, record(("a", "int"), name="Other"), {"a": 1}),
    ("records of other namespaces", A, {"a": 1}, record(("a", "int"), name="x.R"), {"a": 1}),
    ("record into a union by structure", A, {"a": 1}, ["null", record(("a", "int"), name="Other")], {"a": 1}),
    ("union into what is none", ["null", "int"], 3, "int", 3),
    ("into a union by promotion", "int", 3, ["null", "double"], 3.0),
    ("into a union exactly, before promotions", "int", 3, ["double", "int"], 3),
    ("a field that went", record(("a", "int"), ("b", "string")), {"a": 1, "b": "x"}, A, {"a": 1}),
    ("fields in another order", record(("a", "int"), ("b", "int")), {"a": 1, "b": 2}, record(("b", "int"), ("a", "int")), {"b": 2, "a": 1}),
    ("a symbol that went", ENUM, "C", FEWER, "A"),
    ("a symbol that stayed", ENUM, "B", FEWER, "B"),
    ("bytes by default", A, {"a": 1}, record(("b", "bytes", "\u00ff")), {"b": b"\xff"}),
    ("a fixed by default", A, {"a": 1}, record(("f", {"type": "fixed", "name": "F", "size": 1}, "\u0001")), {"f": b"\x01"}),
    ("a double by default", A, {"a": 1}, record(("d", "double", 3)), {"d": 3.0}),
    ("infinity by default", A, {"a": 1}, record(("d", "double", "Infinity")), {"d": float("inf")}),
    ("a date by default", A, {"a": 1}, record(("d", {"type": "int", "logicalType": "date"}, 1)), {"d": date(1970, 1, 2)}),
    ("a decimal by default", A, {"a": 1}, record(("d", {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, "\u0001")), {"d": Decimal("0.01")}),
    ("a second branch by default", A, {"a": 1}, record(("u", ["null", "string"], "x")), {"u": "x"}),
    ("a record by default, filled inside", A, {"a": 1}, record(("r", record(("x", "int", 5), ("y", "int"), name="I"), {"y": 1})), {"r": {"x": 5, "y": 1}}),
    ("the reader's logical type", "long", 0, {"type": "long", "logicalType": "timestamp-millis"}, datetime(1970, 1, 1, tzinfo=UTC)),
    ("the reader's logical type, not the writer's", {"type": "long", "logicalType": "timestamp-millis"}, 1, {"type": "long", "logicalType": "timestamp-micros"}, datetime(1970, 1, 1, microsecond=1, tzinfo=UTC)),
    ("no logical type", {"type": "int", "logicalType": "date"}, date(1970, 1, 2), "int", 1),
    ("an error as a record", {**A, "type": "error"}, {"a": 1}, A, {"a": 1}),
]  # fmt: skip


@pytest.mark.parametrize(("writer", "value", "reader", "read"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_the_reader_sees(writer: Any, value: Any, reader: Any, read: Any) -> None:
    found = write_and_read(writer, value, reader)
    assert found == read
    assert type(found) is type(read)
    assert list(found) == list(read) if isinstance(read, dict) else True


def test_a_record_of_a_union_is_the_first_that_can_follow_whatever_its_name() -> None:
    old = record(("e", FEWER), ("n", ["null", "Old"]), name="Old")
    reader = [
        "null",
        record(("e", "int"), name="First"),
        record(("z", "int"), name="Second"),
        {**old, "name": "x.New"},
    ]
    reader[3] = {**record(("e", FEWER), ("n", ["null", "x.New"]), name="x.New")}
    value = {"e": "B", "n": {"e": "A", "n": None}}
    assert write_and_read(["null", old], value, reader) == value
    assert write_and_read(["null", old], None, reader) is None


def test_fields_are_found_by_the_readers_aliases() -> None:
    reader = record(("z", "int"))
    reader["fields"][0]["aliases"] = ["a"]
    assert write_and_read(A, {"a": 1}, reader) == {"z": 1}


def test_an_alias_never_takes_a_field_that_is_there_by_name() -> None:
    reader = record(("a", "int"), ("z", "int", 9))
    reader["fields"][1]["aliases"] = ["a"]
    assert write_and_read(A, {"a": 1}, reader) == {"a": 1, "z": 9}


def test_enums_and_fixed_are_found_by_alias() -> None:
    assert write_and_read(ENUM, "A", {**ENUM, "name": "New", "aliases": ["E"]}) == "A"


@pytest.mark.parametrize(
    ("name", "alias", "readable"),
    [("x.B", "y.A", True), ("x.A", "x.A", True), ("x.A", "y.A", False), ("A", "y.A", False), ("A", "A", False)],
)
@pytest.mark.parametrize("union", [False, True])
def test_definitions_are_matched_by_short_name_or_full_alias_as_the_compatibility_checks_do(
    name: str, alias: str, *, readable: bool, union: bool
) -> None:
    """As in Java; an alias without a namespace is in the reader's."""
    for more, value in (({"type": "fixed", "size": 2}, b"ab"), ({"type": "enum", "symbols": ["S"]}, "S")):
        writer = {**more, "name": name}
        definition = {**more, "name": "n.B", "aliases": [alias]}
        reader = [definition, "null"] if union else definition
        assert (list(compare_schemas(parse(reader), parse(writer))) == []) is readable
        if readable:
            assert write_and_read(writer, value, reader) == value
        else:
            with pytest.raises(ReaderMismatch):
                write_and_read(writer, value, reader)


@pytest.mark.parametrize("written", PRIMITIVES)
@pytest.mark.parametrize("read", PRIMITIVES)
def test_primitives_are_promoted_exactly_if_the_compatibility_checks_allow_it(written: str, read: str) -> None:
    if list(compare_schemas(parse(read), parse(written))):
        with pytest.raises(ReaderMismatch):
            write_and_read(written, PRIMITIVES[written], read)
    else:
        write_and_read(written, PRIMITIVES[written], read)


def test_recursive_types_are_followed() -> None:
    writer = record(("v", "int"), ("next", ["null", "R"]))
    reader = record(("v", "long"), ("next", ["null", "R"], None), ("new", "string", "n"))
    value = {"v": 1, "next": {"v": 2, "next": None}}
    assert write_and_read(writer, value, reader) == {"v": 1, "next": {"v": 2, "next": None, "new": "n"}, "new": "n"}


def test_each_record_has_a_default_of_its_own() -> None:
    reader = AvroReader(parse(A), parse(record(("l", {"type": "array", "items": "int"}, []))))
    first = reader.decode(encode(A, {"a": 1}))
    first["l"].append(1)
    assert reader.decode(encode(A, {"a": 1})) == {"l": []}


MISMATCHES: list[tuple[Any, Any, Any, str]] = [
    (A, {"a": 1}, record(("b", "int")), "b"),
    ("string", "x", "int", ""),
    (record(("a", ["null", "string"])), {"a": "x"}, record(("a", ["null", "int"])), "a"),
    (ENUM, "C", {"type": "enum", "name": "E", "symbols": ["A"]}, ""),
    (ENUM, "A", {"type": "enum", "name": "Other", "symbols": ["A"]}, ""),
    ({"type": "fixed", "name": "F", "size": 1}, b"x", {"type": "fixed", "name": "F", "size": 2}, ""),
]


@pytest.mark.parametrize(("writer", "value", "reader", "field"), MISMATCHES)
def test_mismatches_of_the_reader_are_not_errors_of_the_bytes(writer: Any, value: Any, reader: Any, field: str) -> None:
    with pytest.raises(ReaderMismatch) as caught:
        write_and_read(writer, value, reader)
    assert caught.value.field == field


@pytest.mark.parametrize(
    ("kind", "default", "told"),
    [
        ("int", "x", ""),
        ("int", 2**40, ": 1099511627776 does not fit 32 bits"),
        (ENUM, "Z", ""),
        ({"type": "string", "logicalType": "uuid"}, "x", ": 'x' is no UUID"),
        (
            {"type": "bytes", "logicalType": "decimal", "precision": 2},
            "\u007f\u007f",
            ": the number has more than 2 digits",
        ),
        (["null", "int"], "x", ""),
    ],
)
def test_a_default_that_is_none_is_the_readers_fault_and_told_before_the_first_record(
    kind: Any, default: Any, told: str
) -> None:
    wanted = record(("b", kind, default))
    reason = f"the field is missing, and its default is not a value of its type{told}"
    with pytest.raises(ReaderMismatch) as prepared:
        AvroReader(parse(A), parse(wanted)).require_readable()
    with pytest.raises(ReaderMismatch) as met:
        write_and_read(A, {"a": 1}, wanted)
    for error in (prepared.value, met.value):
        assert (error.field, error.reason) == ("b", reason)


def test_a_branch_that_the_reader_lacks_fails_only_where_it_is_met() -> None:
    writer, reader = record(("a", ["null", "string"])), record(("a", ["null", "int"]))
    assert write_and_read(writer, {"a": None}, reader) == {"a": None}


def test_damage_comes_before_what_the_reader_cannot_follow() -> None:
    reader = AvroReader(parse(record(("s", "string"), ("i", "int"))), parse(record(("s", "int"))))
    with pytest.raises(DecodeError) as caught:
        reader.decode(b"\x02a")
    assert (caught.value.outcome, caught.value.field) == (Outcome.TRUNCATED, "i")


def test_records_of_unions_can_be_read_with_their_names() -> None:
    schema = ["null", record(("a", "int"), name="shop.Card")]
    body = encode(schema, {"a": 1})
    assert AvroReader(parse(schema), named_records=True).decode(body) == ("shop.Card", {"a": 1})
    wider = ["null", record(("a", "long"), name="shop.Card")]
    assert AvroReader(parse(schema), parse(wider), named_records=True).decode(body) == ("shop.Card", {"a": 1})
