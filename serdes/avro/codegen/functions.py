"""Generation of functions from codecs; imported on first use, so that start-up does not pay for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contractlog.serdes.avro.codegen import InterpreterNeeded
from contractlog.serdes.avro.codegen.codec_graph import NotGenerated
from contractlog.serdes.avro.codegen.compiler import compile_source
from contractlog.serdes.avro.codegen.read_emitter import generate_reader
from contractlog.serdes.avro.codegen.source_text import SourceText
from contractlog.serdes.avro.codegen.write_emitter import generate_writer
from contractlog.serdes.avro.interpreter.codecs import Codec, ValueReader
from contractlog.serdes.avro.limits import Limits

__all__ = ["generate_read_function", "generate_write_function"]


def generate_read_function(reader: ValueReader, limits: Limits) -> Callable[..., Any]:
    """Return a function ``(bytes, position) -> value``, or one that leaves everything to the interpreter."""
    return _compile_or_fall_back(lambda: generate_reader(reader, limits))


def generate_write_function(codec: Codec, limits: Limits) -> Callable[..., Any]:
    """Return a function ``(value, prefix) -> bytes``, or one that leaves everything to the interpreter."""
    return _compile_or_fall_back(lambda: generate_writer(codec, limits))


def _compile_or_fall_back(write: Callable[[], SourceText]) -> Callable[..., Any]:
    try:
        return compile_source(write())
    except (NotGenerated, RecursionError, SyntaxError):
        return _use_interpreter


def _use_interpreter(*_: Any) -> Any:
    raise InterpreterNeeded
