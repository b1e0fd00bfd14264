"""Fingerprints of the Avro specification, computed from the parsing canonical form.

They identify a schema among Avro tools. Ids and guids of a registry depend on the whole text; see
``contractlog.compatibility.content_identity``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.avro.types import (
    Array,
    AvroSchema,
    AvroType,
    Enum,
    Fixed,
    Map,
    NamedType,
    Primitive,
    Record,
    TypeName,
    Union,
)
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import MAX_NESTING

__all__ = ["Fingerprints", "compute_crc64", "compute_fingerprints", "write_parsing_form"]

_EMPTY: Final = 0xC15D213AA4D7A795
_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The three fingerprints of the specification."""

    crc64: int  #: CRC-64-AVRO as a signed number, as in Java
    md5: str
    sha256: str


def compute_fingerprints(schema: AvroSchema) -> Fingerprints:
    """Return the fingerprints of a schema with all its dependencies."""
    form = write_parsing_form(schema).encode()
    crc = compute_crc64(form)
    signed = crc - (1 << _BITS) if crc >> (_BITS - 1) else crc
    return Fingerprints(signed, hashlib.md5(form, usedforsecurity=False).hexdigest(), hashlib.sha256(form).hexdigest())


def write_parsing_form(schema: AvroSchema) -> str:
    """Return the parsing canonical form: full names, fixed key order, only what reading depends on."""
    return _write_type(schema, schema.root, set(), 0)


def compute_crc64(text: bytes) -> int:
    """Return the 64-bit Rabin fingerprint of the specification.

    >>> hex(compute_crc64(b'"int"'))
    '0x7275d51a3f395c8f'
    """
    value = _EMPTY
    for byte in text:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return value


def _write_type(schema: AvroSchema, node: AvroType, defined: set[str], depth: int) -> str:
    if depth > MAX_NESTING:
        raise InvalidSchema(f"the types, written out, are nested more than {MAX_NESTING} levels deep", at=node.at)
    match node:
        case Primitive():
            return f'"{node.type}"'
        case Union():
            return "[" + ",".join([_write_type(schema, branch, defined, depth + 1) for branch in node.branches]) + "]"
        case Array():
            return f'{{"type":"array","items":{_write_type(schema, node.items, defined, depth + 1)}}}'
        case Map():
            return f'{{"type":"map","values":{_write_type(schema, node.values, defined, depth + 1)}}}'
        case TypeName() | NamedType():
            return _write_named(schema, node.name, defined, depth)
    raise AssertionError(node)


def _write_named(schema: AvroSchema, name: str, defined: set[str], depth: int) -> str:
    if name in defined:
        return f'"{name}"'
    defined.add(name)
    node = schema.types[name]
    match node:
        case Record():
            kind, parts = "record", f'"fields":[{",".join(_write_fields(schema, node, defined, depth))}]'
        case Enum():
            kind, parts = "enum", '"symbols":[' + ",".join([f'"{symbol}"' for symbol in node.symbols]) + "]"
        case Fixed():
            kind, parts = "fixed", f'"size":{node.size}'
        case _:
            raise AssertionError(node)
    return f'{{"name":"{name}","type":"{kind}",{parts}}}'


def _write_fields(schema: AvroSchema, record: Record, defined: set[str], depth: int) -> list[str]:
    return [
        f'{{"name":"{field.name}","type":{_write_type(schema, field.type, defined, depth + 1)}}}'
        for field in record.fields
    ]


def _table_row(byte: int) -> int:
    value = byte
    for _ in range(8):
        value = (value >> 1) ^ (_EMPTY if value & 1 else 0)
    return value


_TABLE: Final = tuple(map(_table_row, range(256)))
