"""Reference implementation of Avro encoding and decoding: a tree of codecs is walked for each record.

It defines the bytes, values and errors. Generated code is tested against it, and falls back to it for whatever it does
not handle. A body whose whole schema is ``bytes`` is those bytes without a length, as is usual in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from contractlog.compatibility.avro.nodes import Primitive, Schema
from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.serdes.avro.binary import Output, Source, put_bytes
from contractlog.serdes.avro.codecs import Codec, Reader
from contractlog.serdes.avro.failure import Failure
from contractlog.serdes.avro.interpret import Builder
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.resolve import Resolver
from contractlog.serdes.avro.resolved import Mismatch
from contractlog.serdes.errors import DecodeError, EncodeError, ReaderMismatch, SerializationError

__all__ = ["InterpretedReader", "InterpretedWriter", "is_bytes", "tree_of"]

T = TypeVar("T")


class InterpretedWriter:
    """Encoder of the values of one schema.

    Args:
        parsed: the schema.
        limits: bounds on nesting.
        lenient: write values that do not fit exactly as other clients do (1.7 as the int 1).
    """

    def __init__(self, parsed: ParsedSchema, limits: Limits = DEFAULT_LIMITS, *, lenient: bool = False) -> None:
        schema = tree_of(parsed)
        self._limits = limits
        self._bare = is_bytes(schema)
        self.codec: Codec = _built(lambda: Builder(schema).codec(schema.root))
        self._lax = _built(lambda: Builder(schema, lenient=True).codec(schema.root)) if lenient else None

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema; names the field.
        """
        try:
            return prefix + self._written(self.codec, value)
        except Failure as failure:
            if self._lax is None:
                raise _told(EncodeError, failure) from None
        try:
            return prefix + self._written(self._lax, value)
        except Failure as failure:
            raise _told(EncodeError, failure) from None

    def _written(self, codec: Codec, value: Any) -> bytes:
        out = Output()
        try:
            codec.write(out, value, self._limits.max_depth)
        except RecursionError:
            raise _too_deep() from None
        if self._bare:
            source = Source(bytes(out))
            return source.take(source.length())
        return bytes(out)


class InterpretedReader:
    """Decoder of the bytes of one writer schema, optionally resolved to a reader schema."""

    def __init__(
        self,
        writer: ParsedSchema,
        reader: ParsedSchema | None = None,
        *,
        limits: Limits = DEFAULT_LIMITS,
        named_records: bool = False,
    ) -> None:
        written = tree_of(writer)
        self._written = written
        self._limits = limits
        self._bare = is_bytes(written)
        self.reader: Reader
        if reader is None or (reader.canonical, reader.referenced) == (writer.canonical, writer.referenced):
            self.reader = _built(lambda: Builder(written, named_records=named_records).codec(written.root))
        else:
            wanted = tree_of(reader)
            self.reader = _built(lambda: Resolver(written, wanted, named_records=named_records).reader())
        self._raw: Reader | None = None

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of a body that begins at ``start`` and extends to the end.

        Raises:
            DecodeError: the bytes do not fit the writer schema; has the field and the outcome.
            ReaderMismatch: the bytes fit, but the reader schema cannot read them.
        """
        body = self._framed(data, start)
        try:
            return self._read(self.reader, body)
        except Failure as failure:
            raise self._judged(failure, body) from None

    def read_next(self, source: Source) -> Any:
        """Return the value at the source's position, and advance past it; bodies in files follow each other.

        Raises:
            DecodeError: the bytes do not fit the writer schema; has the field and the outcome.
            ReaderMismatch: the bytes fit, but the reader schema cannot read them.
        """
        source.empty_items = self._limits.max_empty_items
        try:
            return self.reader.read(source, self._limits.max_depth)
        except RecursionError:
            raise _told(DecodeError, _too_deep()) from None
        except Failure as failure:
            raise _told(ReaderMismatch if isinstance(failure, Mismatch) else DecodeError, failure) from None

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
        """Return the error to raise: malformed bytes first, then rules of logical types and reader mismatches."""
        if failure.outcome not in {None, Outcome.LOGICAL_TYPE}:
            return _told(DecodeError, failure)
        if self._raw is None:
            self._raw = _built(lambda: Builder(self._written, logical=False).codec(self._written.root))
        try:
            self._read(self._raw, data)
        except Failure as structural:
            return _told(DecodeError, structural)
        return _told(ReaderMismatch if isinstance(failure, Mismatch) else DecodeError, failure)

    def _framed(self, data: bytes | bytearray | memoryview, start: int) -> bytes:
        body = bytes(data)[start:] if start else bytes(data)
        if not self._bare:
            return body
        out = Output()
        put_bytes(out, body)
        return bytes(out)


def tree_of(parsed: ParsedSchema) -> Schema:
    """Return the tree of an Avro schema; raise ``SerializationError`` for other types."""
    if parsed.type is not SchemaType.AVRO:
        raise SerializationError(reason=f"an Avro schema is expected, not {parsed.type}")
    schema: Schema = parsed.root
    return schema


def is_bytes(schema: Schema) -> bool:
    """Return whether the whole schema is ``bytes``, whose bodies have no length prefix."""
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
