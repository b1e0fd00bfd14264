"""The tree of a JSON schema, as differences are told on it: one frozen node for each type, equal nodes being one.

A node knows its content and not its place, so that equal parts of any two schemas are equal nodes; who walks a tree
keeps the way. Values stand as texts in which equal JSON is equal text; numbers are exact. The use of another schema is
a ``Reference``, which its scope resolves, so no tree has a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.json_text import figure, write

__all__ = [
    "Always",
    "Array",
    "Boolean",
    "Combined",
    "Conditional",
    "Const",
    "Empty",
    "Enum",
    "Never",
    "Node",
    "Not",
    "Null",
    "Numeric",
    "Object",
    "Opaque",
    "Reference",
    "Scope",
    "String",
    "Tokens",
    "children",
    "value_text",
]

Tokens = tuple[str | int, ...]  #: a way through a text
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


def value_text(value: Any) -> str:
    """Write a JSON value so that equal values are equal texts: keys sorted, ``1``, ``1.0`` and ``1e0`` the same."""
    return write(value, lambda number: figure(number.decimal), sort_keys=True)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """Any schema, with the words that validate nothing."""

    id: str | None = None
    title: str | None = None
    description: str | None = None
    default: str | None = None  #: as text
    connect_type: str | None = None  #: ``connect.type``, by which Kafka Connect tells bytes
    _digest: bytes | None = field(default=None, init=False, repr=False)

    @property
    def digest(self) -> bytes:
        """What stands for the node and all that it leads to."""
        if self._digest is None:
            given = [(name, value) for name in _members_of(self) if (value := getattr(self, name)) is not None]
            content = "\0".join(
                [
                    f"{name}={value!r}" if isinstance(value, (bool, str)) else f"{name}={_written(value)}"
                    for name, value in given
                ]
            )
            digest = blake2b(f"{type(self).__name__}\0{content}".encode(), digest_size=16).digest()
            object.__setattr__(self, "_digest", digest)
            return digest
        return self._digest

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Node) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def resolved(self) -> Node:
        """Return what a reference leads to in the end; every other node is itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Empty(Node):
    """``{}``: everything is valid."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Always(Node):
    """``true``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Never(Node):
    """``false``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Null(Node):
    """``type: null``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Boolean(Node):
    """``type: boolean``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class String(Node):
    """``type: string``, or the words of strings."""

    typed: bool  #: whether ``type`` says so; else other values are valid, too
    max_length: Decimal | None = None
    min_length: Decimal | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Numeric(Node):
    """``type: number`` or ``integer``, or the words of numbers."""

    typed: bool
    integer: bool = False
    maximum: Decimal | None = None
    minimum: Decimal | None = None
    exclusive_maximum: Decimal | None = None
    exclusive_minimum: Decimal | None = None
    maximum_excluded: bool = False  #: draft 4: ``exclusiveMaximum: true``
    minimum_excluded: bool = False
    multiple_of: Decimal | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Object(Node):
    """``type: object``, or the words of objects."""

    typed: bool
    properties: Mapping[str, Node] = field(default_factory=lambda: _NONE)
    required: tuple[str, ...] = ()
    pattern_properties: Mapping[str, Node] = field(default_factory=lambda: _NONE)
    additional: Node | None = None  #: None where the word is absent
    unevaluated: Node | None = None
    property_names: Node | None = None
    property_dependencies: Mapping[str, frozenset[str]] = field(default_factory=lambda: _NONE)
    schema_dependencies: Mapping[str, Node] = field(default_factory=lambda: _NONE)
    max_properties: Decimal | None = None
    min_properties: Decimal | None = None
    words: Mapping[str, str] = field(default_factory=lambda: _NONE)  #: the draft's own words where they are others


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Array(Node):
    """``type: array``, or the words of arrays."""

    typed: bool
    items: Node | None = None  #: for every item
    listed: tuple[Node, ...] | None = None  #: item by item
    additional: Node | None = None  #: for what is behind the list
    unevaluated: Node | None = None
    contains: Node | None = None
    max_items: Decimal | None = None
    min_items: Decimal | None = None
    unique: bool = False
    max_contains: Decimal | None = None
    min_contains: Decimal | None = None
    words: Mapping[str, str] = field(default_factory=lambda: _NONE)  #: the draft's own words where they are others


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Enum(Node):
    """One of some values, as texts."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Const(Node):
    """One value, as text."""

    value: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Combined(Node):
    """``allOf``, ``anyOf`` or ``oneOf``; also several types, and several families of words beside each other."""

    criterion: str
    branches: tuple[Node, ...]
    places: tuple[Tokens, ...]  #: the way to each branch; empty where a branch is made of the node's own words
    generated: bool = False  #: whether it stands for one schema with several families of words, in 2019-09 and later


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Not(Node):
    """What must not be valid."""

    body: Node


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Conditional(Node):
    """``if``, ``then``, ``else``."""

    condition: Node | None = None
    consequence: Node | None = None
    alternative: Node | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Opaque(Node):
    """A reference that leads to different places in the course of a validation, or to nothing that is known."""

    word: str  #: ``$dynamicRef``, ``$recursiveRef`` or ``$ref``
    target: str


class Scope:
    """The schemas that references lead to, by place; filled while a schema is read."""

    def __init__(self) -> None:
        self.targets: dict[str, Node] = {}
        self.closures: dict[str, bytes] = {}  #: what stands for a target and all that it leads to


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reference(Node):
    """The use of a schema that stands elsewhere."""

    place: str  #: JSON Pointer into the text; in a referenced text ``NAME#POINTER``
    scope: Scope = field(repr=False)

    @property
    def digest(self) -> bytes:
        """What stands for the target and all that it leads to, and for the words beside the reference."""
        if self._digest is None:
            words = repr((self.id, self.title, self.description, self.default, self.connect_type))
            content = self.scope.closures[self.place] + words.encode()
            object.__setattr__(self, "_digest", blake2b(content, digest_size=16).digest())
        return self._digest or b""

    def chain(self) -> Iterator[Reference]:
        """Yield this reference and those that it leads through."""
        here: Node = self
        seen = set[str]()
        while isinstance(here, Reference) and here.place not in seen:
            yield here
            seen.add(here.place)
            here = self.scope.targets[here.place]

    def resolved(self) -> Node:
        """Return what the reference leads to in the end; one that leads back to itself demands nothing."""
        *_, last = self.chain()
        target = self.scope.targets[last.place]
        return Empty() if isinstance(target, Reference) else target


def _members_of(node: Node) -> tuple[str, ...]:
    kind: Any = type(node)
    return _members(kind)


@cache
def _members(kind: Any) -> tuple[str, ...]:
    return tuple(member.name for member in fields(kind) if member.name not in {"_digest", "scope"})


def _written(value: Any) -> str:
    match value:
        case Node():
            return value.digest.hex()
        case Decimal():
            return figure(value)
        case tuple():
            return f"({','.join(map(_written, value))})"
        case frozenset():
            return _written(tuple(sorted(value)))
        case Mapping():
            return "{" + ",".join(f"{key!r}:{_written(member)}" for key, member in sorted(value.items())) + "}"
        case _:
            return repr(value)


def children(node: Node) -> Iterator[Node]:
    """Yield every node directly below."""
    for name in _members_of(node):
        value = getattr(node, name)
        parts = value if isinstance(value, tuple) else value.values() if isinstance(value, Mapping) else (value,)
        yield from (part for part in parts if isinstance(part, Node))
