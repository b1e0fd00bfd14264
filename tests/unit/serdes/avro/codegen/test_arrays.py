"""Bulk code for arrays has the interpreter's bytes, values and errors."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.bulk_integers import (
    INT_LANES,
    LONG_LANES,
    MIN_BULK_COUNT,
    decode_numbers,
    encode_numbers,
)
from contractlog.serdes.avro.codegen.compiler import generate_read_function, generate_write_function
from contractlog.serdes.avro.codegen.read_runtime import read_longs
from contractlog.serdes.avro.interpreter.binary import put_long
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader, InterpretedWriter
from contractlog.serdes.avro.limits import DEFAULT_LIMITS
from contractlog.serdes.errors import DecodeError, EncodeError

from support.avro_codecs import decode, encode, parse, record, run_both, write_and_read

COUNTS = (1, 2, 7, 8, MIN_BULK_COUNT - 1, MIN_BULK_COUNT, 17, 40, 511, 512, 513)
EDGES = sorted(
    {0, 1, -1, *(sign * (1 << bits) + more for bits in range(1, 63) for sign in (1, -1) for more in (-1, 0, 1))}
    | {2**63 - 1, -(2**63), -(2**63) + 1}
)
POINT = record(("at", "long"), ("number", "int"), ("x", "double"), ("y", "float"), ("valid", "boolean"), name="Point")


def array(items: Any) -> Any:
    return record(("f", {"type": "array", "items": items}))


def long_bytes(*numbers: int) -> bytes:
    out = bytearray()
    for number in numbers:
        put_long(out, number)
    return bytes(out)


def numbers_of(bits: int, count: int) -> list[int]:
    """Numbers with and without many bits, and those at the boundaries of what takes so many bytes."""
    random = Random(f"{bits} {count}")  # noqa: S311 -- repeats
    fitting = [edge for edge in EDGES if -(1 << bits - 1) <= edge < 1 << bits - 1]
    return [random.choice(fitting) if random.random() < 0.5 else random.getrandbits(bits - 1) for _ in range(count)]


def generated(schema: Any) -> tuple[Any, Any]:
    """Return what writes and what reads, neither of which asks the interpreter."""
    writer, reader = InterpretedWriter(parse(schema)), InterpretedReader(parse(schema))
    return generate_write_function(writer.codec, DEFAULT_LIMITS), generate_read_function(reader.reader, DEFAULT_LIMITS)


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("bits", [2, 7, 8, 14, 21, 28, 29, 32, 56, 57, 63, 64])
def test_numbers_of_any_length_are_encoded_and_decoded_all_at_once(bits: int, count: int) -> None:
    numbers = numbers_of(bits, count)
    assert encode_numbers(numbers) == long_bytes(*numbers)
    found, at, left = decode_numbers(long_bytes(*numbers) + b"\xff", 0, count, LONG_LANES)
    assert (found, at) == (numbers[: count - left], len(long_bytes(*found)))
    assert left < 8
    assert read_longs(long_bytes(*numbers), 0, count) == (numbers, len(long_bytes(*numbers)))


@pytest.mark.parametrize("kind", ["int", "long"])
@pytest.mark.parametrize("count", [0, *COUNTS])
def test_arrays_of_integers_are_left_to_no_interpreter(kind: str, count: int) -> None:
    schema = array(kind)
    write, read = generated(schema)
    for bits in (7, 20, 32) if kind == "int" else (7, 20, 32, 50, 64):
        value = {"f": numbers_of(bits, count)}
        body = InterpretedWriter(parse(schema)).encode(value)
        assert write(value, b"") == body
        assert read(body, 0) == value


@pytest.mark.parametrize("place", [0, 1, 20, 39])
@pytest.mark.parametrize("odd", [True, False, None, 1.0, "1", b"1", 2**63, -(2**63) - 1, [1]])
@pytest.mark.parametrize("fill", [1, 10**6, 10**15])
def test_an_item_that_is_no_integer_is_named(odd: Any, fill: int, place: int) -> None:
    items: list[Any] = [fill] * 40
    items[place] = odd
    with pytest.raises(EncodeError) as told:
        encode(array("long"), {"f": items})
    assert told.value.where == f"f[{place}]"


@pytest.mark.parametrize("odd", [2**31, -(2**31) - 1, True])
def test_an_item_beyond_32_bits_is_named(odd: int) -> None:
    with pytest.raises(EncodeError) as told:
        encode(array("int"), {"f": [*[5] * 30, odd, 7]})
    assert told.value.where == "f[30]"
    if odd is not True:
        with pytest.raises(DecodeError) as read:
            decode(array("int"), long_bytes(32, *[5] * 30, odd, 7, 0))
        assert read.value.where == "f[30]"


def test_numbers_that_are_no_shortest_form_are_read() -> None:
    for padded in (b"\x80\x00", b"\x82\x80\x00", b"\x81\x80\x80\x80\x00", b"\x82" + b"\x80" * 8 + b"\x00"):
        body = long_bytes(40) + padded * 40 + b"\x00"
        assert len(decode(array("long"), body)["f"]) == 40


@pytest.mark.parametrize("kind", ["int", "long"])
def test_numbers_that_are_too_long_or_overflow_are_refused_at_their_place(kind: str) -> None:
    for wrong in (b"\x80" * 10 + b"\x00", b"\xff" * 9 + b"\x02", b"\x80" * 30, b"\xff" * 9 + b"\x7f"):
        with pytest.raises(DecodeError) as told:
            decode(array(kind), long_bytes(40, *[300] * 33) + wrong + long_bytes(*[300] * 6, 0))
        assert told.value.where == "f[33]"


def test_a_lane_refuses_what_its_range_does_not_hold() -> None:
    with pytest.raises(InterpreterNeeded):
        encode_numbers([1, 2**63])
    with pytest.raises(InterpreterNeeded):
        decode_numbers(long_bytes(*[2**31] * 8), 0, 8, INT_LANES)
    with pytest.raises(InterpreterNeeded):
        decode_numbers((b"\xff" * 9 + b"\x02") * 8, 0, 8, LONG_LANES)


@pytest.mark.parametrize("items", ["int", "long", POINT])
def test_blocks_of_any_kind_are_read(items: Any) -> None:
    random = Random(1)  # noqa: S311 -- repeats
    values = points(60) if isinstance(items, dict) else [random.randrange(10**6) for _ in range(60)]
    schema = array(items)
    whole = encode(schema, {"f": values})
    first, second = (encode(schema, {"f": part})[1:-1] for part in (values[:40], values[40:]))
    sized = long_bytes(-40, len(first)) + first + long_bytes(20) + second + b"\0"
    assert repr(decode(schema, sized)) == repr(decode(schema, whole)) == repr({"f": values})
    for body in (
        long_bytes(-40, len(first) + 1) + first + long_bytes(20) + second + b"\0",  # the size is wrong
        long_bytes(61) + first + second + b"\0",  # one item is missing
        whole[:-1],
        whole + b"\0",
    ):
        with pytest.raises(DecodeError):
            decode(schema, body)


def points(count: int) -> list[dict[str, Any]]:
    random = Random(count)  # noqa: S311 -- repeats
    return [
        {
            "at": random.choice(EDGES),
            "number": random.randrange(-(2**31), 2**31),
            "x": random.choice([0.0, -0.0, float("nan"), float("inf"), random.random()]),
            "y": float(random.randrange(1000)),
            "valid": random.choice([True, False]),
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 5, 6, 7, 8, 20, 600])
def test_arrays_of_flat_records_are_left_to_no_interpreter(count: int) -> None:
    write, read = generated(array(POINT))
    value = {"f": points(count)}
    body = InterpretedWriter(parse(array(POINT))).encode(value)
    assert write(value, b"") == body
    assert repr(read(body, 0)) == repr(value)


def test_every_cut_and_every_changed_byte_of_flat_records_has_the_interpreters_outcome() -> None:
    schema = parse(array(POINT))
    body = InterpretedWriter(schema).encode({"f": points(9)})
    reader, (_, read) = InterpretedReader(schema), generated(array(POINT))
    for place in range(len(body)):
        for mutant in (body[:place], body[:place] + b"\xff" + body[place + 1 :], body[:place] + b"\x02" + body[place:]):
            assert outcome(read, mutant) in {outcome(reader.decode, mutant), "refused"}


def outcome(call: Callable[..., Any], body: bytes) -> str:
    """What a call returns, or that it refused; generated code may raise anything, as then the interpreter serves."""
    try:
        return repr(call(body, 0))
    except Exception:  # noqa: BLE001
        return "refused"


def test_a_boolean_of_a_flat_record_that_is_neither_is_named() -> None:
    body = encode(array(POINT), {"f": points(40)})
    wrong = body[:-2] + b"\x02" + body[-1:]
    with pytest.raises(DecodeError) as told:
        decode(array(POINT), wrong)
    assert told.value.where == "f[39].valid"


def test_flat_records_are_read_as_a_newer_version() -> None:
    value = {"f": points(20)}
    fewer = record(("number", "long"), ("at", "double"), ("more", "string", "none"), name="Point")
    renamed = record(
        *((name, kind) for name, kind in zip(("at", "number"), ("long", "int"), strict=True)), name="Point"
    )
    for wanted in (fewer, renamed, POINT):
        read = write_and_read(array(POINT), value, array(wanted))["f"]
        assert [point["number"] for point in read] == [point["number"] for point in value["f"]]
        assert list(read[0]) == [field["name"] for field in wanted["fields"]]


def test_long_strings_stand_between_short_ones() -> None:
    for length in (63, 64, 1023, 1024, 100_000):
        value = {"f": ["", "é", "x" * length, "日本", "a"]}
        assert decode(array("string"), encode(array("string"), value)) == value
    with pytest.raises(EncodeError) as told:
        run_both(lambda _: encode(array("string"), {"f": ["a", b"b"]}))
    assert told.value.where == "f[1]"
