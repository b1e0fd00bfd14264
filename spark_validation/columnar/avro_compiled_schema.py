"""Avro schemas compiled for the walkers: nodes (what to read) and paths of the value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType
from typing import Final

from contractlog.compatibility.avro import types as avro
from contractlog.compatibility.avro.logical_types import parse_decimal
from contractlog.compatibility.field_paths import join_path
from contractlog.serdes.avro.interpreter.codecs import RECORD_COST

__all__ = [
    "CONTAINERS",
    "AvroKind",
    "CompiledNode",
    "CompiledSchema",
    "LogicalType",
    "ValuePath",
    "compile_schema",
    "make_node",
    "mark_empty",
]


class AvroKind(IntEnum):
    """Type of the value read at a node."""

    NULL = 0
    BOOLEAN = 1
    INT = 2
    LONG = 3
    FLOAT = 4
    DOUBLE = 5
    BYTES = 6
    STRING = 7
    FIXED = 8
    ENUM = 9
    ARRAY = 10
    MAP = 11
    UNION = 12
    RECORD = 13


CONTAINERS: Final = frozenset({AvroKind.ARRAY, AvroKind.MAP, AvroKind.UNION, AvroKind.RECORD})


@dataclass(frozen=True, slots=True)
class LogicalType:
    """A logical type that adds a rule or a column type to its underlying type."""

    name: str  #: as the specification writes it
    precision: int = 0  #: of ``decimal``
    scale: int = 0


@dataclass(slots=True, eq=False)
class CompiledNode:
    """A node of the schema, one per position in its text; uses of a named type share one node."""

    kind: AvroKind
    pointer: str  #: JSON Pointer into the schema's text
    size: int = 0  #: bytes of a value, where every value has the same
    logical: LogicalType | None = None
    symbols: tuple[str, ...] = ()  #: of an enum
    names: tuple[str, ...] = ()  #: of a record's fields
    children: list[CompiledNode] = field(
        default_factory=list
    )  #: field types, branches, items, or a map's keys and values
    empty: bool = False  #: true if values take no bytes at all
    cost: int = 1  #: of such a value, against the limit on items without bytes
    levels: int = 0  #: nested records of such a value
    surplus: int = 0  #: what such a value counts as a branch of a union, an entry of a map or the whole record
    extra_items: int = 0  #: what each record counts by itself: fields without bytes, and at most those of defaults


@dataclass(slots=True, eq=False)
class CompiledSchema:
    """A schema that is ready to be walked; paths are created as data reaches them."""

    root: ValuePath
    limit: int  #: maximum number of cached paths
    path_count: int = 1

    @classmethod
    def of(cls, node: CompiledNode, limit: int) -> CompiledSchema:
        """Return the compiled schema with this root node."""
        root = ValuePath(node, "", 1, frozenset(), collected=True)
        compiled = cls(root, limit)
        root.compiled = compiled
        return compiled


class ValuePath:
    """A node reached along one path of the value; recursive schemas have one per level found in the data."""

    __slots__ = ("_children", "_open", "collected", "compiled", "depth", "field", "node")

    compiled: CompiledSchema

    def __init__(
        self, node: CompiledNode, path: str, depth: int, opened: frozenset[CompiledNode], *, collected: bool
    ) -> None:
        self.node = node
        self.field = path  #: the value's path, as ``legs[].carrier``
        self.depth = depth  #: number of enclosing containers, this one included
        self.collected = collected  #: whether leaves below become columns; false inside a recursion
        self._open = opened
        self._children: list[ValuePath | None] | None = None

    def child(self, index: int) -> ValuePath:
        """Return the path of a field, a branch, the items, or a map's keys (0) and values (1)."""
        if self._children is None:
            self._children = [None] * len(self.node.children)
        existing = self._children[index]
        if existing is not None:
            return existing
        child = self._make_child(index)
        if self.compiled.path_count < self.compiled.limit:
            self.compiled.path_count += 1
            self._children[index] = child
        return child

    def _make_child(self, index: int) -> ValuePath:
        node = self.node.children[index]
        path, depth, opened = self.field, self.depth + 1, self._open
        match self.node.kind:
            case AvroKind.RECORD:
                name = self.node.names[index]
                path = join_path(path, name)
                opened = opened | {self.node}
            case AvroKind.ARRAY:
                path += "[]"
            case AvroKind.MAP:
                path += "{}"
            case _:
                depth -= 1
        below_limit = self.compiled.path_count < self.compiled.limit
        key = self.node.kind is AvroKind.MAP and index == 0
        collected = self.collected and below_limit and not key and node not in opened
        child = ValuePath(node, path, depth, opened, collected=collected)
        child.compiled = self.compiled
        return child

    def __repr__(self) -> str:
        return f"<{self.node.kind.name} {self.node.pointer!r} {self.field!r}>"


_SIZES: Final[Mapping[AvroKind, int]] = MappingProxyType({AvroKind.BOOLEAN: 1, AvroKind.FLOAT: 4, AvroKind.DOUBLE: 8})
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


def compile_schema(schema: avro.AvroSchema) -> CompiledNode:
    """Return the root node; each named type is a single node, so recursive schemas become cycles."""
    named: dict[str, CompiledNode] = {}
    pending: list[tuple[avro.AvroType, CompiledNode]] = []
    nodes: list[CompiledNode] = []

    def node_of(avro_type: avro.AvroType) -> CompiledNode:
        resolved = schema.resolve(avro_type)
        if isinstance(resolved, avro.NamedType) and resolved.name in named:
            return named[resolved.name]
        node = make_node(resolved)
        if isinstance(resolved, avro.NamedType):
            named[resolved.name] = node
        nodes.append(node)
        pending.append((resolved, node))
        return node

    root = node_of(schema.root)
    while pending:
        avro_type, node = pending.pop()
        match avro_type:
            case avro.Record():
                node.children = [node_of(member.type) for member in avro_type.fields]
            case avro.Array():
                node.children = [node_of(avro_type.items)]
            case avro.Map():
                nodes.append(key := CompiledNode(AvroKind.STRING, avro_type.at))
                node.children = [key, node_of(avro_type.values)]
            case avro.Union():
                node.children = [node_of(branch) for branch in avro_type.branches]
    mark_empty(nodes)
    return root


def make_node(avro_type: avro.AvroType) -> CompiledNode:
    """Return a node that is complete except for its children."""
    kind = (
        AvroKind[avro_type.type.upper()]
        if isinstance(avro_type, avro.Primitive)
        else AvroKind[type(avro_type).__name__.upper()]
    )
    node = CompiledNode(kind, avro_type.at, size=_SIZES.get(kind, 0))
    match avro_type:
        case avro.Record():
            node.names = tuple(member.name for member in avro_type.fields)
        case avro.Enum():
            node.symbols = avro_type.symbols
        case avro.Fixed():
            node.size = avro_type.size
    node.logical = _parse_logical_type(avro_type, node)
    return node


def _parse_logical_type(avro_type: avro.AvroType, node: CompiledNode) -> LogicalType | None:
    """Return the logical type; None if there is none or the specification says to ignore it."""
    name = avro_type.logical_type
    if name is None or node.kind not in _LOGICAL.get(name, ()):
        return None
    if name != "decimal":
        return LogicalType(name)
    parameters = parse_decimal(avro_type.props, node.size if node.kind is AvroKind.FIXED else None)
    return None if parameters is None else LogicalType(name, *parameters)


def mark_empty(nodes: list[CompiledNode]) -> None:
    """Mark nodes whose values take no bytes, including records of only such fields, unless recursive.

    Their costs are those of the deserializers. Records whose defaults bring items are read one by one, so not marked.
    """
    users: dict[int, list[CompiledNode]] = defaultdict(list)
    filled: dict[int, int] = {}
    for node in nodes:
        if node.kind is AvroKind.RECORD:
            filled[id(node)] = len(node.children)
            for child in node.children:
                users[id(child)].append(node)
    empty = [
        node
        for node in nodes
        if node.kind is AvroKind.NULL
        or (node.kind is AvroKind.FIXED and not node.size)
        or (node.kind is AvroKind.RECORD and not node.children and not node.extra_items)
    ]
    while empty:
        node = empty.pop()
        node.empty = True
        if node.kind is AvroKind.RECORD:
            node.cost = RECORD_COST + sum(child.cost for child in node.children)
            node.levels = 1 + max((child.levels for child in node.children), default=0)
        for user in users[id(node)]:
            filled[id(user)] -= 1
            if not filled[id(user)] and not user.extra_items:
                empty.append(user)
    for node in nodes:
        if node.kind is AvroKind.RECORD:
            _count_empty_fields(node)


def _count_empty_fields(node: CompiledNode) -> None:
    """Set what the fields of a record without bytes count, beyond a record without fields."""
    items = max(sum(child.cost for child in node.children if child.empty) - RECORD_COST, 0)
    if node.empty:
        node.surplus = items
    else:
        node.extra_items += items
