# ruff: noqa: E501 -- one case per line
"""Schema resolutions on which Avro engines differ, compared with Java."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from contractlog.serdes.errors import ReaderMismatch

from support.avro_codecs import encode, record, write_and_read
from support.java_avro import JavaProcess
from support.java_value_comparison import encode_value, request_fates

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROWS = (
    *("record names differ", "record into a union under another name", "same short name in another namespace"),
    *("record alias", "field alias", "enum alias", "alias of another namespace", "unknown symbol with a default", "unknown symbol, default of the field only"),
    *("string and bytes", "promotion inside an array", "union into what is none", "default of bytes", "default of a fixed"),
    *("default of a decimal", "default of a date", "default of a double as an integer", "default of a double as NaN"),
    *("record default without a field that has its own", "union default of the second branch", "decimal of another scale"),
    *("milliseconds as microseconds", "error and record", "promotion inside a recursive record"),
)  # fmt: skip
"""Each row; the cases below say what it means."""
CANNOT = object()  #: neither Java nor we can read it


@dataclass(frozen=True)
class Case:
    """A value as it was written, and as it is read by another schema."""

    row: str
    writer: Any
    value: Any
    reader: Any
    read: Any


ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B", "C"]}
FEWER = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
A = record(("a", "int"))
CENTS = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
MICROS = {"type": "long", "logicalType": "timestamp-micros"}
DAY = {"type": "int", "logicalType": "date"}
FIXED = {"type": "fixed", "name": "F", "size": 1}
INNER = record(("x", "int", 5), ("y", "int"), name="I")
LIST, LONGS = (record(("v", kind), ("next", ["null", "R"])) for kind in ("int", "long"))


def aliased(schema: Any, *names: str) -> Any:
    return {**schema, "aliases": list(names)}


def with_field_alias(schema: Any, name: str) -> Any:
    return {**schema, "fields": [{**schema["fields"][0], "aliases": [name]}]}


CASES = [
    Case("record names differ", A, {"a": 1}, record(("a", "int"), name="Other"), {"a": 1}),
    Case("record into a union under another name", A, {"a": 1}, ["null", record(("a", "int"), name="Other")], {"a": 1}),
    Case("same short name in another namespace", A, {"a": 1}, record(("a", "int"), name="x.R"), {"a": 1}),
    Case("record alias", A, {"a": 1}, aliased(record(("a", "long"), name="New"), "R"), {"a": 1}),
    Case("field alias", A, {"a": 1}, with_field_alias(record(("b", "int")), "a"), {"b": 1}),
    Case("enum alias", ENUM, "B", aliased({**ENUM, "name": "New"}, "E"), "B"),
    Case("alias of another namespace", {**ENUM, "name": "x.E"}, "B", aliased({**ENUM, "name": "n.New"}, "y.E"), CANNOT),
    Case("alias of another namespace", {**FIXED, "name": "x.F"}, b"f", aliased({**FIXED, "name": "n.New"}, "y.F"), CANNOT),
    Case("alias of another namespace", {**FIXED, "name": "x.F"}, b"f", [aliased({**FIXED, "name": "n.New"}, "F"), "null"], CANNOT),
    Case("unknown symbol with a default", ENUM, "C", {**FEWER, "default": "A"}, "A"),
    Case("unknown symbol with a default", ENUM, "B", {**FEWER, "default": "A"}, "B"),
    Case("unknown symbol, default of the field only", record(("e", ENUM)), {"e": "C"}, record(("e", FEWER, "A")), CANNOT),
    Case("string and bytes", record(("s", "string")), {"s": "é"}, record(("s", "bytes")), {"s": "é".encode()}),
    Case("string and bytes", record(("s", "bytes")), {"s": "é".encode()}, record(("s", "string")), {"s": "é"}),
    Case("promotion inside an array", {"type": "array", "items": "int"}, [1, 2], {"type": "array", "items": "double"}, [1.0, 2.0]),
    Case("union into what is none", ["null", "int"], 3, "int", 3),
    Case("union into what is none", ["null", "int"], None, "int", CANNOT),
    Case("default of bytes", A, {"a": 1}, record(("b", "bytes", "\u00ff")), {"b": b"\xff"}),
    Case("default of a fixed", A, {"a": 1}, record(("f", FIXED, "\u00fe")), {"f": b"\xfe"}),
    Case("default of a decimal", A, {"a": 1}, record(("d", CENTS, "\u0001\u0000")), {"d": Decimal("2.56")}),
    Case("default of a date", A, {"a": 1}, record(("d", DAY, 1)), {"d": date(1970, 1, 2)}),
    Case("default of a double as an integer", A, {"a": 1}, record(("d", "double", 3)), {"d": 3.0}),
    Case("default of a double as NaN", A, {"a": 1}, record(("d", "double", "NaN")), {"d": float("nan")}),
    Case("record default without a field that has its own", A, {"a": 1}, record(("r", INNER, {"y": 1})), {"r": {"x": 5, "y": 1}}),
    Case("union default of the second branch", A, {"a": 1}, record(("u", ["null", "string"], "x")), {"u": "x"}),
    Case("decimal of another scale", CENTS, Decimal("1.25"), {**CENTS, "scale": 3}, Decimal("0.125")),
    Case("milliseconds as microseconds", MILLIS, 1, MICROS, datetime(1970, 1, 1, microsecond=1, tzinfo=UTC)),
    Case("error and record", {**A, "type": "error"}, {"a": 1}, A, {"a": 1}),
    Case("promotion inside a recursive record", LIST, {"v": 1, "next": {"v": 2, "next": None}}, LONGS, {"v": 1, "next": {"v": 2, "next": None}}),
]  # fmt: skip


def test_each_row_has_a_case() -> None:
    assert {case.row for case in CASES} == set(ROWS)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.row}-{index}" for index, case in enumerate(CASES)])
def test_a_value_is_read_as_java_reads_it(java_avro: JavaProcess, case: Case) -> None:
    body = encode(case.writer, case.value)
    [[fate]] = request_fates(
        java_avro, [([json.dumps(case.writer)], [json.dumps(case.reader)], [_framed(case.writer, body)])]
    )
    assert fate[:3] == (None, len(_framed(case.writer, body)), [])
    if case.read is CANNOT:
        assert fate[3]
        with pytest.raises(ReaderMismatch):
            write_and_read(case.writer, case.value, case.reader)
        return
    assert fate[3:] == (None, encode_value(case.read))
    assert encode_value(write_and_read(case.writer, case.value, case.reader)) == encode_value(case.read)


def _framed(schema: Any, body: bytes) -> bytes:
    """A body that is bytes alone has no length here, as in Kafka; Java's decoder wants one."""
    bare = isinstance(schema, dict) and schema["type"] == "bytes"
    return bytes([2 * len(body)]) + body if bare else body
