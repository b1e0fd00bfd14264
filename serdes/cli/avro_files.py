"""Avro object container files (``.avro``).

``avro_blocks.py`` reads blocks, and fastavro writes them; our codecs read and write the values.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from types import ModuleType
from typing import IO, Any, Final

from contractlog.compatibility.avro.canonical_form import format_inlined
from contractlog.compatibility.avro.types import is_bytes_schema
from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.serdes.avro.avro_schema import avro_schema_of
from contractlog.serdes.avro.interpreter.binary import ByteCursor, put_bytes
from contractlog.serdes.avro.interpreter.interpreter import InterpretedReader
from contractlog.serdes.avro.limits import DEFAULT_LIMITS
from contractlog.serdes.avro.readers_and_writers import AvroWriter
from contractlog.serdes.cli.avro_blocks import AvroBlock, read_blocks, read_header
from contractlog.serdes.errors import SerializationError

__all__ = ["AvroFileReader", "AvroFileWriter", "require_fastavro"]

_BLOCK_BYTES: Final = 64 * 1024  #: bytes of values in a block, before compression
_SCHEMA_KEY: Final = "avro.schema"


class AvroFileReader:
    """Reader of a file.

    Args:
        stream: the file, open for reading bytes.
        name: the file's name, for messages.

    Raises:
        UsageError: it is not such a file, or its schema cannot be used.
    """

    def __init__(self, stream: IO[bytes], name: str) -> None:
        self._name = name
        try:
            header = read_header(stream)
            text = header.metadata[_SCHEMA_KEY].decode()
        except (ValueError, KeyError, OSError) as error:
            raise UsageError(f"`{name}` is not an Avro object container file that can be read: {error}") from error
        self._blocks = read_blocks(stream, header)
        self.draft = SchemaDraft(text)
        try:
            self.parsed = parse_schema(self.draft, {}, strict=False)
        except ContractlogError as error:
            raise UsageError(f"the schema of `{name}` cannot be used: {error}") from error

    def values(self, reader_schema: ParsedSchema | None = None) -> Iterator[tuple[int, Any]]:
        """Yield the number of each record, from 1, and its value, resolved to another schema if given.

        Raises:
            UsageError: a block or a record is damaged, or the other schema cannot read it; with the record's number.
        """
        reader = InterpretedReader(self.parsed, reader_schema, named_records=reader_schema is not None)
        root = reader.reader
        cost = 1 + (root.surplus + root.extra_items if root.empty else 0)
        number = 0
        for block in self._read_blocks():
            source = ByteCursor(block.data)
            if block.records * cost > max(source.end, DEFAULT_LIMITS.max_empty_items):
                raise UsageError(f"`{self._name}`: a block of {source.end:,} bytes claims {block.records:,} records")
            for _ in range(block.records):
                number += 1
                try:
                    value = reader.read_next(source)
                except SerializationError as error:
                    raise UsageError(f"record {number} of `{self._name}`: {error}") from None
                yield number, value
            if source.at < source.end:
                raise UsageError(f"`{self._name}`: bytes are left in the block of record {number}")

    def _read_blocks(self) -> Iterator[AvroBlock]:
        try:
            yield from self._blocks
        except (ValueError, OSError) as error:
            raise UsageError(f"`{self._name}` cannot be read to its end: {error}") from error


class AvroFileWriter:
    """Writer of values of one schema, compressed with deflate.

    Args:
        stream: receives the bytes; it need not be seekable.
        parsed: the schema, which is written with its dependencies inlined.

    Raises:
        UsageError: fastavro rejects the schema, or is not installed.
    """

    def __init__(self, stream: IO[bytes], parsed: ParsedSchema) -> None:
        require_fastavro()
        from fastavro.write import Writer  # noqa: PLC0415 -- an extra

        self._stream = stream
        self._encoder = AvroWriter(parsed)
        self._bare = is_bytes_schema(avro_schema_of(parsed))
        self._pending = bytearray()
        self._records = 0
        schema = json.loads(format_inlined(parsed.root))
        try:
            self._writer: Any = Writer(stream, schema, codec="deflate")
        except Exception as error:
            raise UsageError(f"the schema cannot be written to an Avro file: {_describe_error(error)}") from error

    def write(self, value: Any) -> None:
        """Add a value.

        Raises:
            EncodeError: the value does not fit the schema.
        """
        body = self._encoder.encode(value)
        if self._bare:
            put_bytes(self._pending, body)
        else:
            self._pending += body
        self._records += 1
        if len(self._pending) >= _BLOCK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write the pending values as a block."""
        if self._records:
            self._writer.write_block(_Block(bytes(self._pending), self._records))
            self._pending.clear()
            self._records = 0
        self._writer.flush()
        self._stream.flush()


class _Block:
    """The part of a block that fastavro reads."""

    def __init__(self, data: bytes, records: int) -> None:
        self.bytes_ = io.BytesIO(data)
        self.num_records = records


def require_fastavro() -> ModuleType:
    """Return the package fastavro.

    Raises:
        UsageError: the package is not installed.
    """
    try:
        import fastavro  # noqa: PLC0415 -- an extra
    except ModuleNotFoundError:
        raise UsageError("Avro files (`.avro`) need the package fastavro: pip install 'contractlog[avro]'") from None
    return fastavro


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
