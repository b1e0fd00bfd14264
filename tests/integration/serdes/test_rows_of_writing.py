# ruff: noqa: E501 -- one case per line
"""Values on which Avro engines differ in writing; Java reads the result."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest

from contractlog.serdes.errors import EncodeError

from support.avro_codecs import encode, encode_zigzag, record
from support.java_avro import JavaProcess
from support.java_value_comparison import encode_value, request_fates

pytestmark = [pytest.mark.integration, pytest.mark.spark]

ROWS = (
    *("int beyond 32 bits", "fraction as an int", "boolean as an int", "any value for null", "number beyond a float"),
    *(
        "missing field that takes null",
        "text that is no UUID",
        "UUID in a fixed",
        "timestamp in nanoseconds",
        "duration",
    ),
    *("big-decimal", "decimal beyond its precision", "decimal beyond its scale", "datetime without a zone"),
    *("union of records by most fields", "union by the first match", "branch by a tuple", "branch by -type"),
    *("the place is named",),
)
"""Each row; the cases below say what it means."""


@dataclass(frozen=True)
class Written:
    """A value, and what Java reads of the bytes."""

    row: str
    schema: Any
    value: Any
    java: Any


@dataclass(frozen=True)
class Refused:
    """A value that is refused, and where."""

    row: str
    schema: Any
    value: Any
    where: str = ""


UUID_TEXT = {"type": "string", "logicalType": "uuid"}
UUID_FIXED = {"type": "fixed", "name": "F", "size": 16, "logicalType": "uuid"}
ANY = UUID("12345678-1234-5678-1234-567812345678")
CENTS = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
NANOS = {"type": "long", "logicalType": "timestamp-nanos"}
DURATION = {"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}
BIG = {"type": "bytes", "logicalType": "big-decimal"}
CARD = record(("n", "int"), ("x", ["null", "int"], None), name="shop.Card")
CASH = record(("n", "int"), ("y", ["null", "int"], None), name="shop.Cash")
LEGS = record(("legs", {"type": "array", "items": record(("n", "int"), name="Leg")}))
NOON = datetime(2013, 7, 1, 12)  # noqa: DTZ001 -- that is the row
MOMENT = datetime(2013, 7, 1, microsecond=7, tzinfo=UTC)
LOCAL = {"type": "long", "logicalType": "local-timestamp-millis"}

CASES: list[Written | Refused] = [
    Refused("int beyond 32 bits", record(("i", "int")), {"i": 2**31}, "i"),
    Written("int beyond 32 bits", record(("i", "int")), {"i": 2**31 - 1}, {"i": 2**31 - 1}),
    Refused("fraction as an int", "int", 1.7),
    Refused("boolean as an int", "int", True),  # noqa: FBT003
    Refused("any value for null", "null", "x"),
    Refused("number beyond a float", "float", 1e300),
    Written("missing field that takes null", record(("a", ["null", "int"]), ("b", "int")), {"b": 1}, {"a": None, "b": 1}),
    Refused("missing field that takes null", record(("a", ["string", "int"])), {}, "a"),
    Refused("text that is no UUID", UUID_TEXT, "nope"),
    Written("text that is no UUID", UUID_TEXT, str(ANY), ANY),
    Written("UUID in a fixed", UUID_FIXED, ANY.bytes, ANY),
    Written("UUID in a fixed", UUID_FIXED, ANY, ANY),
    Written("timestamp in nanoseconds", NANOS, MOMENT, MOMENT),
    Written("timestamp in nanoseconds", NANOS, 1_372_680_000_123_456_789, None),
    Written("duration", DURATION, b"123456789012", b"123456789012"),
    Written("big-decimal", record(("b", BIG)), {"b": b"\x02\x01\x00"}, {"b": b"\x02\x01\x00"}),
    Refused("decimal beyond its precision", CENTS, Decimal("123.45")),
    Refused("decimal beyond its scale", CENTS, Decimal("1.234")),
    Written("decimal beyond its scale", record(("d", CENTS)), {"d": Decimal("-12.3")}, {"d": Decimal("-12.30")}),
    Written("datetime without a zone", MILLIS, NOON, NOON.astimezone(UTC)),
    Written("datetime without a zone", LOCAL, NOON, NOON),
    Written("union of records by most fields", ["null", CARD, CASH], {"n": 1, "y": 2}, {"n": 1, "y": 2}),
    Written("union by the first match", ["int", "long", "string"], 5, 5),
    Written("union by the first match", ["int", "long", "string"], 2**40, 2**40),
    Written("branch by a tuple", ["null", CARD, CASH], ("shop.Cash", {"n": 1}), {"n": 1, "y": None}),
    Written("branch by -type", ["null", CARD, CASH], {"-type": "shop.Cash", "n": 1}, {"n": 1, "y": None}),
    Refused("the place is named", LEGS, {"legs": [{"n": 1}, {"n": 1.5}]}, "legs[1].n"),
    Refused("the place is named", LEGS, {"legs": [{"n": True}]}, "legs[0].n"),
]  # fmt: skip


def test_each_row_has_a_case() -> None:
    assert {case.row for case in CASES} == set(ROWS)


@pytest.mark.parametrize("case", CASES, ids=[f"{case.row}-{index}" for index, case in enumerate(CASES)])
def test_java_reads_what_is_written_and_what_it_would_read_as_another_value_is_not(
    java_avro: JavaProcess, case: Written | Refused
) -> None:
    if isinstance(case, Refused):
        with pytest.raises(EncodeError) as caught:
            encode(case.schema, case.value)
        assert caught.value.where == case.where
        return
    body = encode(case.schema, case.value)
    if isinstance(case.schema, dict) and case.schema["type"] == "bytes":
        body = bytes([2 * len(body)]) + body  # bare here, as in Kafka
    [[fate]] = request_fates(java_avro, [([json.dumps(case.schema)], None, [body])])
    wanted = {"instant": str(case.value)} if case.java is None else encode_value(case.java)
    assert fate == (None, len(body), [], None, wanted)


def test_java_reads_zero_where_other_clients_write_an_int_beyond_32_bits(java_avro: JavaProcess) -> None:
    """Why it is refused: the bytes that a long of this value has are an int of another value to Java."""
    [[fate]] = request_fates(java_avro, [(['"int"'], None, [encode_zigzag(2**31)])])
    assert fate == (None, 5, ["INT_OUT_OF_RANGE"], None, 0)
