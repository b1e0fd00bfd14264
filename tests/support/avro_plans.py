"""Shorthand: plans and values of Avro schemas given as Python values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.serdes.avro.body_codec import AvroReader, AvroWriter
from contractlog.serdes.avro.limits import DEFAULT_LIMITS, Limits
from contractlog.serdes.errors import SerializationError

NEVER: Final = 10**9  #: records to interpret first, where no code is to be written


def parsed(schema: Any) -> ParsedSchema:
    return parse_schema(SchemaDraft(json.dumps(schema)), strict=False)


def encode(schema: Any, value: Any) -> bytes:
    """Write a value, by generated code and by the interpreter alike."""
    made: bytes = both(lambda first: AvroWriter(parsed(schema), interpreted_first=first).encode(value))
    return made


def decode(schema: Any, body: bytes, limits: Limits = DEFAULT_LIMITS) -> Any:
    """Read a body, by generated code and by the interpreter alike."""
    return both(lambda first: AvroReader(parsed(schema), limits=limits, interpreted_first=first).decode(body))


def evolve(writer: Any, value: Any, reader: Any) -> Any:
    """Write a value with one schema and read it with another, by generated code and by the interpreter alike."""
    body = encode(writer, value)
    return both(lambda first: AvroReader(parsed(writer), parsed(reader), interpreted_first=first).decode(body))


def both(call: Callable[[int], Any]) -> Any:
    """Return or raise what both ways agree on; ``call`` is told how many records to interpret first."""
    generated, interpreted = (_told(call, first) for first in (0, NEVER))
    assert repr(generated) == repr(interpreted)
    if isinstance(generated, SerializationError):
        raise generated
    return generated


def _told(call: Callable[[int], Any], first: int) -> Any:
    try:
        return call(first)
    except SerializationError as error:
        return error


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
