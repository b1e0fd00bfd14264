"""Generation of functions from codecs; imported on first use, so that start-up does not pay for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from contractlog.serdes.avro.codecs import Codec, Reader
from contractlog.serdes.avro.generated import Otherwise
from contractlog.serdes.avro.generated.compiling import compiled
from contractlog.serdes.avro.generated.graph import Unfit
from contractlog.serdes.avro.generated.reading import reading
from contractlog.serdes.avro.generated.source import Source
from contractlog.serdes.avro.generated.writing import writing
from contractlog.serdes.avro.limits import Limits

__all__ = ["read_function", "write_function"]


def read_function(reader: Reader, limits: Limits) -> Callable[..., Any]:
    """Return a function ``(bytes, position) -> value``, or one that leaves everything to the interpreter."""
    return _made(lambda: reading(reader, limits))


def write_function(codec: Codec, limits: Limits) -> Callable[..., Any]:
    """Return a function ``(value, prefix) -> bytes``, or one that leaves everything to the interpreter."""
    return _made(lambda: writing(codec, limits))


def _made(write: Callable[[], Source]) -> Callable[..., Any]:
    try:
        return compiled(write())
    except (Unfit, RecursionError, SyntaxError):
        return _otherwise


def _otherwise(*_: Any) -> Any:
    raise Otherwise
