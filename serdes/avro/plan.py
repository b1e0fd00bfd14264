"""A schema made ready: values in and bytes out, bytes in and values out. The frame is not part of it."""

from __future__ import annotations

from typing import Any

from contractlog.compatibility.schema import ParsedSchema
from contractlog.serdes.avro.interpreted import InterpretedReader, InterpretedWriter, tree_of
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits

__all__ = ["AvroReader", "AvroWriter", "record_name"]


class AvroWriter:
    """Makes bytes of values of one schema.

    Args:
        parsed: the schema.
        limits: of nesting.
        lenient: write what does not fit as other clients do (1.7 as the int 1) where it has no exact bytes.
    """

    def __init__(self, parsed: ParsedSchema, limits: Limits = DEFAULT_LIMITS, *, lenient: bool = False) -> None:
        self._interpreted = InterpretedWriter(parsed, limits, lenient=lenient)

    def encode(self, value: Any, prefix: bytes = b"") -> bytes:
        """Return the prefix and the bytes of a value.

        Raises:
            EncodeError: the value does not fit the schema; with the field.
        """
        return self._interpreted.encode(value, prefix)


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
        self._interpreted = InterpretedReader(writer, reader, limits=limits, named_records=named_records)

    def decode(self, data: bytes | bytearray | memoryview, start: int = 0) -> Any:
        """Return the value of a body that begins at ``start`` and goes to the end.

        Raises:
            DecodeError: the bytes do not fit the writer's schema; with the field and the outcome.
            ReaderMismatch: they do, and the reader's schema cannot follow.
        """
        return self._interpreted.decode(data, start)


def record_name(parsed: ParsedSchema) -> str | None:
    """Return the full name of the record, enum or fixed that a schema is; None for other types."""
    schema = tree_of(parsed)
    return getattr(schema.resolve(schema.root), "name", None)
