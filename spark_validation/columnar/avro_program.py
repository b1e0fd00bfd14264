"""Avro schemas compiled for the walkers: nodes (what to read) and places (paths of the value)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

__all__ = ["CONTAINERS", "AvroKind", "AvroProgram", "LogicalType", "ProgramNode", "ValuePath"]


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
class ProgramNode:
    """A node of the schema, one per position in its text; uses of a named type share one node."""

    kind: AvroKind
    pointer: str  #: JSON Pointer into the schema's text
    size: int = 0  #: bytes of a value, where every value has the same
    logical: LogicalType | None = None
    symbols: tuple[str, ...] = ()  #: of an enum
    names: tuple[str, ...] = ()  #: of a record's fields
    children: list[ProgramNode] = field(
        default_factory=list
    )  #: field types, branches, items, or a map's keys and values
    empty: bool = False  #: true if values take no bytes at all


@dataclass(slots=True, eq=False)
class AvroProgram:
    """A schema that is ready to be walked; places are created as data reaches them."""

    root: ValuePath
    limit: int  #: maximum number of cached places
    grown: int = 1

    @classmethod
    def of(cls, node: ProgramNode, limit: int) -> AvroProgram:
        """Return the program with this root node."""
        root = ValuePath(node, "", 1, frozenset(), collected=True)
        program = cls(root, limit)
        root.program = program
        return program


class ValuePath:
    """A node reached along one path of the value; recursive schemas have one per level found in the data."""

    __slots__ = ("_children", "_open", "collected", "depth", "field", "node", "program")

    program: AvroProgram

    def __init__(
        self, node: ProgramNode, path: str, depth: int, opened: frozenset[ProgramNode], *, collected: bool
    ) -> None:
        self.node = node
        self.field = path  #: the value's path, as ``legs[].carrier``
        self.depth = depth  #: number of enclosing containers, this one included
        self.collected = collected  #: whether leaves below become columns; false inside a recursion
        self._open = opened
        self._children: list[ValuePath | None] | None = None

    def child(self, index: int) -> ValuePath:
        """Return the place of a field, a branch, the items, or a map's keys (0) and values (1)."""
        if self._children is None:
            self._children = [None] * len(self.node.children)
        known = self._children[index]
        if known is not None:
            return known
        made = self._grow(index)
        if self.program.grown < self.program.limit:
            self.program.grown += 1
            self._children[index] = made
        return made

    def _grow(self, index: int) -> ValuePath:
        node = self.node.children[index]
        path, depth, opened = self.field, self.depth + 1, self._open
        match self.node.kind:
            case AvroKind.RECORD:
                name = self.node.names[index]
                path = f"{path}.{name}" if path else name
                opened = opened | {self.node}
            case AvroKind.ARRAY:
                path += "[]"
            case AvroKind.MAP:
                path += "{}"
            case _:
                depth -= 1
        within = self.program.grown < self.program.limit
        key = self.node.kind is AvroKind.MAP and index == 0
        collected = self.collected and within and not key and node not in opened
        made = ValuePath(node, path, depth, opened, collected=collected)
        made.program = self.program
        return made

    def __repr__(self) -> str:
        return f"<{self.node.kind.name} {self.node.pointer!r} {self.field!r}>"
