"""Compiler of parsed Avro schemas into the nodes that the walkers read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.avro import nodes as avro
from contractlog.compatibility.json_text import Number
from contractlog.spark_validation.columnar.program import Kind, Logical, Node

__all__ = ["compile_schema"]

_SIZES: Final[Mapping[Kind, int]] = MappingProxyType({Kind.BOOLEAN: 1, Kind.FLOAT: 4, Kind.DOUBLE: 8})
_LONGEST_NUMBER: Final = 10
_LOGICAL: Final[Mapping[str, frozenset[Kind]]] = MappingProxyType(
    {
        "date": frozenset({Kind.INT}),
        "decimal": frozenset({Kind.BYTES, Kind.FIXED}),
        "time-millis": frozenset({Kind.INT}),
        "time-micros": frozenset({Kind.LONG}),
        "timestamp-millis": frozenset({Kind.LONG}),
        "timestamp-micros": frozenset({Kind.LONG}),
        "timestamp-nanos": frozenset({Kind.LONG}),
        "uuid": frozenset({Kind.STRING}),
    }
)


def compile_schema(schema: avro.Schema) -> Node:
    """Return the root node; each named type is a single node, so recursive schemas become cycles."""
    named: dict[str, Node] = {}
    waiting: list[tuple[avro.Node, Node]] = []
    made: list[Node] = []

    def node_of(written: avro.Node) -> Node:
        resolved = schema.resolve(written)
        if isinstance(resolved, avro.Named) and resolved.name in named:
            return named[resolved.name]
        node = _shell(resolved)
        if isinstance(resolved, avro.Named):
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
                made.append(key := Node(Kind.STRING, written.at))
                node.children = [key, node_of(written.values)]
            case avro.Union():
                node.children = [node_of(branch) for branch in written.branches]
    _mark_empty(made)
    return root


def _shell(written: avro.Node) -> Node:
    """Return a node that is complete except for its children."""
    kind = Kind[written.type.upper()] if isinstance(written, avro.Primitive) else Kind[type(written).__name__.upper()]
    node = Node(kind, written.at, size=_SIZES.get(kind, 0))
    match written:
        case avro.Record():
            node.names = tuple(member.name for member in written.fields)
        case avro.Enum():
            node.symbols = written.symbols
        case avro.Fixed():
            node.size = written.size
    node.logical = _logical(written, node)
    return node


def _logical(written: avro.Node, node: Node) -> Logical | None:
    """Return the logical type; None if there is none or the specification says to ignore it."""
    name = written.logical_type
    if name is None or node.kind not in _LOGICAL.get(name, ()):
        return None
    if name != "decimal":
        return Logical(name)
    precision, scale = _whole(written.props.get("precision")), _whole(written.props.get("scale", Number("0")))
    if precision is None or scale is None or not 0 <= scale <= precision or not precision:
        return None
    if node.kind is Kind.FIXED and precision > _most_digits(node.size):
        return None
    return Logical(name, precision, scale)


def _whole(number: Any) -> int | None:
    """Return a schema attribute as int if it is a whole number of at most 10 characters, else None."""
    if isinstance(number, Number) and number.integral and len(number.text) <= _LONGEST_NUMBER:
        return int(number.text)
    return None


def _most_digits(size: int) -> int:
    """Return how many decimal digits always fit into a two's complement number of ``size`` bytes."""
    return (8 * size - 1) * 30103 // 100000 if size else 0


def _mark_empty(made: list[Node]) -> None:
    """Mark nodes whose values take no bytes, including records of only such fields, unless recursive."""
    users: dict[int, list[Node]] = defaultdict(list)
    filled: dict[int, int] = {}
    for node in made:
        if node.kind is Kind.RECORD:
            filled[id(node)] = len(node.children)
            for child in node.children:
                users[id(child)].append(node)
    found = [
        node
        for node in made
        if node.kind is Kind.NULL
        or (node.kind is Kind.FIXED and not node.size)
        or (node.kind is Kind.RECORD and not node.children)
    ]
    while found:
        node = found.pop()
        node.empty = True
        for user in users[id(node)]:
            filled[id(user)] -= 1
            if not filled[id(user)]:
                found.append(user)
