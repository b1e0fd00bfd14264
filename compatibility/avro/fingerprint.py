"""Fingerprints of the Avro specification, computed from the parsing canonical form.

They identify a schema among Avro tools. Ids and guids of a registry depend on the whole text; see ``identity.py``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.avro.nodes import (
    Array,
    Enum,
    Fixed,
    Map,
    Named,
    Node,
    Primitive,
    Record,
    Schema,
    TypeName,
    Union,
)
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import MAX_NESTING

__all__ = ["Fingerprints", "crc64", "fingerprints", "parsing_form"]

_EMPTY: Final = 0xC15D213AA4D7A795
_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Fingerprints:
    """The three fingerprints of the specification."""

    crc64: int  #: CRC-64-AVRO as a signed number, as in Java
    md5: str
    sha256: str


def fingerprints(schema: Schema) -> Fingerprints:
    """Return the fingerprints of a schema with all its dependencies."""
    form = parsing_form(schema).encode()
    crc = crc64(form)
    signed = crc - (1 << _BITS) if crc >> (_BITS - 1) else crc
    return Fingerprints(signed, hashlib.md5(form, usedforsecurity=False).hexdigest(), hashlib.sha256(form).hexdigest())


def parsing_form(schema: Schema) -> str:
    """Return the parsing canonical form: full names, fixed key order, only what reading depends on."""
    return _write(schema, schema.root, set(), 0)


def crc64(text: bytes) -> int:
    """Return the 64-bit Rabin fingerprint of the specification.

    >>> hex(crc64(b'"int"'))
    '0x7275d51a3f395c8f'
    """
    value = _EMPTY
    for byte in text:
        value = (value >> 8) ^ _TABLE[(value ^ byte) & 0xFF]
    return value


def _write(schema: Schema, node: Node, known: set[str], depth: int) -> str:
    if depth > MAX_NESTING:
        raise InvalidSchema(f"the types, written out, are nested more than {MAX_NESTING} levels deep", at=node.at)
    match node:
        case Primitive():
            return f'"{node.type}"'
        case Union():
            return "[" + ",".join([_write(schema, branch, known, depth + 1) for branch in node.branches]) + "]"
        case Array():
            return f'{{"type":"array","items":{_write(schema, node.items, known, depth + 1)}}}'
        case Map():
            return f'{{"type":"map","values":{_write(schema, node.values, known, depth + 1)}}}'
        case TypeName() | Named():
            return _named(schema, node.name, known, depth)
    raise AssertionError(node)


def _named(schema: Schema, name: str, known: set[str], depth: int) -> str:
    if name in known:
        return f'"{name}"'
    known.add(name)
    node = schema.types[name]
    match node:
        case Record():
            kind, parts = "record", f'"fields":[{",".join(_fields(schema, node, known, depth))}]'
        case Enum():
            kind, parts = "enum", '"symbols":[' + ",".join([f'"{symbol}"' for symbol in node.symbols]) + "]"
        case Fixed():
            kind, parts = "fixed", f'"size":{node.size}'
        case _:
            raise AssertionError(node)
    return f'{{"name":"{name}","type":"{kind}",{parts}}}'


def _fields(schema: Schema, record: Record, known: set[str], depth: int) -> list[str]:
    return [
        f'{{"name":"{field.name}","type":{_write(schema, field.type, known, depth + 1)}}}' for field in record.fields
    ]


def _row(byte: int) -> int:
    value = byte
    for _ in range(8):
        value = (value >> 1) ^ (_EMPTY if value & 1 else 0)
    return value


_TABLE: Final = tuple(map(_row, range(256)))
