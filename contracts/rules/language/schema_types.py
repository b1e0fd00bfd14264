"""Types of rule expressions from Avro and JSON schemas, for the values that our serdes return."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from contractlog.compatibility.avro import types as avro
from contractlog.compatibility.avro.logical_types import describe_logical_type
from contractlog.compatibility.json_schema import nodes
from contractlog.compatibility.json_schema.schema_format import get_tree
from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.contracts.rules.language.type_checker import join_types
from contractlog.contracts.rules.language.value_types import (
    BOOL,
    BYTES,
    DECIMAL,
    DOUBLE,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    ValueType,
    list_of,
    map_of,
    record_of,
)

__all__ = ["record_type"]

_MAX_DEPTH: Final = 50  #: of types without records between them
_PRIMITIVES: Final = {
    "null": NULL, "boolean": BOOL, "int": INT, "long": INT, "float": DOUBLE, "double": DOUBLE,
    "bytes": BYTES, "string": STRING,
}  # fmt: skip
_LOGICAL_TYPES: Final = {
    "date": replace(INT, conversion="date"),
    "uuid": replace(STRING, conversion="uuid"),
    "timestamp-millis": TIMESTAMP,
    "timestamp-micros": TIMESTAMP,
    "local-timestamp-millis": TIMESTAMP,
    "local-timestamp-micros": TIMESTAMP,
    "time-millis": DYN,
    "time-micros": DYN,
    "decimal": DECIMAL,
}


def record_type(parsed: ParsedSchema) -> ValueType:
    """Return the type of a schema's records; ``dyn`` for formats other than Avro and JSON."""
    if parsed.type is SchemaType.AVRO:
        return _avro_type(parsed.root, parsed.root.root, {}, 0)
    if parsed.type is SchemaType.JSON:
        return _json_type(get_tree(parsed), 0)
    return DYN


def _avro_type(  # noqa: PLR0911 -- one for each kind of node
    schema: avro.AvroSchema, use: avro.AvroType, records: dict[str, ValueType], depth: int
) -> ValueType:
    node = schema.resolve(use)
    if depth > _MAX_DEPTH:
        return DYN
    if isinstance(node, avro.Record):
        if node.name not in records:
            records[node.name] = record_of(avro.short_name(node.name), _avro_fields(schema, node, records))
        return records[node.name]
    logical = _LOGICAL_TYPES.get(describe_logical_type(node).partition("(")[0])
    if logical is not None:
        return logical
    if isinstance(node, avro.Primitive):
        return _PRIMITIVES[node.type]
    match node:
        case avro.Array():
            return list_of(_avro_type(schema, node.items, records, depth + 1))
        case avro.Map():
            return map_of(STRING, _avro_type(schema, node.values, records, depth + 1))
        case avro.Union():
            return _join_branches(_avro_type(schema, branch, records, depth + 1) for branch in node.branches)
        case avro.Enum():
            return STRING
    return BYTES if isinstance(node, avro.Fixed) else DYN


def _avro_fields(
    schema: avro.AvroSchema, record: avro.Record, records: dict[str, ValueType]
) -> Callable[[], Mapping[str, ValueType]]:
    return lambda: {field.name: _avro_type(schema, field.type, records, 0) for field in record.fields}


def _join_branches(branches: Iterable[ValueType]) -> ValueType:
    """Return the type of a union: nullable for null and one other type, else of any type."""
    types = list(branches)
    return join_types(types) if types else DYN


def _json_type(schema: Any, depth: int) -> ValueType:  # noqa: PLR0911 -- one for each kind of node
    node = schema.resolve() if isinstance(schema, nodes.SchemaNode) else schema
    if depth > _MAX_DEPTH:
        return DYN
    match node:
        case nodes.NullNode():
            return NULL
        case nodes.BooleanNode():
            return BOOL
        case nodes.StringNode(typed=True):
            return STRING
        case nodes.NumericNode(typed=True):
            return INT if node.integer else DOUBLE
        case nodes.ArrayNode(typed=True):
            return list_of(DYN if node.items is None or node.listed else _json_type(node.items, depth + 1))
        case nodes.ObjectNode(typed=True):
            return _object_type(node, depth)
        case nodes.CombinedNode(criterion="anyOf" | "oneOf"):
            return _join_branches(_json_type(branch, depth + 1) for branch in node.branches)
    return DYN


def _object_type(node: nodes.ObjectNode, depth: int) -> ValueType:
    if not node.properties and not node.pattern_properties and isinstance(node.additional, nodes.SchemaNode):
        return map_of(STRING, _json_type(node.additional, depth + 1))
    closed = isinstance(node.additional, nodes.NeverNode) and not node.pattern_properties
    return record_of(
        node.title or "", lambda: {name: _json_type(part, 0) for name, part in node.properties.items()}, closed=closed
    )
