"""Shapes: what reading and writing depend on, as one comparable value; equal ones are not compared part by part."""

from __future__ import annotations

from collections.abc import Hashable

from contractlog.compatibility.avro.nodes import Array, Enum, Fixed, Map, Node, Primitive, Record, Union

__all__ = ["Shapes"]


class Shapes:
    """The shapes of the nodes of some schemas, each made once."""

    def __init__(self) -> None:
        self._made: dict[Node, Hashable] = {}

    def same(self, reader: Node, writer: Node) -> bool:
        """Whether the types are equal in all that reading depends on."""
        if reader.kind != writer.kind:
            return False
        shape = self.shape(reader)
        return shape is not None and shape == self.shape(writer)

    def shape(self, node: Node) -> Hashable:
        """Return all that reading and writing depend on; None where a name leads elsewhere."""
        if isinstance(node, Primitive):
            return node.type
        if node not in self._made:
            self._made[node] = self._make(node)
        return self._made[node]

    def _make(self, node: Node) -> Hashable:  # noqa: PLR0911 - one for each kind of type
        match node:
            case Array():
                return _of("array", self.shape(node.items))
            case Map():
                return _of("map", self.shape(node.values))
            case Union():
                return _of("union", *map(self.shape, node.branches))
            case Enum():
                return ("enum", node.name, node.aliases, node.symbols, node.default)
            case Fixed():
                return ("fixed", node.name, node.aliases, node.size)
            case Record():
                return self._record(node)
            case _:
                return None

    def _record(self, record: Record) -> Hashable:
        """Return a record's shape; a record with a field that could be two of its own fields does not read itself."""
        names = {field.name for field in record.fields}
        if any(alias in names and alias != field.name for field in record.fields for alias in field.aliases):
            return None
        types = [self.shape(field.type) for field in record.fields]
        if None in types:
            return None
        parts = [
            (field.name, field.aliases, field.has_default, shape)
            for field, shape in zip(record.fields, types, strict=True)
        ]
        return _of("record", record.name, record.aliases, *parts)


def _of(kind: str, *parts: Hashable) -> Hashable:
    return None if None in parts else (kind, parts)
