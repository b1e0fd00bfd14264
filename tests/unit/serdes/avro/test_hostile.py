# ruff: noqa: E501 -- one case per line
"""Hostile bytes result in a value, or in an error with code and position."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.limits import Limits
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import DecodeError, EncodeError

from support.avro_codecs import NEVER, decode, encode_zigzag, parse, record, run_both
from support.avro_strategies import schemas
from support.deadlines import hang_guard

STRINGS = {"type": "array", "items": "string"}
NULLS = {"type": "array", "items": "null"}
ENUM = {"type": "enum", "name": "E", "symbols": ["A", "B"]}
LIST = record(("value", "int"), ("next", ["null", "R"]))
UUID = {"type": "string", "logicalType": "uuid"}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": 2}
NESTED = record(("legs", {"type": "array", "items": record(("carrier", "string"), name="Leg")}))

O = Outcome  # noqa: E741 -- one column of a table
CASES: list[tuple[str, Any, bytes, Outcome, str]] = [
    ("a string that ends early", "string", encode_zigzag(5) + b"abc", O.TRUNCATED, ""),
    ("a double that ends early", record(("d", "double")), b"\x00" * 7, O.TRUNCATED, "d"),
    ("a fixed that ends early", record(("f", {"type": "fixed", "name": "F", "size": 4})), b"\x00" * 3, O.TRUNCATED, "f"),
    ("nothing after the header", record(("a", "int")), b"", O.TRUNCATED, "a"),
    ("a varint that ends early", "int", b"\x80", O.TRUNCATED, ""),
    ("a missing end of an array", STRINGS, encode_zigzag(1) + b"\x02a", O.TRUNCATED, ""),
    ("a missing end of a map", {"type": "map", "values": "int"}, encode_zigzag(1) + b"\x02a\x02", O.TRUNCATED, ""),
    ("more items than bytes", STRINGS, encode_zigzag(1000) + b"\x02a\x00", O.TRUNCATED, ""),
    ("trailing bytes", "int", b"\x02\x00", O.TRAILING_BYTES, ""),
    ("trailing bytes after a record", record(("a", "int")), b"\x02junk", O.TRAILING_BYTES, ""),
    ("a string of no UTF-8", "string", encode_zigzag(1) + b"\xff", O.BAD_UTF8, ""),
    ("an overlong form", "string", encode_zigzag(2) + b"\xc0\xaf", O.BAD_UTF8, ""),
    ("half of a surrogate pair", "string", encode_zigzag(3) + b"\xed\xa0\x80", O.BAD_UTF8, ""),
    ("a map key of no UTF-8", record(("m", {"type": "map", "values": "int"})), encode_zigzag(1) + b"\x02\xff\x02\x00", O.BAD_UTF8, "m{}"),
    ("a string within a list of records", NESTED, encode_zigzag(1) + encode_zigzag(2) + b"\xff\xfe\x00", O.BAD_UTF8, "legs[].carrier"),
    ("an enum index too high", record(("e", ENUM)), encode_zigzag(2), O.BAD_ENUM_INDEX, "e"),
    ("a negative enum index", record(("e", ENUM)), encode_zigzag(-1), O.BAD_ENUM_INDEX, "e"),
    ("a union index too high", record(("u", ["null", "int"])), encode_zigzag(2), O.BAD_UNION_INDEX, "u"),
    ("a negative union index", record(("u", ["null", "int"])), encode_zigzag(-1), O.BAD_UNION_INDEX, "u"),
    ("a negative length", record(("s", "string")), encode_zigzag(-1), O.BAD_LENGTH, "s"),
    ("a length of 2^40", record(("b", "bytes"), ("c", "int")), encode_zigzag(2**40) + b"x", O.BAD_LENGTH, "b"),
    ("a negative block size", STRINGS, encode_zigzag(-1) + encode_zigzag(-3) + b"\x02a\x00", O.BAD_LENGTH, ""),
    ("a block size that is not the block's", STRINGS, encode_zigzag(-1) + encode_zigzag(3) + b"\x02a\x00\x00", O.BAD_LENGTH, ""),
    ("an int of 2^31", record(("i", "int")), encode_zigzag(2**31), O.INT_OUT_OF_RANGE, "i"),
    ("an int of -2^31-1", "int", encode_zigzag(-(2**31) - 1), O.INT_OUT_OF_RANGE, ""),
    ("an int in six bytes", "int", b"\x80\x80\x80\x80\x80\x00", O.BAD_VARINT, ""),
    ("a long in eleven bytes", "long", b"\x80" * 10 + b"\x00", O.BAD_VARINT, ""),
    ("a long beyond 64 bits", "long", b"\xff" * 9 + b"\x02", O.BAD_VARINT, ""),
    ("a boolean of 2", record(("b", "boolean")), b"\x02", O.BAD_BOOLEAN, "b"),
    ("2^33 nulls", NULLS, encode_zigzag(2**33) + b"\x00", O.TOO_MANY_ITEMS, ""),
    ("ten million nulls", NULLS, encode_zigzag(10**7) + b"\x00", O.TOO_MANY_ITEMS, ""),
    ("2^63 nulls backwards", NULLS, encode_zigzag(-(2**63)) + encode_zigzag(0) + b"\x00", O.TOO_MANY_ITEMS, ""),
    ("empty records without end", {"type": "array", "items": record()}, encode_zigzag(2**31) + b"\x00", O.TOO_MANY_ITEMS, ""),
    ("a list 5,000 deep", LIST, (b"\x02\x02" * 5000) + b"\x02\x00", O.TOO_DEEP, "next." * 127 + "next"),
    ("a list 1,000,000 deep", LIST, (b"\x02\x02" * 1_000_000) + b"\x02\x00", O.TOO_DEEP, "next." * 127 + "next"),
    ("a uuid that is none", record(("u", UUID)), encode_zigzag(4) + b"nope", O.LOGICAL_TYPE, "u"),
    ("a uuid in braces", UUID, encode_zigzag(38) + b"{12345678-1234-1234-1234-123456789012}", O.LOGICAL_TYPE, ""),
    ("a decimal of too many digits", record(("d", DECIMAL)), encode_zigzag(2) + b"\x7f\xff", O.LOGICAL_TYPE, "d"),
    ("a decimal of no bytes", record(("d", DECIMAL)), encode_zigzag(0), O.LOGICAL_TYPE, "d"),
    ("25 o'clock", record(("t", {"type": "int", "logicalType": "time-millis"})), encode_zigzag(90_000_000), O.LOGICAL_TYPE, "t"),
    ("before midnight", {"type": "long", "logicalType": "time-micros"}, encode_zigzag(-1), O.LOGICAL_TYPE, ""),
    ("a broken rule, then bytes that end early", record(("u", UUID), ("i", "int")), encode_zigzag(1) + b"x", O.TRUNCATED, "i"),
    ("a broken rule, then trailing bytes", UUID, encode_zigzag(1) + b"x!", O.TRAILING_BYTES, ""),
]  # fmt: skip
VALID: list[tuple[str, Any, bytes, Any]] = [
    ("a block with its size", STRINGS, encode_zigzag(-2) + encode_zigzag(4) + b"\x02a\x02b\x00", ["a", "b"]),
    ("two blocks", STRINGS, encode_zigzag(1) + b"\x02a" + encode_zigzag(1) + b"\x02b\x00", ["a", "b"]),
    ("a number in more bytes than it needs", "int", b"\x82\x80\x00", 1),
    ("a record without fields", record(), b"", {}),
    ("a timestamp beyond year 9999", {"type": "long", "logicalType": "timestamp-millis"}, encode_zigzag(2**62), 2**62),
    ("the last of all days", {"type": "int", "logicalType": "date"}, encode_zigzag(2**31 - 1), 2**31 - 1),
    ("not a number", record(("f", "float")), struct.pack("<f", float("inf")), {"f": float("inf")}),
]


@pytest.mark.parametrize(
    ("schema", "body", "outcome", "field"), [case[1:] for case in CASES], ids=[c[0] for c in CASES]
)
def test_a_hostile_body_is_refused_with_its_code_and_place(
    schema: Any, body: bytes, outcome: Outcome, field: str
) -> None:
    with hang_guard(), pytest.raises(DecodeError) as caught:
        decode(schema, body)
    assert (caught.value.outcome, caught.value.field) == (outcome, field)
    assert len(str(caught.value)) < 3000


@pytest.mark.parametrize(("schema", "body", "value"), [case[1:] for case in VALID], ids=[case[0] for case in VALID])
def test_a_valid_body_is_never_refused(schema: Any, body: bytes, value: Any) -> None:
    assert decode(schema, body) == value


def test_empty_items_are_counted_over_the_whole_record() -> None:
    schema = {"type": "array", "items": NULLS}
    body = encode_zigzag(10) + (encode_zigzag(200_000) + b"\x00") * 10 + b"\x00"
    with pytest.raises(DecodeError) as caught:
        decode(schema, body)
    assert caught.value.outcome is Outcome.TOO_MANY_ITEMS
    assert len(decode(schema, body, Limits(max_empty_items=2_000_000))) == 10


def test_records_that_take_no_bytes_count_for_the_room_that_they_take() -> None:
    """A record of seven bytes may not ask for hundreds of megabytes."""
    wide = {"type": "array", "items": record(*((f"f{index}", "null") for index in range(90)))}
    reader = {"type": "array", "items": record(*((f"d{index}", "string", "default") for index in range(9)))}
    bare = {"type": "array", "items": record()}
    for schema, most in ((wide, 10_000), (bare, 100_000)):
        assert len(decode(schema, encode_zigzag(most) + b"\x00")) == most
        with pytest.raises(DecodeError) as caught:
            decode(schema, encode_zigzag(most + 1) + b"\x00")
        assert caught.value.outcome is Outcome.TOO_MANY_ITEMS
    defaults = AvroReader(parse(bare), parse(reader))
    assert len(defaults.decode(encode_zigzag(10_000) + b"\x00")) == 10_000
    with pytest.raises(DecodeError):
        defaults.decode(encode_zigzag(10_001) + b"\x00")


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        ({"type": "array", "items": "int"}, [0] * 500),
        ({"type": "map", "values": "null"}, {f"k{index}": None for index in range(500)}),
        (record(*((f"f{index}", "int", 0) for index in range(500)), name="Big"), {}),
        ("string", "x" * 4_000),
    ],
    ids=["list", "map", "record", "text"],
)
def test_records_that_take_no_bytes_count_for_the_size_of_their_defaults(kind: Any, default: Any) -> None:
    """Five bytes may not ask for minutes of filling in."""
    written = {"type": "array", "items": record()}
    wanted = {
        "type": "array",
        "items": record(("inner", record(("big", kind, default), name="Inner"), {})),
    }
    reader = AvroReader(parse(written), parse(wanted))
    assert len(reader.decode(encode_zigzag(1_000) + b"\x00")) == 1_000
    with pytest.raises(DecodeError) as caught:
        reader.decode(encode_zigzag(2_000) + b"\x00")
    assert caught.value.outcome is Outcome.TOO_MANY_ITEMS


@pytest.mark.parametrize("evolved", [False, True])
@pytest.mark.parametrize("place", ["record", "field", "branch", "value"])
def test_records_without_bytes_count_for_their_fields_wherever_they_are(place: str, *, evolved: bool) -> None:
    """Records that double at each level may not hang; of one record, ten count for nothing."""
    double: Any = (bare := record(name="F0"))
    for level in range(1, 4):
        double = record(("a", double), ("b", f"F{level - 1}"), name=f"F{level}")
    written, body = {
        "record": (double, b""),
        "field": ({"type": "array", "items": record(("i", "boolean"), ("e", double))}, b"\x06\x01\x01\x01\x00"),
        "branch": ({"type": "array", "items": ["null", double]}, b"\x06\x02\x02\x02\x00"),
        "value": ({"type": "map", "values": double}, b"\x06\x02a\x02b\x02c\x00"),
    }[place]
    reader = None
    if evolved:  # defaults that are no lists or records count for nothing
        bare["fields"] = record(("text", "string", "x" * 80))["fields"]
        reader = parse(written)
        bare["fields"] = []
    limit = {"record": 130, "field": 3 * 140, "branch": 3 * 130, "value": 3 * 130}[place]

    def read(most: int) -> Any:
        limits = Limits(max_empty_items=most)
        return run_both(
            lambda first: AvroReader(parse(written), reader, limits=limits, interpreted_first=first).decode(body)
        )

    assert read(limit) is not None
    with pytest.raises(DecodeError) as caught:
        read(limit - 1)
    assert caught.value.outcome is Outcome.TOO_MANY_ITEMS


LIST_OF_20 = ({"type": "array", "items": "string"}, ["x"] * 20)


@pytest.mark.parametrize(
    ("kind", "default"),
    [
        LIST_OF_20,
        ({"type": "map", "values": "null"}, {f"k{index}": None for index in range(20)}),
        (record(*((f"f{index}", "int", 0) for index in range(20)), name="Big"), {}),
        ([LIST_OF_20[0], "null"], LIST_OF_20[1]),
    ],
    ids=["list", "map", "record", "union"],
)
@pytest.mark.parametrize("place", ["item", "value", "branch", "item and its branch", "inner"])
def test_items_that_defaults_bring_into_records_with_bytes_are_counted(place: str, kind: Any, default: Any) -> None:
    """A record of a kilobyte may not become gigabytes."""
    flag, news = ("k", "boolean"), ("z", kind, default)
    written, wanted = record(flag, name="E"), record(flag, news, name="E")
    body = b"\x00"
    match place:
        case "item":
            written, wanted = ({"type": "array", "items": each} for each in (written, wanted))
            body = encode_zigzag(100) + b"\x01" * 100 + b"\x00"
        case "value":
            written, wanted = ({"type": "map", "values": each} for each in (written, wanted))
            body = encode_zigzag(100) + b"".join(b"\x04%02d\x01" % index for index in range(100)) + b"\x00"
        case "branch":
            written, wanted = ({"type": "array", "items": ["null", each]} for each in (written, wanted))
            body = encode_zigzag(100) + b"\x02\x01" * 100 + b"\x00"
        case "item and its branch":
            written = {"type": "array", "items": record(("u", ["null", record(name="E")]))}
            wanted = {"type": "array", "items": record(("u", ["null", record(news, name="E")]), ("y", *LIST_OF_20))}
            body = encode_zigzag(100) + b"\x02" * 100 + b"\x00"
        case _:
            written, wanted = (record(("a", each), ("b", "E")) for each in (written, wanted))
            body = b"\x01\x01"
    most = 20 * {"inner": 2, "item and its branch": 200}.get(place, 100)

    def read(limit: int) -> Any:
        limits = Limits(max_empty_items=limit)
        return run_both(
            lambda first: AvroReader(parse(written), parse(wanted), limits=limits, interpreted_first=first).decode(body)
        )

    assert read(most)
    with pytest.raises(DecodeError, match="those of defaults") as caught:
        read(most - 1)
    assert caught.value.outcome is Outcome.TOO_MANY_ITEMS


@pytest.mark.parametrize("default", ["x" * 1000, None, [], {}, 5])
def test_scalars_and_empty_containers_by_default_count_for_nothing_in_records_with_bytes(default: Any) -> None:
    kinds = {str: "string", type(None): "null", list: LIST_OF_20[0], dict: {"type": "map", "values": "int"}, int: "int"}
    written, wanted = (
        {"type": "array", "items": record(("k", "boolean"), *news, name="E")}
        for news in ((), (("z", kinds[type(default)], default),))
    )
    reader = AvroReader(parse(written), parse(wanted), limits=Limits(max_empty_items=0))
    assert [each["z"] for each in reader.decode(encode_zigzag(9) + b"\x01" * 9 + b"\x00")] == [default] * 9


def test_items_share_the_texts_of_a_default_but_not_its_lists() -> None:
    """So a default costs a copy of its lists for each item, not another conversion."""
    kind = {"type": "array", "items": {"type": "map", "values": LIST_OF_20[0]}}
    written, wanted = (
        {"type": "array", "items": record(("k", "boolean"), *news, name="E")}
        for news in ((), (("z", kind, [{"a": ["text"]}, {}]),))
    )
    reader = AvroReader(parse(written), parse(wanted), interpreted_first=NEVER)
    first, second = (each["z"] for each in reader.decode(encode_zigzag(2) + b"\x01" * 2 + b"\x00"))
    assert first == second == [{"a": ["text"]}, {}]
    assert first is not second
    assert first[0] is not second[0]
    assert first[0]["a"] is not second[0]["a"]
    assert first[0]["a"][0] is second[0]["a"][0]


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**40), st.integers(0, 60))
def test_generated_code_accepts_no_more_default_items_than_the_interpreter(seed: int, limit: int) -> None:
    """It does not count them: it reads only bodies too short for too many."""
    random = Random(seed)  # noqa: S311 -- no secret
    names = count()

    def kinds(depth: int) -> tuple[Any, Any, Callable[[], bytes]]:
        """Return a type as written and as wanted, and a function that makes the bytes of a value."""
        choice = random.randrange(6) if depth else 5
        if choice == 5:
            return "boolean", "boolean", lambda: b"\x01"
        if choice < 3:
            name = f"N{next(names)}"
            inner = [kinds(depth - 1) for _ in range(random.randrange(3))]
            written, wanted = (
                record(*((f"f{at}", part[side]) for at, part in enumerate(inner)), name=name) for side in (0, 1)
            )
            if random.random() < 0.7:
                wanted["fields"] += record(("z", LIST_OF_20[0], ["x"] * random.randrange(4)))["fields"]
            return written, wanted, lambda: b"".join(part[2]() for part in inner)
        written, wanted, make = kinds(depth - 1)
        if choice == 3 and not isinstance(written, list):
            return ["null", written], ["null", wanted], lambda: b"\x02" + make() if random.random() < 0.8 else b"\x00"
        kind = {"type": "array", "items": written}, {"type": "array", "items": wanted}

        def make_items() -> bytes:
            size = random.randrange(6)
            return encode_zigzag(size) + b"".join(make() for _ in range(size)) + b"\x00" * (size > 0)

        return *kind, make_items

    written, wanted, make = kinds(5)
    limits, body = Limits(max_empty_items=limit), make()
    with suppress(DecodeError):
        run_both(
            lambda first: AvroReader(parse(written), parse(wanted), limits=limits, interpreted_first=first).decode(body)
        )


@pytest.mark.parametrize("evolved", [False, True])
def test_a_limit_of_nesting_that_python_cannot_follow_ends_in_a_typed_error(*, evolved: bool) -> None:
    written = record(("items", {"type": "array", "items": "R"}))
    wanted = record(("items", {"type": "array", "items": "R"}), ("new", "int", 1))
    limits = Limits(max_depth=10**9)
    for depth in (2_000, 200_000):
        value: dict[str, Any] = {"items": []}
        for _ in range(depth):
            value = {"items": [value]}
        body = b"\x02" * depth + b"\x00" * (depth + 1)
        for first in (0, NEVER):
            reader = AvroReader(
                parse(written), parse(wanted) if evolved else None, limits=limits, interpreted_first=first
            )
            with pytest.raises(DecodeError) as read:
                reader.decode(body)
            with pytest.raises(EncodeError) as refused:
                AvroWriter(parse(written), limits, interpreted_first=first).encode(value)
            assert read.value.outcome is refused.value.outcome is Outcome.TOO_DEEP
        while value["items"]:  # from outside in, for Python frees no deeper nesting than it reads
            value = value["items"][0]


def test_depth_counts_records_arrays_and_maps() -> None:
    deepest = (b"\x02\x02" * 127) + b"\x02\x00"
    value, depth = decode(LIST, deepest), 0
    while value is not None:
        value, depth = value["next"], depth + 1
    assert depth == 128


def test_lax_booleans_are_those_of_other_clients() -> None:
    assert decode("boolean", b"\x02", Limits(strict_booleans=False)) is True


def test_the_place_has_positions_beside_the_path() -> None:
    with pytest.raises(DecodeError) as caught:
        decode(NESTED, encode_zigzag(2) + b"\x02a" + b"\x02\xff\x00")
    assert (caught.value.where, caught.value.field) == ("legs[1].carrier", "legs[].carrier")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_bytes_end_in_a_value_or_a_decode_error(data: st.DataObject) -> None:
    reader = AvroReader(parse(data.draw(schemas())))
    body = data.draw(st.binary(max_size=64))
    assert _outcome(reader, body) is Outcome.CONFORMS or _outcome(reader, body).violating


def _outcome(reader: AvroReader, body: bytes) -> Outcome:
    try:
        reader.decode(body)
    except DecodeError as error:
        return Outcome(error.outcome or 0)
    return Outcome.CONFORMS
