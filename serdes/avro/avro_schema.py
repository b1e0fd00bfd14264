"""The tree of a parsed Avro schema, and its name."""

from __future__ import annotations

from contractlog.compatibility.avro.types import AvroSchema
from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.serdes.errors import SerializationError

__all__ = ["avro_schema_of", "find_record_name"]


def avro_schema_of(parsed: ParsedSchema) -> AvroSchema:
    """Return the tree of an Avro schema; raise ``SerializationError`` for other types."""
    if parsed.type is not SchemaType.AVRO:
        raise SerializationError(reason=f"an Avro schema is expected, not {parsed.type}")
    schema: AvroSchema = parsed.root
    return schema


def find_record_name(parsed: ParsedSchema) -> str | None:
    """Return the full name of a schema that is a record, enum or fixed; None for other types."""
    schema = avro_schema_of(parsed)
    return getattr(schema.resolve(schema.root), "name", None)
