"""Byte spans of the fields of a flat Avro record, by which a single field can be damaged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

__all__ = ["Spans", "encode_long", "field_spans"]

MORE: Final = 0x80  #: set on every byte of a number but the last
Spans: TypeAlias = Mapping[str, slice]


def encode_long(number: int) -> bytes:
    """Encode an integer as Avro does: zigzag, seven bits a byte, the lowest first."""
    rest = number * 2 if number >= 0 else -number * 2 - 1
    encoded = bytearray()
    while rest >= MORE:
        encoded.append(rest & 0x7F | MORE)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def field_spans(schema: Mapping[str, Any], body: bytes) -> Spans:
    """Return the span of every field of a record, in a body that conforms to its schema."""
    spans, at = {}, 0
    for field in schema["fields"]:
        end = _end(field["type"], body, at)
        spans[field["name"]] = slice(at, end)
        at = end
    return spans


def _end(schema: Any, body: bytes, at: int) -> int:
    kind = schema["type"] if isinstance(schema, dict) else schema
    if isinstance(kind, list):
        branch, at = _long(body, at)
        return _end(kind[branch], body, at)
    if kind == "record":
        for field in schema["fields"]:
            at = _end(field["type"], body, at)
        return at
    if kind in {"int", "long", "enum"}:
        return _long(body, at)[1]
    if kind == "string":
        length, at = _long(body, at)
        return at + length
    return at + {"null": 0, "double": 8}[kind]


def _long(body: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (body[at] & 0x7F) << shift
        shift += 7
        at += 1
        if body[at - 1] < MORE:
            return number >> 1 ^ -(number & 1), at
