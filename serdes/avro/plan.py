"""A schema made ready: values in and bytes out, bytes in and values out. The frame is not part of it.

A body whose whole schema is ``bytes`` is those bytes, without a length: so it is in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from contractlog.compatibility.avro.nodes import Primitive, Schema
from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import Output, Source, put_bytes
from contractlog.serdes.avro.codecs import Reader
from contractlog.serdes.avro.failure import Failure
from contractlog.serdes.avro.interpret import Builder
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.resolve import Mismatch, Resolver
from contractlog.serdes.errors import DecodeError, EncodeError, ReaderMismatch, SerializationError

__all__ = ["AvroReader", "AvroWriter", "record_name"]

T = TypeVar("T")


class AvroWriter:
    """Makes bytes of values of one schema."""

    def __init__(self, parsed: ParsedSchema, limits: Limits = DEFAULT_LIMITS) -> None:
        schema = _tree(parsed)
        self._limits = limits
        self._bare = _is_bytes(schema)
        self._codec = _built(lambda: Builder(schema).codec(schema.root))

    def encode(self, value: Any) -> bytes:
        """Return the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema; with the field.
        """
        out = Output()
        try:
            self._codec.write(out, value, self._limits.max_depth)
        except Failure as failure:
            raise _told(EncodeError, failure) from None
        except RecursionError:
            raise _told(EncodeError, _too_deep()) from None
        if self._bare:
            source = Source(bytes(out))
            return source.take(source.length())
        return bytes(out)


class AvroReader:
    """Makes values of bytes that one schema wrote, as that schema or as another one wants them."""

    def __init__(
        self,
        writer: ParsedSchema,
        reader: ParsedSchema | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        named_records: bool = False,
    ) -> None:
        written = _tree(writer)
        self._written = written
        self._limits = limits
        self._bare = _is_bytes(written)
        self._reader: Reader
        if reader is None or (reader.canonical, reader.referenced) == (writer.canonical, writer.referenced):
            self._reader = _built(lambda: Builder(written, named_records=named_records).codec(written.root))
        else:
            wanted = _tree(reader)
            self._reader = _built(lambda: Resolver(written, wanted, named_records=named_records).reader())
        self._raw: Reader | None = None

    def decode(self, body: bytes | bytearray | memoryview) -> Any:
        """Return the value of a whole body.

        Raises:
            DecodeError: the bytes do not fit the writer's schema; with the field and the outcome.
            ReaderMismatch: they do, and the reader's schema cannot follow.
        """
        data = self._framed(body)
        try:
            return self._read(self._reader, data)
        except Failure as failure:
            raise self._judged(failure, data) from None

    def _read(self, reader: Reader, data: bytes) -> Any:
        source = Source(data, self._limits)
        try:
            value = reader.read(source, self._limits.max_depth)
        except RecursionError:
            raise _too_deep() from None
        if source.at < source.end:
            left = source.end - source.at
            raise Failure(Outcome.TRAILING_BYTES, f"{left} byte{'s are' if left > 1 else ' is'} left after the value")
        return value

    def _judged(self, failure: Failure, data: bytes) -> SerializationError:
        """Say what is wrong: bytes that do not fit come before rules of logical types, and before readers' wishes."""
        if failure.outcome not in {None, Outcome.LOGICAL_TYPE}:
            return _told(DecodeError, failure)
        if self._raw is None:
            self._raw = _built(lambda: Builder(self._written, logical=False).codec(self._written.root))
        try:
            self._read(self._raw, data)
        except Failure as structural:
            return _told(DecodeError, structural)
        return _told(ReaderMismatch if isinstance(failure, Mismatch) else DecodeError, failure)

    def _framed(self, body: bytes | bytearray | memoryview) -> bytes:
        if not self._bare:
            return bytes(body)
        out = Output()
        put_bytes(out, body)
        return bytes(out)


def record_name(parsed: ParsedSchema) -> str | None:
    """Return the full name of the record, enum or fixed that a schema is; None for other types."""
    schema = _tree(parsed)
    return getattr(schema.resolve(schema.root), "name", None)


def _tree(parsed: ParsedSchema) -> Schema:
    if parsed.type is not SchemaType.AVRO:
        raise SerializationError(reason=f"an Avro schema is expected, not {parsed.type}")
    schema: Schema = parsed.root
    return schema


def _is_bytes(schema: Schema) -> bool:
    return isinstance(schema.root, Primitive) and schema.root.type == "bytes"


def _built(build: Callable[[], T]) -> T:
    try:
        return build()
    except RecursionError:
        raise SerializationError(reason="the types of the schema lead to each other in too long a row") from None


def _too_deep() -> Failure:
    return Failure(Outcome.TOO_DEEP, "records, arrays and maps are nested deeper than the interpreter can follow")


def _told(kind: type[SerializationError], failure: Failure) -> SerializationError:
    return kind(reason=failure.reason, field=failure.field, where=failure.where, outcome=failure.outcome)
