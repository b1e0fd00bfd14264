"""Reference implementation of Avro encoding and decoding: a tree of codecs is walked for each record.

It defines the bytes, values and errors. Generated code is tested against it, and falls back to it for whatever it does
not handle. If the schema is just ``bytes``, the body is the raw bytes without a length prefix, as is usual in Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from contractlog.compatibility.avro.types import is_bytes_schema
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.avro_schema import avro_schema_of
from contractlog.serdes.avro.interpreter.binary import ByteCursor, OutputBuffer, put_bytes
from contractlog.serdes.avro.interpreter.codec_builder import CodecBuilder
from contractlog.serdes.avro.interpreter.codecs import Codec, ValueReader
from contractlog.serdes.avro.interpreter.failure import CodecFailure
from contractlog.serdes.avro.interpreter.resolved_readers import SchemaMismatch
from contractlog.serdes.avro.interpreter.resolver import Resolver
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.errors import DecodeError, EncodeError, ReaderMismatch, SerializationError

__all__ = ["InterpretedReader", "InterpretedWriter"]

T = TypeVar("T")


class InterpretedWriter:
    """Encoder of the values of one schema.

    Args:
        parsed: the schema.
        limits: bounds on nesting.
        lenient: write values that do not fit exactly as other clients do (1.7 as the int 1).
    """

    def __init__(self, parsed: ParsedSchema, limits: Limits = DEFAULT_LIMITS, *, lenient: bool = False) -> None:
        schema = avro_schema_of(parsed)
        self._limits = limits
        self._has_bare_bytes = is_bytes_schema(schema)
        self.codec: Codec = _build(lambda: CodecBuilder(schema).codec(schema.root))
        self._lenient_codec = _build(lambda: CodecBuilder(schema, lenient=True).codec(schema.root)) if lenient else None

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix followed by the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema; names the field.
        """
        try:
            return self.encode_exactly(value, prefix)
        except CodecFailure as failure:
            return self.encode_misfit(value, prefix, failure)

    def encode_exactly(self, value: Any, prefix: bytes) -> bytes:
        """Return the prefix followed by the bytes of a value that fits the schema.

        Raises:
            CodecFailure: it does not.
        """
        return prefix + self._write(self.codec, value)

    def encode_misfit(self, value: Any, prefix: bytes, failure: CodecFailure) -> bytes:
        """Return the prefix followed by the lenient bytes of a value that does not fit the schema.

        Raises:
            EncodeError: there are none; names the field.
        """
        if self._lenient_codec is None:
            raise _to_error(EncodeError, failure) from None
        try:
            return prefix + self._write(self._lenient_codec, value)
        except CodecFailure as lenient_failure:
            raise _to_error(EncodeError, lenient_failure) from None

    def _write(self, codec: Codec, value: Any) -> bytes:
        out = OutputBuffer()
        try:
            codec.write(out, value, self._limits.max_depth)
        except RecursionError:
            raise _too_deep_failure() from None
        if self._has_bare_bytes:
            source = ByteCursor(bytes(out))
            return source.read_bytes(source.read_length())
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
        writer_schema = avro_schema_of(writer)
        self._writer_schema = writer_schema
        self._limits = limits
        self._has_bare_bytes = is_bytes_schema(writer_schema)
        self.reader: ValueReader
        if reader is None or (reader.canonical, reader.referenced) == (writer.canonical, writer.referenced):
            self.reader = _build(
                lambda: CodecBuilder(writer_schema, named_records=named_records).codec(writer_schema.root)
            )
        else:
            reader_schema = avro_schema_of(reader)
            self.reader = _build(lambda: Resolver(writer_schema, reader_schema, named_records=named_records).reader())
        self._raw_reader: ValueReader | None = None

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of a body that begins at ``start`` and extends to the end.

        Raises:
            DecodeError: the bytes do not fit the writer schema; has the field and the outcome.
            ReaderMismatch: the bytes fit, but the reader schema cannot read them.
        """
        body = self._add_length(data, start)
        try:
            return self._read(self.reader, body)
        except CodecFailure as failure:
            raise self._diagnose(failure, body) from None

    def read_next(self, source: ByteCursor) -> Any:
        """Return the value at the source's position, and advance past it; bodies in files follow each other.

        Raises:
            DecodeError: the bytes do not fit the writer schema; has the field and the outcome.
            ReaderMismatch: the bytes fit, but the reader schema cannot read them.
        """
        source.empty_items = self._limits.max_empty_items
        try:
            source.spend(self.reader.surplus)
            return self.reader.read(source, self._limits.max_depth)
        except RecursionError:
            raise _to_error(DecodeError, _too_deep_failure()) from None
        except CodecFailure as failure:
            raise _to_error(ReaderMismatch if isinstance(failure, SchemaMismatch) else DecodeError, failure) from None

    def _read(self, reader: ValueReader, data: bytes) -> Any:
        source = ByteCursor(data, self._limits)
        if reader.surplus:
            source.spend(reader.surplus)
        try:
            value = reader.read(source, self._limits.max_depth)
        except RecursionError:
            raise _too_deep_failure() from None
        if source.at < source.end:
            left = source.end - source.at
            raise CodecFailure(
                Outcome.TRAILING_BYTES, f"{left} byte{'s are' if left > 1 else ' is'} left after the value"
            )
        return value

    def _diagnose(self, failure: CodecFailure, data: bytes) -> SerializationError:
        """Return the error to raise: malformed bytes first, then rules of logical types and reader mismatches."""
        if failure.outcome not in {None, Outcome.LOGICAL_TYPE}:
            return _to_error(DecodeError, failure)
        if self._raw_reader is None:
            self._raw_reader = _build(
                lambda: CodecBuilder(self._writer_schema, logical=False).codec(self._writer_schema.root)
            )
        try:
            self._read(self._raw_reader, data)
        except CodecFailure as structural:
            return _to_error(DecodeError, structural)
        return _to_error(ReaderMismatch if isinstance(failure, SchemaMismatch) else DecodeError, failure)

    def _add_length(self, data: bytes | bytearray | memoryview, start: int) -> bytes:
        body = bytes(data)[start:] if start else bytes(data)
        if not self._has_bare_bytes:
            return body
        out = OutputBuffer()
        put_bytes(out, body)
        return bytes(out)


def _build(build: Callable[[], T]) -> T:
    try:
        return build()
    except RecursionError:
        raise SerializationError(reason="the types of the schema lead to each other in too long a row") from None


def _too_deep_failure() -> CodecFailure:
    return CodecFailure(Outcome.TOO_DEEP, "records, arrays and maps are nested deeper than the interpreter can follow")


def _to_error(kind: type[SerializationError], failure: CodecFailure) -> SerializationError:
    return kind(reason=failure.reason, field=failure.field, where=failure.where, outcome=failure.outcome)
