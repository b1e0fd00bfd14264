"""Encoding and decoding of Avro with schemas given as Python values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.avro.readers_and_writers import AvroReader, AvroWriter
from contractlog.serdes.errors import SerializationError

NEVER: Final = 10**9  #: records to interpret first, if no code is to be generated


def parse(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema)), strict=False)


def encode(schema: Any, value: Any) -> bytes:
    """Encode a value with generated code and with the interpreter; both must agree."""
    encoded: bytes = run_both(lambda first: AvroWriter(parse(schema), interpreted_first=first).encode(value))
    return encoded


def decode(schema: Any, body: bytes, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Decode a body with generated code and with the interpreter; both must agree."""
    return run_both(lambda first: AvroReader(parse(schema), limits=limits, interpreted_first=first).decode(body))


def write_and_read(writer: Any, value: Any, reader: Any) -> Any:
    """Write a value with one schema, read it with another; generated code and interpreter must agree."""
    body = encode(writer, value)
    return run_both(lambda first: AvroReader(parse(writer), parse(reader), interpreted_first=first).decode(body))


def run_both(call: Callable[[int], Any]) -> Any:
    """Return or raise the common result; ``call`` gets the number of records to interpret first."""
    generated, interpreted = (_call(call, first) for first in (0, NEVER))
    assert repr(generated) == repr(interpreted)
    if isinstance(generated, SerializationError):
        raise generated
    return generated


def _call(call: Callable[[int], Any], first: int) -> Any:
    try:
        return call(first)
    except SerializationError as error:
        return error


def record(*fields: Any, name: str = "R") -> dict[str, Any]:
    """Create a record of fields given as (name, type) or (name, type, default)."""
    return {
        "type": "record",
        "name": name,
        "fields": [
            {"name": field[0], "type": field[1]} | ({"default": field[2]} if len(field) > 2 else {}) for field in fields
        ],
    }


def encode_zigzag(number: int) -> bytes:
    """Encode a number of any size as a variable-length integer."""
    raw, out = number << 1 if number >= 0 else (-number << 1) - 1, bytearray()
    while raw > 0x7F:
        out.append(raw & 0x7F | 0x80)
        raw >>= 7
    return bytes([*out, raw])
