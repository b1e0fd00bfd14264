"""Immutable tree of an Avro schema; every node has its position in the text.

A named type is a single node in the schema's type table; every use of it, including recursive ones, is a ``TypeName``
that the table resolves. So the tree has no cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, dataclass_transform

__all__ = [
    "MISSING",
    "NAMED_TYPES",
    "NO_PROPS",
    "PRIMITIVES",
    "Array",
    "AvroSchema",
    "AvroType",
    "Enum",
    "Field",
    "Fixed",
    "Map",
    "Missing",
    "NamedType",
    "Primitive",
    "Record",
    "TypeName",
    "Union",
    "is_bytes_schema",
    "is_null",
    "list_inner_types",
    "short_name",
]

PRIMITIVES: Final = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
NAMED_TYPES: Final = frozenset({"record", "error", "enum", "fixed"})


class Missing:
    """Type of the marker for a missing default, as opposed to the default ``null``."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()


NO_PROPS: Final[Mapping[str, Any]] = {}  #: the properties of most nodes

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def type_class(cls: type[T]) -> type[T]:
    """Declare a node class: frozen for the type checker, but constructed as fast as a mutable one.

    Members are passed by position, which takes half the time.
    """
    return dataclass(slots=True, eq=False)(cls)


def short_name(full_name: str) -> str:
    """Return a name without its namespace."""
    return full_name.rpartition(".")[2]


@type_class
class AvroType:
    """Any type, with its position and the properties that are not part of Avro."""

    at: str  #: JSON Pointer into the text; in a referenced schema ``NAME#POINTER``
    props: Mapping[str, Any] = field(repr=False)

    @property
    def kind(self) -> str:
        """The type's name as in messages, such as ``INT`` or ``RECORD``."""
        return type(self).__name__.upper()

    @property
    def logical_type(self) -> str | None:
        """The ``logicalType`` annotation, if it is a string."""
        name = self.props.get("logicalType")
        return name if isinstance(name, str) else None


@type_class
class Primitive(AvroType):
    """One of the eight primitive types."""

    type: str

    @property
    def kind(self) -> str:
        """The type's name as in messages."""
        return self.type.upper()


@type_class
class TypeName(AvroType):
    """A use of a named type that is defined elsewhere."""

    name: str  #: full name


@type_class
class Array(AvroType):
    """An array of values of one type."""

    items: AvroType


@type_class
class Map(AvroType):
    """A map from strings to values of one type."""

    values: AvroType


@type_class
class Union(AvroType):
    """A union of branches."""

    branches: tuple[AvroType, ...]


@type_class
class NamedType(AvroType):
    """A named type: record, enum or fixed."""

    name: str  #: full name
    aliases: tuple[str, ...]  #: full names
    doc: str | None


@type_class
class Field:
    """A field of a record."""

    name: str
    type: AvroType
    at: str
    props: Mapping[str, Any] = field(repr=False)
    default: Any = MISSING
    doc: str | None = None
    order: str = "ascending"
    aliases: tuple[str, ...] = ()

    @property
    def has_default(self) -> bool:
        """True if the field has a default, which readers use if the writer lacks the field."""
        return self.default is not MISSING


@type_class
class Record(NamedType):
    """A record with ordered fields."""

    fields: tuple[Field, ...]
    is_error: bool  #: declared as ``error``, which is read like ``record``


@type_class
class Enum(NamedType):
    """An enum with its symbols."""

    symbols: tuple[str, ...]
    default: str | None


@type_class
class Fixed(NamedType):
    """A fixed number of bytes."""

    size: int


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class AvroSchema:
    """A whole schema: its root, and every named type that it or a dependency defines."""

    root: AvroType
    types: Mapping[str, NamedType]

    def resolve(self, node: AvroType) -> AvroType:
        """Return the definition of a type name; any other node is returned unchanged."""
        return self.types[node.name] if isinstance(node, TypeName) else node


def is_bytes_schema(schema: AvroSchema) -> bool:
    """Return true if values of this schema are written without their length."""
    return isinstance(schema.root, Primitive) and schema.root.type == "bytes"


def is_null(node: AvroType) -> bool:
    """Return True for the type null."""
    return isinstance(node, Primitive) and node.type == "null"


def list_inner_types(node: AvroType) -> tuple[AvroType, ...]:
    """Return the branches of a union, or the items of an array or map; nothing for other types."""
    if isinstance(node, Union):
        return node.branches
    if isinstance(node, Array):
        return (node.items,)
    return (node.values,) if isinstance(node, Map) else ()
