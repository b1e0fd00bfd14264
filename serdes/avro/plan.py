"""A schema made ready: values in and bytes out, bytes in and values out. The frame is not part of it.

The first records are interpreted; then code is written for the schema, which serves until it meets something that it
does not understand. That is interpreted again, so that bytes, values and errors are the interpreter's in any case.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from contractlog.compatibility.schema import ParsedSchema
from contractlog.serdes.avro.generated import Otherwise
from contractlog.serdes.avro.generated.compiling import compiled
from contractlog.serdes.avro.generated.graph import Unfit
from contractlog.serdes.avro.generated.reading import reading
from contractlog.serdes.avro.generated.source import Source
from contractlog.serdes.avro.generated.writing import writing
from contractlog.serdes.avro.hopeless import refuse_hopeless
from contractlog.serdes.avro.interpreted import InterpretedReader, InterpretedWriter, is_bytes, tree_of
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits

__all__ = ["INTERPRETED_FIRST", "AvroReader", "AvroWriter", "record_name"]

INTERPRETED_FIRST: Final = 32  #: records, before code is written: about what it costs


class AvroWriter:
    """Makes bytes of values of one schema.

    Args:
        parsed: the schema.
        limits: of nesting.
        lenient: write what does not fit as other clients do (1.7 as the int 1) where it has no exact bytes.
        interpreted_first: how many records to interpret before code is written.
    """

    def __init__(
        self,
        parsed: ParsedSchema,
        limits: Limits = DEFAULT_LIMITS,
        *,
        lenient: bool = False,
        interpreted_first: int = INTERPRETED_FIRST,
    ) -> None:
        self._interpreted = InterpretedWriter(parsed, limits, lenient=lenient)
        self._limits = limits
        self._first = interpreted_first
        self._write: Callable[..., Any] = _otherwise if is_bytes(tree_of(parsed)) else self._not_yet

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix and the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema; with the field.
        """
        try:
            return self._write(value, prefix)  # type: ignore[no-any-return]
        except Exception:  # noqa: BLE001, S110 -- whatever it is, the interpreter knows it exactly
            pass
        return self._interpreted.encode(value, prefix)

    def _not_yet(self, value: Any, prefix: bytes) -> Any:
        self._first -= 1
        if self._first >= 0:
            raise Otherwise
        write = self._write = _code(lambda: writing(self._interpreted.codec, self._limits))
        return write(value, prefix)


class AvroReader:
    """Makes values of bytes that one schema wrote, as that schema or as another one wants them."""

    def __init__(
        self,
        writer: ParsedSchema,
        reader: ParsedSchema | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        named_records: bool = False,
        interpreted_first: int = INTERPRETED_FIRST,
    ) -> None:
        self._interpreted = InterpretedReader(writer, reader, limits=limits, named_records=named_records)
        self._limits = limits
        self._first = interpreted_first
        self._read: Callable[..., Any] = _otherwise if is_bytes(tree_of(writer)) else self._not_yet

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of a body that begins at ``start`` and goes to the end.

        Raises:
            DecodeError: the bytes do not fit the writer's schema; with the field and the outcome.
            ReaderMismatch: they do, and the reader's schema cannot follow.
        """
        try:
            return self._read(data if type(data) is bytes else bytes(data), start)
        except Exception:  # noqa: BLE001, S110 -- whatever it is, the interpreter knows it exactly
            pass
        return self._interpreted.decode(data, start)

    def prove(self) -> None:
        """Return where some records may be read.

        Raises:
            ReaderMismatch: none can, whatever it holds.
        """
        refuse_hopeless(self._interpreted.reader)

    def _not_yet(self, data: bytes, start: int) -> Any:
        self._first -= 1
        if self._first >= 0:
            raise Otherwise
        read = self._read = _code(lambda: reading(self._interpreted.reader, self._limits))
        return read(data, start)


def record_name(parsed: ParsedSchema) -> str | None:
    """Return the full name of the record, enum or fixed that a schema is; None for other types."""
    schema = tree_of(parsed)
    return getattr(schema.resolve(schema.root), "name", None)


def _code(write: Callable[[], Source]) -> Callable[..., Any]:
    """Return the function that was written for a schema, or one that leaves all to the interpreter."""
    try:
        return compiled(write())
    except (Unfit, RecursionError, SyntaxError):
        return _otherwise


def _otherwise(*_: Any) -> Any:
    raise Otherwise
