# ruff: noqa: E501 -- one case per line
"""Hostile bytes on which Avro engines differ, compared with Java."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.errors import DecodeError

from support.avro_codecs import decode, encode_zigzag, record
from support.java_avro import JavaProcess
from support.java_value_comparison import request_fates

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROWS = (
    *("deep recursion", "items that take no bytes", "int in six bytes", "long in eleven bytes", "int of more than 32 bits"),
    *("long of more than 64 bits", "boolean of two", "text that is no UTF-8", "union index out of range"),
    *("enum index out of range", "trailing bytes", "truncated", "block that ends elsewhere than it says"),
)  # fmt: skip
"""Each row; the cases below say what it means."""
O = Outcome  # noqa: E741 -- one column of a table


@dataclass(frozen=True)
class Case:
    """Bytes, their outcome, and what Java's reading of them breaks: a rule of ours, or its own (the error's name)."""

    row: str
    schema: Any
    body: bytes
    outcome: Outcome
    java: str


LIST = record(("next", ["null", "R"]))
NULLS = {"type": "array", "items": "null"}
STRINGS = {"type": "array", "items": "string"}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}

CASES = [
    Case("deep recursion", LIST, b"\x02" * 8_000 + b"\x00", O.TOO_DEEP, "TOO_DEEP"),
    Case("deep recursion", LIST, b"\x02" * 200 + b"\x00", O.TOO_DEEP, "TOO_DEEP"),
    Case("items that take no bytes", NULLS, encode_zigzag(10**7) + b"\x00", O.TOO_MANY_ITEMS, "too many items"),
    Case("int in six bytes", "int", b"\x80" * 5 + b"\x00", O.BAD_VARINT, "Invalid int encoding"),
    Case("long in eleven bytes", "long", b"\x80" * 10 + b"\x00", O.BAD_VARINT, "Invalid long encoding"),
    Case("int of more than 32 bits", "int", encode_zigzag(2**31), O.INT_OUT_OF_RANGE, "INT_OUT_OF_RANGE"),
    Case("long of more than 64 bits", "long", b"\xff" * 9 + b"\x02", O.BAD_VARINT, "BAD_VARINT"),
    Case("boolean of two", "boolean", b"\x02", O.BAD_BOOLEAN, "BAD_BOOLEAN"),
    Case("text that is no UTF-8", "string", encode_zigzag(1) + b"\xff", O.BAD_UTF8, "BAD_UTF8"),
    Case("text that is no UTF-8", {"type": "map", "values": "int"}, encode_zigzag(1) + b"\x02\xff\x02\x00", O.BAD_UTF8, "BAD_UTF8"),
    Case("union index out of range", ["null", "int"], encode_zigzag(2), O.BAD_UNION_INDEX, "IndexOutOfBounds"),
    Case("union index out of range", ["null", "int"], encode_zigzag(-1), O.BAD_UNION_INDEX, "IndexOutOfBounds"),
    Case("enum index out of range", ENUM, encode_zigzag(2), O.BAD_ENUM_INDEX, "IndexOutOfBounds"),
    Case("enum index out of range", ENUM, encode_zigzag(-1), O.BAD_ENUM_INDEX, "IndexOutOfBounds"),
    Case("trailing bytes", "int", b"\x02\x00", O.TRAILING_BYTES, "TRAILING_BYTES"),
    Case("truncated", record(("s", "string")), encode_zigzag(5) + b"abc", O.TRUNCATED, "EOFException"),
    Case("truncated", "double", b"\x00" * 7, O.TRUNCATED, "EOFException"),
    Case("block that ends elsewhere than it says", STRINGS, encode_zigzag(-1) + encode_zigzag(3) + b"\x02a\x00\x00", O.BAD_LENGTH, "BAD_LENGTH"),
]  # fmt: skip


def test_each_row_has_a_case() -> None:
    assert {case.row for case in CASES} == set(ROWS)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.row}-{index}" for index, case in enumerate(CASES)])
def test_bytes_are_refused_by_java_too_or_by_a_rule_that_is_written_down(java_avro: JavaProcess, case: Case) -> None:
    [[(problem, _, broken, *_)]] = request_fates(
        java_avro, [([json.dumps(case.schema)], None, [case.body])], values=False
    )
    assert case.java in (broken or [])[:1] or case.java in (problem or "")
    with pytest.raises(DecodeError) as caught:
        decode(case.schema, case.body)
    assert caught.value.outcome is case.outcome
