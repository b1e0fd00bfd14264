"""Outcomes of single cases, as the specification and the catalogue require."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from contractlog.spark_validation.columnar.limits import ValidationLimits

from support.columnar import MANY, create_validator, encode_text, encode_varint, list_outcomes, validate_bodies

NODE = {
    "type": "record",
    "name": "Node",
    "fields": [{"name": "value", "type": "int"}, {"name": "next", "type": ["null", "Node"]}],
}
PAIR = {"type": "record", "name": "Pair", "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]}
COLOR = {"type": "enum", "name": "Color", "symbols": ["RED", "GREEN"]}
MAYBE = ["null", "string"]
LONGS = {"type": "array", "items": "long"}
TAGS = {"type": "map", "values": "int"}
NULLS = {"type": "array", "items": "null"}
UUID = {"type": "string", "logicalType": "uuid"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
MONEY = {"type": "fixed", "name": "Money", "size": 10, "logicalType": "decimal", "precision": 20, "scale": 2}
SIXTEEN = {"type": "fixed", "name": "Sixteen", "size": 16, "logicalType": "uuid"}


def logical(kind: str, name: str) -> dict[str, Any]:
    return {"type": kind, "logicalType": name}


def nodes(depth: int) -> bytes:
    return b"\x02\x02" * (depth - 1) + b"\x02\x00"


LAST = encode_varint(-(2**63))  # ten bytes, the last of which is 1
CASES: list[tuple[str, Any, bytes, str]] = [
    # --- bytes that end early, and bytes that are left
    ("no body for a record with fields", PAIR, b"", "TRUNCATED"),
    ("truncated inside an integer", "long", b"\x80", "TRUNCATED"),
    ("truncated inside a string", PAIR, b"\x02\x08abc", "TRUNCATED"),
    ("truncated inside a double", "double", b"\0" * 7, "TRUNCATED"),
    ("no body for a boolean", "boolean", b"", "TRUNCATED"),
    ("missing end block of an array", LONGS, encode_varint(1) + encode_varint(5), "TRUNCATED"),
    ("missing end block of a map", TAGS, encode_varint(1) + encode_text("k") + encode_varint(5), "TRUNCATED"),
    ("trailing bytes", "long", b"\x02\x02", "TRAILING_BYTES"),
    ("trailing bytes after nothing", "null", b"\0", "TRAILING_BYTES"),
    ("trailing bytes after an array", LONGS, b"\0\0", "TRAILING_BYTES"),
    ("an empty record is no bytes", {"type": "record", "name": "E", "fields": []}, b"", "CONFORMS"),
    # --- text
    ("a string that is not UTF-8", "string", encode_text(b"a\xff"), "BAD_UTF8"),
    (
        "a map key that is not UTF-8",
        TAGS,
        encode_varint(1) + encode_text(b"\xc3") + encode_varint(1) + b"\0",
        "BAD_UTF8",
    ),
    ("an overlong form", "string", encode_text(b"\xc0\xaf"), "BAD_UTF8"),
    ("a surrogate", "string", encode_text(b"\xed\xa0\x80"), "BAD_UTF8"),
    ("beyond Unicode", "string", encode_text(b"\xf4\x90\x80\x80"), "BAD_UTF8"),
    ("a code point cut in two", "string", encode_text("é".encode()[:1]) + "é".encode()[1:], "BAD_UTF8"),
    ("every plane of Unicode", "string", encode_text("aé日😀"), "CONFORMS"),
    ("bytes may be anything", "bytes", encode_text(b"\xff\xfe"), "CONFORMS"),
    # --- enums and unions
    ("an enum index that is the size", COLOR, encode_varint(2), "BAD_ENUM_INDEX"),
    ("a negative enum index", COLOR, encode_varint(-1), "BAD_ENUM_INDEX"),
    ("a union index that is too big", MAYBE, encode_varint(2), "BAD_UNION_INDEX"),
    ("a negative union index", MAYBE, encode_varint(-1), "BAD_UNION_INDEX"),
    # --- lengths
    ("a negative length", "string", encode_varint(-1), "BAD_LENGTH"),
    ("a length of 2^40", "bytes", encode_varint(2**40) + b"x", "BAD_LENGTH"),
    ("a length that is possible, but not here", "bytes", encode_varint(2**30) + b"x", "TRUNCATED"),
    # --- integers
    ("the largest int", "int", encode_varint(2**31 - 1), "CONFORMS"),
    ("the smallest int", "int", encode_varint(-(2**31)), "CONFORMS"),
    ("an int of 2^31 in five bytes", "int", encode_varint(2**31), "INT_OUT_OF_RANGE"),
    ("an int in six bytes", "int", b"\x82\x80\x80\x80\x80\x00", "BAD_VARINT"),
    ("an int padded to five bytes", "int", b"\x82\x80\x80\x80\x00", "CONFORMS"),
    ("the largest long", "long", encode_varint(2**63 - 1), "CONFORMS"),
    ("the smallest long", "long", LAST, "CONFORMS"),
    ("a long in eleven bytes", "long", b"\x82" + b"\x80" * 9 + b"\x00", "BAD_VARINT"),
    ("a long of ten bytes that overflows", "long", b"\xff" * 9 + b"\x02", "BAD_VARINT"),
    ("a long that ends after nine bytes", "long", b"\xff" * 9, "TRUNCATED"),
    # --- booleans
    ("a boolean of 2, where nobody is strict", "boolean", b"\x02", "CONFORMS"),
    # --- blocks
    (
        "an array block with a negative count and its size",
        LONGS,
        encode_varint(-2) + encode_varint(2) + b"\x02\x04\0",
        "CONFORMS",
    ),
    (
        "a map block with a negative count",
        TAGS,
        encode_varint(-1) + encode_varint(3) + encode_text("k") + b"\x02\0",
        "CONFORMS",
    ),
    ("several blocks", LONGS, b"\x02\x02\x02\x04\0", "CONFORMS"),
    (
        "a block size that is not that of its items",
        LONGS,
        encode_varint(-2) + encode_varint(3) + b"\x02\x04\x06\0",
        "BAD_LENGTH",
    ),
    ("a negative block size", LONGS, encode_varint(-1) + encode_varint(-1) + b"\x02\0", "BAD_LENGTH"),
    ("more items than bytes", LONGS, encode_varint(2**33) + b"\x02", "TRUNCATED"),
    ("the lowest count there is", LONGS, LAST + b"\x02\x02\0", "TRUNCATED"),
    ("2^33 nulls in six bytes", NULLS, encode_varint(2**33) + b"\0", "TOO_MANY_ITEMS"),
    ("a million nulls", NULLS, encode_varint(10**6) + b"\0", "CONFORMS"),
    (
        "a million and one nulls, in two blocks",
        NULLS,
        encode_varint(10**6) + encode_varint(1) + b"\0",
        "TOO_MANY_ITEMS",
    ),
    ("the lowest count of nulls", NULLS, LAST + b"\0\0", "TOO_MANY_ITEMS"),
    # --- depth
    ("a list of 128", NODE, nodes(128), "CONFORMS"),
    ("a list of 129", NODE, nodes(129), "TOO_DEEP"),
    ("a list of 5,000", NODE, nodes(5000), "TOO_DEEP"),
    # --- logical types: any int is a date, any long a timestamp
    ("a timestamp beyond the year 9999", logical("long", "timestamp-millis"), LAST, "CONFORMS"),
    ("the largest date", logical("int", "date"), encode_varint(2**31 - 1), "CONFORMS"),
    ("a uuid", UUID, encode_text("6ba7b810-9dad-11d1-80B4-00c04fd430c8"), "CONFORMS"),
    ("a uuid without hyphens", UUID, encode_text("6ba7b8109dad11d180b400c04fd430c8"), "LOGICAL_TYPE"),
    ("a uuid with a letter too far", UUID, encode_text("6ba7b810-9dad-11d1-80b4-00c04fd430cg"), "LOGICAL_TYPE"),
    ("sixteen bytes are a uuid", SIXTEEN, b"\xff" * 16, "CONFORMS"),
    ("midnight", logical("int", "time-millis"), encode_varint(0), "CONFORMS"),
    ("a day is over", logical("int", "time-millis"), encode_varint(86_400_000), "LOGICAL_TYPE"),
    ("before midnight", logical("long", "time-micros"), encode_varint(-1), "LOGICAL_TYPE"),
    (
        "a day is over, to the microsecond",
        logical("long", "time-micros"),
        encode_varint(86_400_000_000),
        "LOGICAL_TYPE",
    ),
    ("a decimal of as many digits as allowed", DECIMAL, encode_text((9999).to_bytes(2, "big")), "CONFORMS"),
    ("a decimal of one digit more", DECIMAL, encode_text((10_000).to_bytes(2, "big")), "LOGICAL_TYPE"),
    (
        "a negative decimal of one digit more",
        DECIMAL,
        encode_text((-10_000).to_bytes(9, "big", signed=True)),
        "LOGICAL_TYPE",
    ),
    ("a decimal with zeros in front", DECIMAL, encode_text(b"\0" * 20 + b"\1"), "CONFORMS"),
    ("a decimal without bytes", DECIMAL, encode_text(b""), "LOGICAL_TYPE"),
    ("a wide decimal", MONEY, (10**20 - 1).to_bytes(10, "big"), "CONFORMS"),
    ("a wide decimal of one digit more", MONEY, (10**20).to_bytes(10, "big"), "LOGICAL_TYPE"),
]


@pytest.mark.parametrize("scalar_rows", [0, MANY], ids=["vectorised", "scalar"])
@pytest.mark.parametrize(("schema", "body", "outcome"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_each_case_has_the_outcome_of_the_specification(
    schema: Any, body: bytes, outcome: str, scalar_rows: int
) -> None:
    assert list_outcomes(validate_bodies([body], create_validator(schema, scalar_rows=scalar_rows)))[0][0] == outcome


@pytest.mark.parametrize("scalar_rows", [0, MANY], ids=["vectorised", "scalar"])
def test_a_boolean_is_0_or_1_in_strict_audits(scalar_rows: int) -> None:
    strict = create_validator("boolean", ValidationLimits(strict_booleans=True), scalar_rows=scalar_rows)
    assert [outcome for outcome, _, _ in list_outcomes(validate_bodies([b"\0", b"\1", b"\2"], strict))] == [
        "CONFORMS",
        "CONFORMS",
        "BAD_BOOLEAN",
    ]


@pytest.mark.parametrize("scalar_rows", [0, MANY], ids=["vectorised", "scalar"])
def test_a_failure_names_the_deepest_node_and_the_path_of_the_value(scalar_rows: int) -> None:
    leg = {"type": "record", "name": "Leg", "fields": [{"name": "carrier", "type": ["null", COLOR]}]}
    flight = {
        "type": "record",
        "name": "Flight",
        "fields": [
            {"name": "legs", "type": {"type": "array", "items": leg}},
            {"name": "tags", "type": {"type": "map", "values": ["null", {"type": "array", "items": "string"}]}},
            {"name": "spare", "type": "Leg"},
            {"name": "node", "type": NODE},
        ],
    }
    legs, tags = b"\x04\x00\x02\x00\0", b"\x02" + encode_text("k") + b"\x02\x02" + encode_text("t") + b"\0\0"
    bodies = [
        b"\x04\x00\x02\x04",
        legs + b"\x02" + encode_text(b"\xff"),
        legs + b"\x02" + encode_text("k") + b"\x06",
        legs + b"\x02" + encode_text("k") + b"\x02\x02" + encode_text(b"\xff"),
        legs + tags + b"\x02\x04",
        legs + tags + b"\x00" + b"\x02\x02\x02\x02" + b"\x02\x05",
        legs + tags + b"\x00" + b"\x02\x00",
    ]
    carrier = "/fields/0/type/items/fields/0/type"
    assert list_outcomes(validate_bodies(bodies, create_validator(flight, scalar_rows=scalar_rows))) == [
        ("BAD_ENUM_INDEX", f"{carrier}/1", "legs[].carrier"),
        ("BAD_UTF8", "/fields/1/type", "tags{}"),
        ("BAD_UNION_INDEX", "/fields/1/type/values", "tags{}"),
        ("BAD_UTF8", "/fields/1/type/values/1/items", "tags{}[]"),
        ("BAD_ENUM_INDEX", f"{carrier}/1", "spare.carrier"),
        ("BAD_UNION_INDEX", "/fields/3/type/fields/1/type", "node.next.next.next"),
        ("CONFORMS", "", ""),
    ]


def test_the_first_failure_in_byte_order_is_told_and_logical_types_come_last() -> None:
    schema = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "id", "type": UUID}, {"name": "at", "type": logical("int", "time-millis")}],
    }
    bad_id, bad_time = encode_text("x"), encode_varint(-1)
    bodies = [bad_id + bad_time, encode_text(b"\xff") + b"\x80", bad_id + b"\x80", bad_id + b"\0\0", bad_id[:-1]]
    bodies += [encode_text("6ba7b810-9dad-11d1-80b4-00c04fd430c8") + bad_time]
    assert list_outcomes(validate_bodies(bodies, create_validator(schema))) == [
        ("LOGICAL_TYPE", "/fields/0/type", "id"),
        ("BAD_UTF8", "/fields/0/type", "id"),
        ("TRUNCATED", "/fields/1/type", "at"),
        ("TRAILING_BYTES", "", ""),
        ("TRUNCATED", "/fields/0/type", "id"),
        ("LOGICAL_TYPE", "/fields/1/type", "at"),
    ]


def test_a_sentence_says_what_is_wrong_and_where() -> None:
    details = validate_bodies([b"\x02\x08abc", b"\x02\x02a", b"\x02\x02ab"], create_validator(PAIR)).details
    assert details == {
        0: "the record ends inside `b` (string) (byte 1 of the body)",
        2: "1 byte is left after the value (byte 3 of the body)",
    }


def test_a_logical_type_that_makes_no_sense_is_ignored() -> None:
    schemas: list[Any] = [
        {"type": "bytes", "logicalType": "decimal", "precision": 0},
        {"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 3},
        {"type": "fixed", "name": "F", "size": 1, "logicalType": "decimal", "precision": 3},
        {"type": "bytes", "logicalType": "uuid"},
        {"type": "bytes", "logicalType": "decimal"},
    ]
    for schema in schemas:
        body = b"\x80" if "size" in schema else encode_text(b"")
        assert list_outcomes(validate_bodies([body], create_validator(schema)))[0][0] == "CONFORMS"


def test_doubles_and_floats_are_eight_and_four_bytes_little_endian() -> None:
    schema = {"type": "array", "items": "double"}
    body = encode_varint(2) + struct.pack("<2d", 1.5, -2.25) + b"\0"
    checked = validate_bodies([body, body[:-2]], create_validator(schema), columns=True)
    assert [outcome for outcome, _, _ in list_outcomes(checked)] == ["CONFORMS", "TRUNCATED"]
    assert checked.columns[0].values.to_pylist() == [1.5, -2.25]
