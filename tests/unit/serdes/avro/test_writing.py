"""Only documented conversions are made when values are written."""

from __future__ import annotations

import re
from array import array
from collections import OrderedDict, UserDict
from datetime import UTC, date, datetime, time
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import EncodeError

from support.avro_codecs import decode, encode, encode_zigzag, parse, record

FIXED_DECIMAL = {"type": "fixed", "name": "D", "size": 2, "logicalType": "decimal", "precision": 4, "scale": 2}
MISFITS: list[tuple[Any, Any, Outcome]] = [
    ("int", 2**31, Outcome.INT_OUT_OF_RANGE),
    ("int", -(2**31) - 1, Outcome.INT_OUT_OF_RANGE),
    ("long", 2**63, Outcome.INT_OUT_OF_RANGE),
    ("int", 1.7, Outcome.SCHEMA_VIOLATION),
    ("int", 1.0, Outcome.SCHEMA_VIOLATION),
    ("int", True, Outcome.SCHEMA_VIOLATION),
    ("long", "1", Outcome.SCHEMA_VIOLATION),
    ("boolean", 1, Outcome.SCHEMA_VIOLATION),
    ("null", 0, Outcome.SCHEMA_VIOLATION),
    ("float", 1e300, Outcome.SCHEMA_VIOLATION),
    ("double", 10**400, Outcome.SCHEMA_VIOLATION),
    ("double", "1.0", Outcome.SCHEMA_VIOLATION),
    ("double", True, Outcome.SCHEMA_VIOLATION),
    ("string", b"bytes", Outcome.SCHEMA_VIOLATION),
    ("string", "\ud800", Outcome.BAD_UTF8),
    ("bytes", "text", Outcome.SCHEMA_VIOLATION),
    ({"type": "fixed", "name": "F", "size": 2}, b"abc", Outcome.SCHEMA_VIOLATION),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, "B", Outcome.SCHEMA_VIOLATION),
    ({"type": "array", "items": "int"}, "12", Outcome.SCHEMA_VIOLATION),
    ({"type": "map", "values": "int"}, {1: 1}, Outcome.SCHEMA_VIOLATION),
    (["null", "int"], "x", Outcome.SCHEMA_VIOLATION),
    (["int", "string"], 1.5, Outcome.SCHEMA_VIOLATION),
    (record(("a", "int")), {}, Outcome.SCHEMA_VIOLATION),
    (record(("a", "int")), [], Outcome.SCHEMA_VIOLATION),
    ({"type": "string", "logicalType": "uuid"}, "not one", Outcome.LOGICAL_TYPE),
    (FIXED_DECIMAL, Decimal("1.234"), Outcome.LOGICAL_TYPE),
    (FIXED_DECIMAL, Decimal("123.45"), Outcome.LOGICAL_TYPE),
    (FIXED_DECIMAL, Decimal("NaN"), Outcome.LOGICAL_TYPE),
    (FIXED_DECIMAL, Decimal("1e999999"), Outcome.LOGICAL_TYPE),
    ({"type": "int", "logicalType": "date"}, "no date", Outcome.LOGICAL_TYPE),
    ({"type": "int", "logicalType": "time-millis"}, 86_400_000, Outcome.LOGICAL_TYPE),
    ({"type": "int", "logicalType": "date"}, datetime(2020, 1, 1, 0, 0, 0, 1, tzinfo=UTC), Outcome.LOGICAL_TYPE),
    ({"type": "int", "logicalType": "date"}, "2020-01-01T00:00", Outcome.LOGICAL_TYPE),
]


@pytest.mark.parametrize(("schema", "value", "outcome"), MISFITS)
def test_a_value_that_does_not_fit_is_refused(schema: Any, value: Any, outcome: Outcome) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(schema, value)
    assert caught.value.outcome is outcome


FIXED = {"type": "fixed", "name": "F", "size": 8}
WIDE = memoryview(array("I", [1, 2]))
STRIDED = memoryview(b"a-b-c-d-e-f-g-h-")[::2]


@pytest.mark.parametrize("schema", [record(("b", "bytes")), record(("b", FIXED)), record(("b", ["null", FIXED]))])
@pytest.mark.parametrize("view", [WIDE, STRIDED])
def test_a_view_is_written_by_its_bytes_whatever_its_items_are(schema: Any, view: memoryview) -> None:
    assert len(view.tobytes()) == 8
    assert decode(schema, encode(schema, {"b": view})) == {"b": view.tobytes()}


def test_a_view_of_as_many_items_as_a_fixed_has_bytes_does_not_fit() -> None:
    with pytest.raises(EncodeError, match="exactly 2 bytes"):
        encode(FIXED | {"size": 2}, WIDE)


def test_the_field_is_named() -> None:
    schema = record(
        ("legs", {"type": "array", "items": record(("n", "int"), name="Leg")}),
        ("m", {"type": "map", "values": "int"}),
    )
    with pytest.raises(EncodeError, match=r"legs\[1\]\.n: an integer of 32 bits is expected, not 1\.7") as caught:
        encode(schema, {"legs": [{"n": 1}, {"n": 1.7}], "m": {}})
    assert caught.value.field == "legs[].n"
    with pytest.raises(EncodeError) as caught:
        encode(schema, {"legs": [], "m": {"k": None}})
    assert (caught.value.field, caught.value.where) == ("m{}", "m{'k'}")


def test_a_number_that_does_not_fit_is_shown_up_to_a_limit() -> None:
    for number, said in ((2**63, "9223372036854775808 does not fit 64 bits"), (1 << 5000, "of 5001 bits does not fit")):
        with pytest.raises(EncodeError, match=said):
            encode("long", number)


def test_missing_fields_take_their_default_or_null() -> None:
    schema = record(
        ("a", "int", 7),
        ("b", ["null", "string"]),
        ("c", {"type": "array", "items": "int"}, [1]),
        ("d", ["null", "int"], None),
    )
    assert decode(schema, encode(schema, {})) == {"a": 7, "b": None, "c": [1], "d": None}


def test_further_members_are_left_out() -> None:
    schema = record(("a", "int"))
    assert decode(schema, encode(schema, {"a": 1, "b": 2})) == {"a": 1}


CARD = record(("n", "int"), ("x", ["null", "int"], None), name="shop.Card")
CASH = record(("n", "int"), ("y", ["null", "int"], None), name="shop.Cash")


def test_a_union_takes_the_branch_that_is_named() -> None:
    schema = ["null", CARD, CASH]
    assert encode(schema, ("shop.Cash", {"n": 1}))[:1] == b"\x04"
    assert encode(schema, {"-type": "shop.Cash", "n": 1})[:1] == b"\x04"
    assert encode(["string", "int"], ("int", 3)) == b"\x02\x06"


def test_a_union_takes_the_record_with_most_of_its_fields() -> None:
    schema = ["null", CARD, CASH]
    assert encode(schema, {"n": 1})[:1] == b"\x02"
    assert encode(schema, {"n": 1, "y": 2})[:1] == b"\x04"
    assert encode(schema, {"n": 1, "x": "no int", "y": 2})[:1] == b"\x04"


def test_a_union_prefers_doubles_and_points_in_time() -> None:
    assert encode(["float", "double"], 0.1)[:1] == b"\x02"
    day, moment = {"type": "int", "logicalType": "date"}, {"type": "long", "logicalType": "timestamp-millis"}
    assert encode([day, moment], datetime(2013, 7, 1, 12, tzinfo=UTC))[:1] == b"\x02"
    assert encode([day, moment], date(2013, 7, 1))[:1] == b"\x00"


def test_records_that_cannot_be_told_apart_end_in_a_sentence_not_in_a_hang() -> None:
    branches = [record(("next", ["null", "A", "B"], None), (name.lower(), "int", 0), name=name) for name in ("A", "B")]
    value: Any = {"next": None, "a": "bad", "b": "bad"}
    for _ in range(60):
        value = {"next": value}
    with pytest.raises(EncodeError):
        encode(["null", *branches], value)


def test_a_value_inside_itself_is_too_deep() -> None:
    schema = record(("next", ["null", "R"]))
    value: dict[str, Any] = {}
    value["next"] = value
    with pytest.raises(EncodeError) as caught:
        encode(schema, value)
    assert caught.value.outcome is Outcome.TOO_DEEP


def test_datetimes_keep_their_instant_in_any_zone() -> None:
    schema = {"type": "long", "logicalType": "timestamp-micros"}
    moment = datetime.fromisoformat("2013-07-01T05:15:00.000123-04:00")
    assert decode(schema, encode(schema, moment)) == moment


LATE = datetime.fromisoformat("2013-07-01T23:59:59.999999-04:00")
CONVERTED: list[tuple[str, str, Any, Any]] = [
    ("float", "", 0.1, 0.10000000149011612),
    ("float", "", 1e-50, 0.0),
    ("double", "", 2**60 + 1, 2.0**60),
    ("double", "", Fraction(1, 3), 1 / 3),
    ("long", "timestamp-millis", LATE, LATE.replace(microsecond=999_000)),
    ("long", "timestamp-millis", datetime(1960, 1, 1, 0, 0, 0, 1, tzinfo=UTC), datetime(1960, 1, 1, tzinfo=UTC)),
    ("long", "local-timestamp-millis", LATE, LATE.replace(microsecond=999_000, tzinfo=None)),
    ("long", "local-timestamp-micros", LATE, LATE.replace(tzinfo=None)),
    ("int", "time-millis", time(1, 2, 3, 4567, tzinfo=UTC), time(1, 2, 3, 4000)),
    ("int", "date", "2020-01-01", date(2020, 1, 1)),
    ("int", "date", LATE.replace(hour=0, minute=0, second=0, microsecond=0), date(2013, 7, 1)),
    ("string", "uuid", "12345678-1234-1234-1234-1234567890AB", UUID("12345678-1234-1234-1234-1234567890ab")),
]


@pytest.mark.parametrize(("kind", "logical", "value", "read"), CONVERTED)
def test_conversions_are_the_documented_ones(kind: str, logical: str, value: Any, read: Any) -> None:
    schema = {"type": kind} | ({"logicalType": logical} if logical else {})
    assert decode(schema, encode(schema, value)) == read
    assert encode(["null", schema], value)[1:] == encode(schema, value)
    page = (Path(__file__).parents[4] / "docs" / "serdes.md").read_text(encoding="utf-8")
    table = page.partition("## Conversions")[2].partition("\n## ")[0]
    assert f"`{logical or kind}`" in table


LENIENT: list[tuple[Any, Any, Any]] = [
    ("int", 1.7, 1),
    ("int", True, 1),
    ("int", Decimal("-1.5"), -1),
    ("long", 1.9, 1),
    ("null", 5, None),
    ("boolean", "x", True),
    ("boolean", 0, False),
    ("float", 1e300, float("inf")),
    ("float", -1e300, float("-inf")),
    ("double", True, 1.0),
    ("double", Decimal("1.5"), 1.5),
    ({"type": "array", "items": "string"}, "ab", ["a", "b"]),
    ({"type": "long", "logicalType": "timestamp-millis"}, 1.5, datetime(1970, 1, 1, microsecond=1000, tzinfo=UTC)),
    (record(("a", ["null", "int"])), {"a": 1.5}, {"a": 1}),
    ({"type": "int", "logicalType": "date"}, datetime(2020, 1, 1, 23, 59, tzinfo=UTC), date(2020, 1, 1)),
    (record(("a", ["null", {"type": "int", "logicalType": "date"}])), {"a": LATE}, {"a": date(2013, 7, 1)}),
]


@pytest.mark.parametrize(("schema", "value", "read"), LENIENT)
def test_unfit_values_are_converted_as_by_the_reference_only_on_request(schema: Any, value: Any, read: Any) -> None:
    with pytest.raises(EncodeError, match=r"lenient=True|expected, not 'ab'"):
        encode(schema, value)
    assert decode(schema, AvroWriter(parse(schema), lenient=True).encode(value)) == read


def test_an_int_of_33_bits_is_written_where_that_is_asked_for_as_others_write_it() -> None:
    with pytest.raises(EncodeError, match="does not fit 32 bits; lenient=True"):
        encode("int", 2**31)
    assert AvroWriter(parse("int"), lenient=True).encode(2**31) == encode_zigzag(2**31)


@pytest.mark.parametrize("value", [1.0, 7, "nope", {"b": 1.5}, float("nan"), 10**400])
def test_leniency_ends_where_there_are_no_bytes(value: Any) -> None:
    with pytest.raises(EncodeError):
        AvroWriter(parse({"type": "array", "items": "int"}), lenient=True).encode(value)


def test_leniency_changes_no_bytes_of_what_fits() -> None:
    whole, broken = record(("n", "int"), name="A"), record(("n", "double"), name="B")
    schema = ["null", whole, broken]
    assert AvroWriter(parse(schema), lenient=True).encode({"n": 1.5}) == encode(schema, {"n": 1.5})
    assert AvroWriter(parse({"type": "string", "logicalType": "uuid"}), lenient=True).encode("nope") == b"\x08nope"


def test_a_prefix_stands_before_the_bytes() -> None:
    assert AvroWriter(parse("int")).encode(3, b"\x00\x00\x00\x00\x07") == b"\x00\x00\x00\x00\x07\x06"
    assert AvroWriter(parse("bytes")).encode(b"raw", b"id") == b"idraw"
    assert AvroReader(parse("int")).decode(b"id\x06", 2) == 3
    assert AvroReader(parse("bytes")).decode(memoryview(b"idraw"), 2) == b"raw"


@pytest.mark.parametrize("interpreted_first", [0, 10**9])
def test_among_records_that_fit_the_closest_that_takes_the_value_is_taken(interpreted_first: int) -> None:
    names = ("A", "B", "C")
    branches = [
        record(("id", "int"), *((f"{name.lower()}{number}", "int", 0) for number in range(3)), name=name)
        for name in names
    ]
    writer = AvroWriter(parse(["string", *branches]), interpreted_first=interpreted_first)
    reader = AvroReader(parse(["string", *branches]), named_records=True, interpreted_first=interpreted_first)

    def taken(value: Any) -> str:
        name, _ = reader.decode(writer.encode(value))
        return str(name)

    assert taken({"id": 1}) == "A"
    assert taken({"id": 1, "b0": 1}) == "B"
    assert taken({"id": 1, "b0": 1, "c1": 2, "c2": 3}) == "C"
    assert taken({"id": 1, "b0": 1, "c1": "no int", "c2": 3}) == "B"
    assert taken({"id": 1, "-type": "C"}) == "C"
    assert taken(("B", {"id": 1, "c0": 1})) == "B"
    with pytest.raises(EncodeError):
        writer.encode({"id": 1, "-type": "D"})


@pytest.mark.parametrize("interpreted_first", [0, 10**9])
def test_records_inside_each_other_that_cannot_be_told_apart_are_written_in_a_moment(interpreted_first: int) -> None:
    branches = [record(("next", ["null", "A", "B"], None), name=name) for name in ("A", "B")]
    writer = AvroWriter(parse(["null", *branches]), interpreted_first=interpreted_first)
    value: Any = {"next": None}
    for _ in range(100):
        value = {"next": value}
    assert writer.encode(value) == b"\x02" * 101 + b"\x00"


class Color(StrEnum):
    RED = "red"


class Shade(str, Enum):  # noqa: UP042 -- as many are
    DARK = "dark"


@pytest.mark.parametrize("interpreted_first", [0, 10**9])
def test_members_of_enums_are_written_as_the_texts_that_they_are(interpreted_first: int) -> None:
    enum = {"type": "enum", "name": "E", "symbols": ["dark", "red"]}
    schema = parse(record(("e", enum), ("n", ["null", "E"]), ("u", ["null", "int", "E"]), ("s", "string")))
    writer = AvroWriter(schema, interpreted_first=interpreted_first)
    body = writer.encode({"e": Color.RED, "n": Shade.DARK, "u": Color.RED, "s": Color.RED})
    assert AvroReader(schema).decode(body) == {"e": "red", "n": "dark", "u": "red", "s": "red"}
    with pytest.raises(EncodeError):
        writer.encode({"e": "RED", "n": None, "u": None, "s": ""})


class Shouting(str):
    __slots__ = ()

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        return self.upper().encode(encoding, errors)


def test_a_text_is_written_as_what_it_holds_whatever_its_class_makes_of_it() -> None:
    strings = {"type": "array", "items": "string"}
    schema = record(("s", "string"), ("l", strings), ("m", {"type": "map", "values": "int"}))
    value = {"s": Shouting("quiet"), "l": [Shouting("quiet")], "m": {Shouting("quiet"): 1}}
    assert decode(schema, encode(schema, value)) == {"s": "quiet", "l": ["quiet"], "m": {"quiet": 1}}


class Unshown:
    def __repr__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("value", [10**400, -(10**400), Fraction(10**6_000, 3), Decimal("sNaN"), Decimal("1E+1000000")])
@pytest.mark.parametrize("schema", ["int", ["null", "long"]])
def test_numbers_of_any_size_end_in_bytes_or_an_error(schema: Any, value: Any, *, lenient: bool) -> None:
    with pytest.raises(EncodeError):
        AvroWriter(parse(schema), lenient=lenient).encode(value)


@pytest.mark.parametrize("schema", ["int", "string", "double", {"type": "array", "items": "int"}])
def test_an_object_that_cannot_be_shown_is_refused_all_the_same(schema: Any) -> None:
    with pytest.raises(EncodeError, match=r"is expected, not a Unshown \(Unshown\)"):
        encode(schema, Unshown())


@pytest.mark.parametrize("interpreted_first", [0, 10**9])
def test_numbers_and_mappings_of_other_classes_are_written_too(interpreted_first: int) -> None:
    schema = parse(record(("i", "int"), ("d", "double"), ("a", {"type": "array", "items": "long"}), ("b", "bytes")))
    value = MappingProxyType(
        {"i": IntEnum("Number", ["ONE"]).ONE, "d": Fraction(1, 2), "a": (1, 2), "b": bytearray(b"x")}
    )
    writer = AvroWriter(schema, interpreted_first=interpreted_first)
    assert AvroReader(schema).decode(writer.encode(value)) == {"i": 1, "d": 0.5, "a": [1, 2], "b": b"x"}
    assert writer.encode(UserDict(value)) == writer.encode(OrderedDict(value)) == writer.encode(value)


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}, 9.99, "a decimal: Decimal or int"),
        ({"type": "string", "logicalType": "uuid"}, 5, "a UUID: UUID or str"),
        ({"type": "int", "logicalType": "date"}, 1.5, "a date: date or int"),
        ({"type": "int", "logicalType": "time-millis"}, "noon", "a time of day: time or int"),
        ({"type": "long", "logicalType": "timestamp-micros"}, "now", "a timestamp: datetime or int"),
    ],
)
def test_a_value_that_does_not_fit_is_told_by_its_logical_type(schema: Any, value: Any, words: str) -> None:
    kind = type(value).__name__
    with pytest.raises(EncodeError, match=rf"a: {re.escape(words)} expected, not {re.escape(repr(value))} \({kind}\)"):
        encode(record(("a", schema)), {"a": value})
