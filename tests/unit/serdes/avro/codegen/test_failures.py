"""Faults of generated code are seen: counted, and logged once per schema, while the interpreter answers."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from contractlog.serdes.avro.body_codec import AvroReader, AvroWriter
from contractlog.serdes.avro.codegen import compiler
from contractlog.serdes.avro.codegen.function_cache import GENERATED_CODE_FAILURES, FailureCounts
from contractlog.serdes.errors import EncodeError

from support.avro_plans import parsed, record

Generator = Callable[..., Callable[..., Any]]


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
    schema = parsed(record(("a", "int"), name=f"Broken_{generator.__name__}"))
    writer, reader = AvroWriter(schema, interpreted_first=0), AvroReader(schema, interpreted_first=0)
    with caplog.at_level(logging.WARNING, logger="contractlog.serdes"):
        for _ in range(3):
            assert reader.decode(writer.encode({"a": 7})) == {"a": 7}
    messages = [line.getMessage() for line in caplog.records]
    assert len(messages) == 2  # one of the writer, one of the reader
    assert all(f"Broken_{generator.__name__} raised ZeroDivisionError" in message for message in messages)


def test_a_value_that_does_not_fit_is_no_failure_of_the_code(caplog: pytest.LogCaptureFixture) -> None:
    writer = AvroWriter(parsed(record(("a", "int"), name="Sound")), interpreted_first=0)
    with pytest.raises(EncodeError):
        writer.encode({"a": "x"})
    assert not caplog.records


def test_failures_are_counted_for_a_bounded_number_of_schemas(caplog: pytest.LogCaptureFixture) -> None:
    counts = FailureCounts(capacity=1)
    for key in ("first", "first", "second"):
        counts.add(key, key, ValueError())
    assert (counts.count("first"), counts.count("second"), len(caplog.records)) == (2, 0, 1)
    assert GENERATED_CODE_FAILURES.count("first") == 0
