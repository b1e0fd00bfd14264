"""Byte ranges of the fields of a flat Avro record, so that a single field can be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

__all__ = ["Spans", "encode_long", "find_field_spans"]

CONTINUATION_BIT: Final = 0x80  #: set in each byte of a number except the last
Spans: TypeAlias = Mapping[str, slice]


def encode_long(number: int) -> bytes:
    """Encode an integer as Avro does: zigzag, seven bits a byte, the lowest first."""
    remaining = number * 2 if number >= 0 else -number * 2 - 1
    encoded = bytearray()
    while remaining >= CONTINUATION_BIT:
        encoded.append(remaining & 0x7F | CONTINUATION_BIT)
        remaining >>= 7
    encoded.append(remaining)
    return bytes(encoded)


def find_field_spans(schema: Mapping[str, Any], body: bytes) -> Spans:
    """Return the byte range of each field of a record, in a body that conforms to the schema."""
    spans, position = {}, 0
    for field in schema["fields"]:
        end = _find_end(field["type"], body, position)
        spans[field["name"]] = slice(position, end)
        position = end
    return spans


def _find_end(schema: Any, body: bytes, position: int) -> int:
    type_name = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(type_name, list):
        branch, position = _read_long(body, position)
        return _find_end(type_name[branch], body, position)
    if type_name == "record":
        for field in schema["fields"]:
            position = _find_end(field["type"], body, position)
        return position
    if type_name in {"int", "long", "enum"}:
        return _read_long(body, position)[1]
    if type_name == "string":
        length, position = _read_long(body, position)
        return position + length
    return position + {"null": 0, "double": 8}[type_name]


def _read_long(body: bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (body[position] & 0x7F) << shift
        shift += 7
        position += 1
        if body[position - 1] < CONTINUATION_BIT:
            return number >> 1 ^ -(number & 1), position
