"""Interned shapes of Avro types, with only what reading and writing depend on.

Two types have the same shape if they and all types that they refer to are equal, whichever schemas they are in.
Mutually recursive types are shaped together, so a shape may contain a cycle.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Final

from contractlog.compatibility.avro.types import (
    MISSING,
    PRIMITIVES,
    AvroSchema,
    AvroType,
    Enum,
    Fixed,
    NamedType,
    Primitive,
    Record,
    TypeName,
    list_inner_types,
    short_name,
)
from contractlog.compatibility.memo import Memo

__all__ = ["AvroShape", "FieldShape", "ShapeBuilder"]

_MAX_DEPTH: Final = 150


class AvroShape:
    """A type as seen by readers and writers; compared by identity."""

    __slots__ = (
        "__weakref__",
        "aliases",
        "fields",
        "has_default",
        "kind",
        "members",
        "name",
        "names",
        "parts",
        "reads_itself",
        "short",
        "symbols",
    )

    def __init__(self, kind: str) -> None:
        self.kind = kind  #: as in messages, such as ``INT`` or ``RECORD``
        self.name = self.short = ""
        self.aliases: tuple[str, ...] = ()
        self.parts: tuple[AvroShape, ...] = ()  #: items, values or branches
        self.symbols: frozenset[str] = frozenset()  #: symbols of an enum; the size of a fixed
        self.has_default = False  #: True if an enum has a default for unknown symbols
        self.fields: tuple[FieldShape, ...] = ()
        self.members: frozenset[FieldShape] = frozenset()  #: the fields as a set, for merging
        self.names: frozenset[str] = frozenset()  #: field names
        self.reads_itself = True  #: False if that is not certain


class FieldShape:
    """A record field as seen by readers and writers; compared by identity."""

    __slots__ = ("aliases", "has_default", "name", "type")

    def __init__(self, name: str, aliases: tuple[str, ...], type_: AvroShape, has_default: bool) -> None:  # noqa: FBT001 - by position, which is fast
        self.name = name
        self.aliases = aliases
        self.type = type_
        self.has_default = has_default


_PRIMITIVES: Final = {name: AvroShape(name.upper()) for name in PRIMITIVES}


class _TooDeep(Exception):
    """The schema is nested too deep for shapes."""


class _CycleFound(Exception):
    """A type is reached from within itself."""


class ShapeBuilder:
    """Builder of the shapes of one schema, interned in a memo."""

    def __init__(self, schema: AvroSchema, memo: Memo) -> None:
        self._schema = schema
        self._cached = memo.shapes
        self._put = memo.shapes.put
        self._named: dict[str, AvroShape] = {}
        self._open: set[str] = set()
        self._depth = 0

    def shape(self, node: AvroType) -> AvroShape | None:
        """Return the shape of a type; None if it is nested too deep for shapes."""
        try:
            try:
                return self._shape(node)
            except _CycleFound:
                self._open.clear()
                self._depth = 0
                self._shape_cycles(node)
                return self._shape(node)
        except (_TooDeep, RecursionError):
            return None
        finally:
            self._open.clear()
            self._depth = 0

    def _shape(self, node: AvroType) -> AvroShape:
        if isinstance(node, Primitive):
            return _PRIMITIVES[node.type]
        if isinstance(node, (TypeName, NamedType)):
            return self._named.get(node.name) or self._define(node.name)
        self._enter()
        parts = tuple(
            [
                _PRIMITIVES[part.type] if isinstance(part, Primitive) else self._shape(part)
                for part in list_inner_types(node)
            ]
        )
        self._depth -= 1
        key = (type(node), parts)
        shared: AvroShape = self._cached.get(key) or self._put(key, _fill_parts(AvroShape(node.kind), parts))
        return shared

    def _define(self, name: str) -> AvroShape:
        if name in self._open:
            raise _CycleFound
        self._open.add(name)
        self._enter()
        shape = self._named[name] = self._definition(self._schema.types[name])
        self._depth -= 1
        self._open.discard(name)
        return shape

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _TooDeep

    def _definition(self, node: NamedType) -> AvroShape:
        match node:
            case Record():
                fields = self._fields(node)
                key: Hashable = ("RECORD", node.name, node.aliases, fields)
                weight = 1 + len(fields)
            case Enum():
                fields, weight = (), 1 + len(node.symbols)
                key = ("ENUM", node.name, node.aliases, node.symbols, node.default is None)
            case Fixed():
                fields, weight = (), 1
                key = ("FIXED", node.name, node.aliases, node.size)
            case _:
                raise _TooDeep
        shape: AvroShape = self._cached.get(key) or self._put(
            key, _fill_definition(AvroShape(node.kind), node, fields), weight
        )
        return shape

    def _fields(self, node: Record) -> tuple[FieldShape, ...]:
        cached, fields = self._cached, []
        for field in node.fields:
            kind = field.type
            type_ = _PRIMITIVES[kind.type] if isinstance(kind, Primitive) else self._shape(kind)
            key = (field.name, field.aliases, type_, field.default is not MISSING)
            fields.append(cached.get(key) or self._put(key, FieldShape(*key)))
        return tuple(fields)

    def _shape_cycles(self, node: AvroType) -> None:
        """Shape every named type that the node refers to, in groups of mutual recursion, inner groups first.

        Tarjan's algorithm finds the groups: a group is complete when nothing in it refers to an earlier type.
        """
        order: dict[str, int] = {}
        group: dict[str, None] = {}

        def visit(name: str, depth: int) -> int:
            if depth > _MAX_DEPTH:
                raise _TooDeep
            first = order[name] = len(order)
            group[name] = None
            for other in _used_names(self._schema.types[name], inside=True):
                if other not in order:
                    first = min(first, visit(other, depth + 1))
                elif other in group:
                    first = min(first, order[other])
            if first == order[name]:
                together = [other for other in group if order[other] >= first]
                for other in together:
                    del group[other]
                self._shape_together(together)
            return first

        for name in _used_names(node, inside=False):
            if name not in order:
                visit(name, 0)

    def _shape_together(self, names: list[str]) -> None:
        types = [self._schema.types[name] for name in sorted(names)]
        if names[0] in self._named:
            return
        if len(names) == 1 and names[0] not in _used_names(types[0], inside=True):
            self._shape(types[0])
            return
        inside = {name: (name,) for name in names}
        key = ("CYCLE", *[self._local(node, inside) for node in types])
        shapes = self._cached.get(key)
        if shapes is None:
            shapes = {node.name: AvroShape(node.kind) for node in types}
            self._named.update(shapes)
            reads_itself = not any(map(_is_ambiguous, self._schema.types.values()))
            for shape in shapes.values():
                shape.reads_itself = reads_itself
            for node in types:
                _fill_definition(shapes[node.name], node, self._fields(node) if isinstance(node, Record) else ())
            self._put(key, shapes, 1 + sum(len(shape.fields) for shape in shapes.values()))
        self._named.update(shapes)

    def _local(self, node: AvroType, inside: dict[str, tuple[str]]) -> Hashable:
        """Return a key for a definition: names of its own group unchanged, shapes for all other types."""
        match node:
            case Record():
                fields = [
                    (field.name, field.aliases, field.has_default, self._part(field.type, inside))
                    for field in node.fields
                ]
                return ("RECORD", node.name, node.aliases, *fields)
            case NamedType():
                return self._shape(node)
            case _:
                return (node.kind, *[self._part(part, inside) for part in list_inner_types(node)])

    def _part(self, node: AvroType, inside: dict[str, tuple[str]]) -> Hashable:
        if isinstance(node, (TypeName, NamedType)):
            return inside.get(node.name) or self._shape(node)
        return self._shape(node) if isinstance(node, Primitive) else self._local(node, inside)


def _fill_parts(shape: AvroShape, parts: tuple[AvroShape, ...]) -> AvroShape:
    shape.parts = parts
    shape.reads_itself = all(part.reads_itself for part in parts)
    return shape


def _fill_definition(shape: AvroShape, node: NamedType, fields: tuple[FieldShape, ...]) -> AvroShape:
    shape.name, shape.short, shape.aliases = node.name, short_name(node.name), node.aliases
    match node:
        case Record():
            shape.fields = fields
            shape.members = frozenset(fields)
            shape.names = frozenset([field.name for field in fields])
            shape.reads_itself = all([field.type.reads_itself for field in fields]) and not _is_ambiguous(node)  # noqa: C419 - twice as fast
        case Enum():
            shape.symbols, shape.has_default = frozenset(node.symbols), node.default is not None
        case Fixed():
            shape.symbols = frozenset((str(node.size),))
    return shape


def _is_ambiguous(node: NamedType) -> bool:
    """Return True if a field alias is the name of another field, so the record may not read itself."""
    if not isinstance(node, Record):
        return False
    if not any([field.aliases for field in node.fields]):  # noqa: C419 - twice as fast
        return False
    names = {field.name for field in node.fields}
    return any(alias in names and alias != field.name for field in node.fields for alias in field.aliases)


def _used_names(node: AvroType, *, inside: bool) -> Iterator[str]:
    """Yield the type names used in a node: the node's own, or if ``inside``, those within its definition."""
    if isinstance(node, Record) and inside:
        for field in node.fields:
            yield from _used_names(field.type, inside=False)
    elif isinstance(node, (TypeName, NamedType)):
        if not inside:
            yield node.name
    else:
        for part in list_inner_types(node):
            yield from _used_names(part, inside=False)
