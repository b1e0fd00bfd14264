"""Raw and natural values of logical types, in interpreter and generated code."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.decimal_and_uuid import MAX_DIGITS
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import DecodeError, EncodeError

from support.avro_codecs import encode_zigzag, parse, record
from support.deadlines import hang_guard

BOTH = pytest.mark.parametrize("interpreted_first", [0, 10**9])
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIXED_UUID = {"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}
ONE = UUID("12345678-1234-1234-1234-1234567890ab")


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


def again(schema: Any, value: Any, interpreted_first: int = 0) -> Any:
    """Write a value and read it."""
    writer = AvroWriter(parse(schema), interpreted_first=interpreted_first)
    return AvroReader(parse(schema), interpreted_first=interpreted_first).decode(writer.encode(value))


@BOTH
def test_a_uuid_may_be_sixteen_bytes(interpreted_first: int) -> None:
    schema = record(("u", FIXED_UUID))
    for value in (ONE, str(ONE), ONE.bytes):
        body = AvroWriter(parse(schema), interpreted_first=interpreted_first).encode({"u": value})
        assert body == ONE.bytes
    assert AvroReader(parse(schema), interpreted_first=interpreted_first).decode(ONE.bytes) == {"u": ONE}
    assert again(["null", "string", FIXED_UUID], ONE, interpreted_first) == ONE
    with pytest.raises(EncodeError) as caught:
        AvroWriter(parse(schema), interpreted_first=interpreted_first).encode({"u": "nope"})
    assert caught.value.outcome is Outcome.LOGICAL_TYPE


def test_a_fixed_of_another_size_is_no_uuid() -> None:
    assert again(FIXED_UUID | {"size": 15}, b"x" * 15) == b"x" * 15


@BOTH
@pytest.mark.parametrize("name", ["timestamp-nanos", "local-timestamp-nanos"])
def test_nanoseconds_are_read_as_they_are_and_written_of_datetimes_too(name: str, interpreted_first: int) -> None:
    schema = logical("long", name)
    moment = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=None if name.startswith("local") else UTC)
    nanos = (moment.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1) * 1000
    assert again(schema, moment, interpreted_first) == nanos
    assert again(schema, nanos + 1, interpreted_first) == nanos + 1
    assert again(["null", "string", schema], moment, interpreted_first) == nanos


@pytest.mark.parametrize("name", ["duration", "big-decimal", "of-ours"])
def test_logical_values_without_a_python_type_pass_as_bytes(name: str) -> None:
    schema = {"type": "fixed", "name": "D", "size": 12} if name == "duration" else {"type": "bytes"}
    assert again(record(("d", schema | {"logicalType": name})), {"d": b"x" * 12}) == {"d": b"x" * 12}


NO_UUIDS = (
    "1234-5678-1234-1234-1234-123456789-0",
    "12345678-1234-1234-1234-1234567890a",
    "12345678_1234_1234_1234_1234567890ab",
    "12345678-1234-1234-1234-12345678 0ab",
    "12345678-1234-1234-1234-1234567890é",
    "1-345678-1234-1234-1234-1234567890a-",
)


@BOTH
@pytest.mark.parametrize("text", NO_UUIDS)
def test_only_the_one_form_of_a_uuid_is_read(text: str, interpreted_first: int) -> None:
    reader = AvroReader(parse(logical("string", "uuid")), interpreted_first=interpreted_first)
    data = text.encode()
    with pytest.raises(DecodeError) as caught:
        reader.decode(encode_zigzag(len(data)) + data)
    assert caught.value.outcome is Outcome.LOGICAL_TYPE


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.uuids())
def test_uuids_are_those_of_the_standard_library(value: UUID) -> None:
    schema = logical("string", "uuid")
    body = AvroWriter(parse(schema), interpreted_first=0).encode(value)
    assert body == b"\x48" + str(value).encode()
    found = AvroReader(parse(schema), interpreted_first=0).decode(body)
    assert (found, hash(found), repr(found), found.is_safe) == (value, hash(value), repr(value), value.is_safe)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(-(2**47), 2**47))
@example(2**32 * 1_000_000 - 1)
@example(2**32 * 1000 - 1)
@example(1_700_000_000_123_457)
def test_points_in_time_are_exact_to_the_unit(raw: int) -> None:
    for name, micros in (("timestamp-millis", 1000), ("timestamp-micros", 1)):
        reader = AvroReader(parse(logical("long", name)), interpreted_first=0)
        try:
            expected: Any = EPOCH + timedelta(microseconds=raw * micros)
        except OverflowError:
            expected = raw
        assert reader.decode(encode_zigzag(raw)) == expected
        assert AvroWriter(parse(logical("long", name)), interpreted_first=0).encode(expected) == encode_zigzag(raw)


@BOTH
@pytest.mark.parametrize("kind", ["bytes", "fixed"])
def test_a_decimal_keeps_its_digits_whatever_the_threads_context(kind: str, interpreted_first: int) -> None:
    schema = logical(kind, "decimal", precision=6, scale=2) | ({"name": "F", "size": 4} if kind == "fixed" else {})
    with localcontext() as context:
        context.prec = 2
        for text in ("0", "-0", "0.01", "-9999.99", "9999.99", "1234", "1E+3", "1.2300", "-1.28"):
            found = again(schema, Decimal(text), interpreted_first)
            assert (found, str(found)) == (Decimal(text), f"{Decimal(text):.2f}".replace("-0.00", "0.00"))
        for text in ("10000", "0.001", "NaN", "Infinity", "1E+999999", "-10000.00"):
            with pytest.raises(EncodeError):
                again(schema, Decimal(text), interpreted_first)


def test_an_impossible_precision_is_ignored() -> None:
    assert again(logical("bytes", "decimal", precision=2**31), b"\x01") == b"\x01"
    assert again(logical("bytes", "decimal", precision=2**31 - 1, scale=3), Decimal("1.5")) == Decimal("1.500")


def nullable(raw: Any, precision: int) -> list[Any]:
    return ["null", raw | {"logicalType": "decimal", "precision": precision, "scale": 2}]


@BOTH
@pytest.mark.parametrize("precision", [38, MAX_DIGITS, 2**31 - 1])
@pytest.mark.parametrize("written", [None, ["null", "bytes"], ["null", "string"]])
def test_a_decimal_of_millions_of_digits_is_refused_before_it_is_converted(
    precision: int, written: Any, interpreted_first: int
) -> None:
    schema = nullable({"type": "bytes"}, precision)
    plan = parse(written or schema), parse(schema)
    reader = AvroReader(*plan, interpreted_first=interpreted_first)
    body = b"\x02" + encode_zigzag(2_000_000) + b"\x7f" * 2_000_000
    with hang_guard(), pytest.raises(DecodeError, match=f"more than {min(precision, MAX_DIGITS)} digits") as caught:
        reader.decode(body)  # converting it takes five minutes
    assert caught.value.outcome is Outcome.LOGICAL_TYPE


@BOTH
@pytest.mark.parametrize("precision", [38, MAX_DIGITS, 2**31 - 1])
@pytest.mark.parametrize(
    "number",
    [
        Decimal("1E+1000000"),
        Decimal("-1E+1000000000"),
        Decimal("7" * 3_000_000),
        Decimal("0." + "7" * 3_000_000),
        10**3_000_000,
        -(10**MAX_DIGITS),
        Decimal("sNaN"),
    ],
    ids=["power", "negative", "digits", "fraction", "int", "negative int", "no number"],
)
def test_a_huge_number_is_refused_before_it_is_converted(number: Any, precision: int, interpreted_first: int) -> None:
    writer = AvroWriter(parse(nullable({"type": "bytes"}, precision)), interpreted_first=interpreted_first)
    with hang_guard(), pytest.raises(EncodeError) as caught:
        writer.encode(number)  # converting it takes minutes
    assert caught.value.outcome is Outcome.LOGICAL_TYPE


@BOTH
@pytest.mark.parametrize("raw", [{"type": "bytes"}, {"type": "fixed", "name": "F", "size": 4200}])
def test_a_decimal_may_have_as_many_digits_as_are_converted(raw: Any, interpreted_first: int) -> None:
    schema = nullable(raw, MAX_DIGITS)
    for sign in ("", "-"):
        whole = Decimal(sign + "9" * (MAX_DIGITS - 2))
        assert again(schema, whole, interpreted_first) == whole
    assert again(schema, 10**5_000, interpreted_first) == 10**5_000


@BOTH
def test_bytes_of_a_sign_that_are_not_needed_are_read_however_many(interpreted_first: int) -> None:
    reader = AvroReader(parse(nullable({"type": "bytes"}, 4)), interpreted_first=interpreted_first)
    for number, sign in ((7, b"\0"), (-7, b"\xff")):
        for more in (1, 100, 100_000):
            body = sign * more + number.to_bytes(1, "big", signed=True)
            assert reader.decode(b"\x02" + encode_zigzag(len(body)) + body) == Decimal(number) / 100


@BOTH
@pytest.mark.parametrize("raw", [{"type": "bytes"}, {"type": "fixed", "name": "F", "size": 4}])
def test_bytes_given_for_a_decimal_are_held_to_its_precision(raw: Any, interpreted_first: int) -> None:
    writer = AvroWriter(parse(record(("d", nullable(raw, 4)))), interpreted_first=interpreted_first)
    lenient = AvroWriter(parse(record(("d", nullable(raw, 4)))), lenient=True)
    assert again(nullable(raw, 4), b"\0\0\x27\x0f", interpreted_first) == Decimal("99.99")
    for value in (b"\x7f\xff\xff\xff", bytearray(b"\0\0\x27\x10"), memoryview(b"\xff\xff\xd8\xf0")):
        with pytest.raises(EncodeError, match="more than 4 digits; lenient=True") as caught:
            writer.encode({"d": value})
        assert (caught.value.outcome, caught.value.field) == (Outcome.LOGICAL_TYPE, "d")
        assert lenient.encode({"d": value}).endswith(bytes(value))
    with pytest.raises(EncodeError) as caught:
        writer.encode({"d": b""})
    assert caught.value.outcome is (Outcome.LOGICAL_TYPE if raw["type"] == "bytes" else Outcome.SCHEMA_VIOLATION)
