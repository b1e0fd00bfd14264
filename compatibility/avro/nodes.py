"""The tree of an Avro schema: nodes that never change and know their place in the text.

A named type is one node in the schema's table of types; every use of it, the recursive ones included, is a
``TypeName`` that the table resolves. So no tree has a cycle, and no walk needs to follow one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, dataclass_transform

__all__ = [
    "MISSING",
    "NO_PROPS",
    "PRIMITIVES",
    "Array",
    "Enum",
    "Field",
    "Fixed",
    "Map",
    "Missing",
    "Named",
    "Node",
    "Primitive",
    "Record",
    "Schema",
    "TypeName",
    "Union",
    "short_name",
]

PRIMITIVES: Final = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})


class Missing:
    """The type of a default that was not given; ``null`` is one that was."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


NO_PROPS: Final[Mapping[str, Any]] = {}  #: what most nodes have

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def node(cls: type[T]) -> type[T]:
    """Make a class of nodes: frozen to the type checker, and made as fast as an object that is not.

    Their members are given by position: that takes half the time.
    """
    return dataclass(slots=True, eq=False)(cls)


def short_name(full_name: str) -> str:
    """Return a name without its namespace."""
    return full_name.rpartition(".")[2]


@node
class Node:
    """Any type: where it stands, and the properties that Avro itself does not read."""

    at: str  #: JSON Pointer into the text; in a referenced text ``NAME#POINTER``
    props: Mapping[str, Any] = field(repr=False)

    @property
    def kind(self) -> str:
        """The type's name as messages write it, such as ``INT`` or ``RECORD``."""
        return type(self).__name__.upper()

    @property
    def logical_type(self) -> str | None:
        """The annotation that gives the type a meaning, where it has one."""
        name = self.props.get("logicalType")
        return name if isinstance(name, str) else None


@node
class Primitive(Node):
    """One of the eight types without parts."""

    type: str

    @property
    def kind(self) -> str:
        """The type's name as messages write it."""
        return self.type.upper()


@node
class TypeName(Node):
    """The use of a named type that is defined elsewhere."""

    name: str  #: full name


@node
class Array(Node):
    """Values of one type in an order."""

    items: Node


@node
class Map(Node):
    """Values of one type by string."""

    values: Node


@node
class Union(Node):
    """A value of any one branch."""

    branches: tuple[Node, ...]


@node
class Named(Node):
    """A type that others can name."""

    name: str  #: full name
    aliases: tuple[str, ...]  #: full names
    doc: str | None


@node
class Field:
    """A member of a record."""

    name: str
    type: Node
    at: str
    props: Mapping[str, Any] = field(repr=False)
    default: Any = MISSING
    doc: str | None = None
    order: str = "ascending"
    aliases: tuple[str, ...] = ()

    @property
    def has_default(self) -> bool:
        """Whether the field can be filled when the writer lacks it."""
        return self.default is not MISSING


@node
class Record(Named):
    """Fields in an order."""

    fields: tuple[Field, ...]
    is_error: bool  #: written as ``error``, which reads as ``record`` does


@node
class Enum(Named):
    """One of a list of symbols."""

    symbols: tuple[str, ...]
    default: str | None


@node
class Fixed(Named):
    """A number of bytes that never changes."""

    size: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Schema:
    """A whole schema: its root and every named type that it defines or leans on."""

    root: Node
    types: Mapping[str, Named]

    def resolve(self, node: Node) -> Node:
        """Return what a name stands for; every other node stands for itself."""
        return self.types[node.name] if isinstance(node, TypeName) else node
