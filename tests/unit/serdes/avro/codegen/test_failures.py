"""Faults of generated code are counted and logged once per schema; the interpreter takes over."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np
import pytest

from contractlog.serdes.avro.codegen import compiler
from contractlog.serdes.avro.codegen.failure_counts import GENERATED_CODE_FAILURES, FailureCounts
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import DecodeError, EncodeError

from support.avro_codecs import parse, record
from support.avro_strategies import LOGICAL, SCALARS

Generator = Callable[..., Callable[..., Any]]
FIXED_DECIMAL = {"type": "fixed", "name": "Amount", "size": 4, "logicalType": "decimal", "precision": 9, "scale": 3}
ENUM = {"type": "enum", "name": "Letter", "symbols": ["A", "B"]}
EAST, WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
NUMBERS = [0, -1, 64, 1024, 2**31 - 1, 2**31, -(2**31), 2**63 - 1, -(2**63), 2**63, 10**400]
DAYS = [-719_163, -719_162, 8_191, 8_192, 1_048_575, 1_048_576, 2_932_896, 2_932_897]
UNITS = [-62_135_596_800_001, 86_400_000, 253_402_300_800_000, 253_402_300_800_000_000]  # no time of day; no datetime
REALS = [1.5, float("nan"), float("inf"), 1e300, Decimal("1.5000"), Decimal("NaN"), Decimal("1E+9"), True]
REALS += [np.int64(2**40), np.float32(1.5), np.bool_(1)]
TEXTS = ["", "A", "\ud800", "x" * 2000, "2020-01-01", "f81d4fae7dec11d0a76500a0c91e6bf6", UUID(int=5)]
BYTES = [b"", b"abcd", bytearray(b"abcd"), memoryview(b"abcd"), b"\xff" * 16, b"x" * 2000]
MOMENTS = [date.min, date.max, datetime.min, datetime.max, datetime.min.replace(tzinfo=EAST)]  # noqa: DTZ901
MOMENTS += [datetime.max.replace(tzinfo=WEST), datetime(2263, 1, 1, tzinfo=UTC), time.max, time(1, tzinfo=UTC)]
ODD_VALUES = [None, *NUMBERS, *DAYS, *UNITS, *REALS, *TEXTS, *BYTES, *MOMENTS, [], {}, (1, 2), object()]


def generating_faulty_code(*_: Any) -> Callable[..., Any]:
    def function(*_: Any) -> Any:
        raise ZeroDivisionError

    return function


def failing_to_generate(*_: Any) -> Callable[..., Any]:
    raise ZeroDivisionError


@pytest.mark.parametrize("generator", [generating_faulty_code, failing_to_generate])
def test_a_broken_generator_is_logged_once_and_the_interpreter_answers(
    generator: Generator, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(compiler, "generate_write_function", generator)
    monkeypatch.setattr(compiler, "generate_read_function", generator)
    schema = parse(record(("a", "int"), name=f"Broken_{generator.__name__}"))
    writer, reader = AvroWriter(schema, interpreted_first=0), AvroReader(schema, interpreted_first=0)
    with caplog.at_level(logging.WARNING, logger="contractlog.serdes"):
        for _ in range(3):
            assert reader.decode(writer.encode({"a": 7})) == {"a": 7}
    messages = [line.getMessage() for line in caplog.records]
    assert len(messages) == 2  # one of the writer, one of the reader
    assert all(f"Broken_{generator.__name__} raised ZeroDivisionError" in message for message in messages)


def test_a_value_that_does_not_fit_is_no_failure_of_the_code(caplog: pytest.LogCaptureFixture) -> None:
    writer = AvroWriter(parse(record(("a", "int"), name="Sound")), interpreted_first=0)
    with pytest.raises(EncodeError):
        writer.encode({"a": "x"})
    assert not caplog.records


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("schema", [*SCALARS, *LOGICAL, FIXED_DECIMAL, ENUM], ids=str)
def test_odd_values_are_no_failures_of_the_code(
    schema: Any,
    lenient: bool,  # noqa: FBT001
    caplog: pytest.LogCaptureFixture,
) -> None:
    for number, kind in enumerate((schema, {"type": "array", "items": schema}, ["null", schema])):
        if kind == ["null", "null"]:
            continue
        whole = parse(record(("a", kind), name=f"Odd_{number}"))
        writer, reader = AvroWriter(whole, lenient=lenient, interpreted_first=0), AvroReader(whole, interpreted_first=0)
        for value in ODD_VALUES:
            try:
                reader.decode(writer.encode({"a": [value] if "array" in kind else value}))
            except (EncodeError, DecodeError):
                continue
    assert not [line.getMessage() for line in caplog.records]


@pytest.mark.parametrize("days", DAYS)
def test_dates_are_read_as_the_interpreter_reads_them(days: int) -> None:
    schema = parse(record(("a", {"type": "int", "logicalType": "date"})))
    data = AvroWriter(schema).encode({"a": days})
    assert AvroReader(schema, interpreted_first=0).decode(data) == AvroReader(schema).decode(data)
    for cut in range(len(data)):
        with pytest.raises(DecodeError):
            AvroReader(schema, interpreted_first=0).decode(data[:cut])


def test_failures_are_counted_for_a_bounded_number_of_schemas(caplog: pytest.LogCaptureFixture) -> None:
    counts = FailureCounts(capacity=1)
    for key in ("first", "first", "second"):
        counts.add(key, key, ValueError())
    assert (counts.count("first"), counts.count("second"), len(caplog.records)) == (2, 0, 1)
    assert GENERATED_CODE_FAILURES.count("first") == 0
