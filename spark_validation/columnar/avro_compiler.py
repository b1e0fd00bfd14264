"""Compiler of parsed Avro schemas into the nodes that the walkers read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.avro import types as avro
from contractlog.compatibility.json_text import Number
from contractlog.spark_validation.columnar.avro_program import AvroKind, LogicalType, ProgramNode

__all__ = ["compile_schema"]

_SIZES: Final[Mapping[AvroKind, int]] = MappingProxyType({AvroKind.BOOLEAN: 1, AvroKind.FLOAT: 4, AvroKind.DOUBLE: 8})
_LONGEST_NUMBER: Final = 10
_LOGICAL: Final[Mapping[str, frozenset[AvroKind]]] = MappingProxyType(
    {
        "date": frozenset({AvroKind.INT}),
        "decimal": frozenset({AvroKind.BYTES, AvroKind.FIXED}),
        "time-millis": frozenset({AvroKind.INT}),
        "time-micros": frozenset({AvroKind.LONG}),
        "timestamp-millis": frozenset({AvroKind.LONG}),
        "timestamp-micros": frozenset({AvroKind.LONG}),
        "timestamp-nanos": frozenset({AvroKind.LONG}),
        "uuid": frozenset({AvroKind.STRING}),
    }
)


def compile_schema(schema: avro.AvroSchema) -> ProgramNode:
    """Return the root node; each named type is a single node, so recursive schemas become cycles."""
    named: dict[str, ProgramNode] = {}
    waiting: list[tuple[avro.AvroType, ProgramNode]] = []
    made: list[ProgramNode] = []

    def node_of(written: avro.AvroType) -> ProgramNode:
        resolved = schema.resolve(written)
        if isinstance(resolved, avro.NamedType) and resolved.name in named:
            return named[resolved.name]
        node = _make_node(resolved)
        if isinstance(resolved, avro.NamedType):
            named[resolved.name] = node
        made.append(node)
        waiting.append((resolved, node))
        return node

    root = node_of(schema.root)
    while waiting:
        written, node = waiting.pop()
        match written:
            case avro.Record():
                node.children = [node_of(member.type) for member in written.fields]
            case avro.Array():
                node.children = [node_of(written.items)]
            case avro.Map():
                made.append(key := ProgramNode(AvroKind.STRING, written.at))
                node.children = [key, node_of(written.values)]
            case avro.Union():
                node.children = [node_of(branch) for branch in written.branches]
    _mark_empty(made)
    return root


def _make_node(written: avro.AvroType) -> ProgramNode:
    """Return a node that is complete except for its children."""
    kind = (
        AvroKind[written.type.upper()]
        if isinstance(written, avro.Primitive)
        else AvroKind[type(written).__name__.upper()]
    )
    node = ProgramNode(kind, written.at, size=_SIZES.get(kind, 0))
    match written:
        case avro.Record():
            node.names = tuple(member.name for member in written.fields)
        case avro.Enum():
            node.symbols = written.symbols
        case avro.Fixed():
            node.size = written.size
    node.logical = _parse_logical_type(written, node)
    return node


def _parse_logical_type(written: avro.AvroType, node: ProgramNode) -> LogicalType | None:
    """Return the logical type; None if there is none or the specification says to ignore it."""
    name = written.logical_type
    if name is None or node.kind not in _LOGICAL.get(name, ()):
        return None
    if name != "decimal":
        return LogicalType(name)
    precision, scale = (
        _parse_integer(written.props.get("precision")),
        _parse_integer(written.props.get("scale", Number("0"))),
    )
    if precision is None or scale is None or not 0 <= scale <= precision or not precision:
        return None
    if node.kind is AvroKind.FIXED and precision > _max_digits(node.size):
        return None
    return LogicalType(name, precision, scale)


def _parse_integer(number: Any) -> int | None:
    """Return a schema attribute as int if it is a whole number of at most 10 characters, else None."""
    if isinstance(number, Number) and number.integral and len(number.text) <= _LONGEST_NUMBER:
        return int(number.text)
    return None


def _max_digits(size: int) -> int:
    """Return how many decimal digits always fit into a two's complement number of ``size`` bytes."""
    return (8 * size - 1) * 30103 // 100000 if size else 0


def _mark_empty(made: list[ProgramNode]) -> None:
    """Mark nodes whose values take no bytes, including records of only such fields, unless recursive."""
    users: dict[int, list[ProgramNode]] = defaultdict(list)
    filled: dict[int, int] = {}
    for node in made:
        if node.kind is AvroKind.RECORD:
            filled[id(node)] = len(node.children)
            for child in node.children:
                users[id(child)].append(node)
    found = [
        node
        for node in made
        if node.kind is AvroKind.NULL
        or (node.kind is AvroKind.FIXED and not node.size)
        or (node.kind is AvroKind.RECORD and not node.children)
    ]
    while found:
        node = found.pop()
        node.empty = True
        for user in users[id(node)]:
            filled[id(user)] -= 1
            if not filled[id(user)]:
                found.append(user)
