"""Shorthand: plans and values of Avro schemas given as Python values."""

from __future__ import annotations

import json
from typing import Any

from contractlog.compatibility.parsing import parse
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.plan import AvroReader, AvroWriter


def parsed(schema: Any) -> ParsedSchema:
    return parse(SchemaDraft(json.dumps(schema)), strict=False)


def encode(schema: Any, value: Any) -> bytes:
    return AvroWriter(parsed(schema)).encode(value)


def decode(schema: Any, body: bytes, limits: Limits = DEFAULT_LIMITS) -> Any:
    return AvroReader(parsed(schema), limits=limits).decode(body)


def evolve(writer: Any, value: Any, reader: Any) -> Any:
    """Write a value with one schema and read it with another."""
    return AvroReader(parsed(writer), parsed(reader)).decode(encode(writer, value))


def record(*fields: Any, name: str = "R") -> dict[str, Any]:
    """A record of fields given as (name, type) or (name, type, default)."""
    return {
        "type": "record",
        "name": name,
        "fields": [
            {"name": field[0], "type": field[1]} | ({"default": field[2]} if len(field) > 2 else {}) for field in fields
        ],
    }


def zigzag(number: int) -> bytes:
    """The bytes of any number as a variable-length one, however many that takes."""
    raw, out = number << 1 if number >= 0 else (-number << 1) - 1, bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    return bytes([*out, raw])
