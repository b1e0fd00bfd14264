"""Tree of a JSON schema for comparison: a frozen node class for each type, with equality by content.

A node has no position, so equal parts of any two schemas are equal nodes; walks track the position themselves. Values
are stored as texts, the same for equal JSON values; numbers are exact. The use of another schema is a ``Reference``,
resolved by its scope, so the tree has no cycles.
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

Tokens = tuple[str | int, ...]  #: path of pointer tokens
_NONE: Final[Mapping[str, Any]] = MappingProxyType({})


def value_text(value: Any) -> str:
    """Write a JSON value so that equal values have equal texts: sorted keys, unique form of numbers."""
    return write(value, lambda number: figure(number.decimal), sort_keys=True)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Node:
    """Any schema, with its annotations."""

    id: str | None = None
    title: str | None = None
    description: str | None = None
    default: str | None = None  #: as a text
    connect_type: str | None = None  #: ``connect.type``, which Kafka Connect uses to mark bytes
    _digest: bytes | None = field(default=None, init=False, repr=False)

    @property
    def digest(self) -> bytes:
        """Digest of the node and everything below it."""
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
        """Return the final target of a reference; any other node returns itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Empty(Node):
    """The schema ``{}``, which accepts everything."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Always(Node):
    """The schema ``true``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Never(Node):
    """The schema ``false``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Null(Node):
    """A schema with ``type: null``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Boolean(Node):
    """A schema with ``type: boolean``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class String(Node):
    """A schema with ``type: string``, or with string keywords."""

    typed: bool  #: False without ``type``: values of other types are valid, too
    max_length: Decimal | None = None
    min_length: Decimal | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Numeric(Node):
    """A schema with ``type: number`` or ``integer``, or with number keywords."""

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
    """A schema with ``type: object``, or with object keywords."""

    typed: bool
    properties: Mapping[str, Node] = field(default_factory=lambda: _NONE)
    required: tuple[str, ...] = ()
    pattern_properties: Mapping[str, Node] = field(default_factory=lambda: _NONE)
    additional: Node | None = None  #: None if the keyword is absent
    unevaluated: Node | None = None
    property_names: Node | None = None
    property_dependencies: Mapping[str, frozenset[str]] = field(default_factory=lambda: _NONE)
    schema_dependencies: Mapping[str, Node] = field(default_factory=lambda: _NONE)
    max_properties: Decimal | None = None
    min_properties: Decimal | None = None
    words: Mapping[str, str] = field(default_factory=lambda: _NONE)  #: keywords that the draft names differently


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Array(Node):
    """A schema with ``type: array``, or with array keywords."""

    typed: bool
    items: Node | None = None  #: schema of all items
    listed: tuple[Node, ...] | None = None  #: schemas by position
    additional: Node | None = None  #: schema of the items after the listed ones
    unevaluated: Node | None = None
    contains: Node | None = None
    max_items: Decimal | None = None
    min_items: Decimal | None = None
    unique: bool = False
    max_contains: Decimal | None = None
    min_contains: Decimal | None = None
    words: Mapping[str, str] = field(default_factory=lambda: _NONE)  #: keywords that the draft names differently


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Enum(Node):
    """A schema with ``enum``; the values are texts."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Const(Node):
    """A schema with ``const``; the value is a text."""

    value: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Combined(Node):
    """A combination: ``allOf``, ``anyOf``, ``oneOf``, several types, or several keyword families."""

    criterion: str
    branches: tuple[Node, ...]
    places: tuple[Tokens, ...]  #: tokens to each branch; empty if it consists of the node's own keywords
    generated: bool = False  #: True if made from several keyword families of one schema, since 2019-09


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Not(Node):
    """A schema with ``not``."""

    body: Node


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Conditional(Node):
    """A schema with ``if``, ``then`` and ``else``."""

    condition: Node | None = None
    consequence: Node | None = None
    alternative: Node | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Opaque(Node):
    """A reference whose target depends on the dynamic scope or cannot be resolved."""

    word: str  #: ``$dynamicRef``, ``$recursiveRef`` or ``$ref``
    target: str


class Scope:
    """The targets of references by location, filled while a schema is converted."""

    def __init__(self) -> None:
        self.targets: dict[str, Node] = {}
        self.closures: dict[str, bytes] = {}  #: digest of each target with everything that it refers to


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Reference(Node):
    """A use of a schema that is defined elsewhere."""

    place: str  #: JSON Pointer into the text; in a referenced schema ``NAME#POINTER``
    scope: Scope = field(repr=False)

    @property
    def digest(self) -> bytes:
        """Digest of the target with everything that it refers to, and of annotations next to the reference."""
        if self._digest is None:
            words = repr((self.id, self.title, self.description, self.default, self.connect_type))
            content = self.scope.closures[self.place] + words.encode()
            object.__setattr__(self, "_digest", blake2b(content, digest_size=16).digest())
        return self._digest or b""

    def chain(self) -> Iterator[Reference]:
        """Yield this reference and all further references that it leads through."""
        here: Node = self
        seen = set[str]()
        while isinstance(here, Reference) and here.place not in seen:
            yield here
            seen.add(here.place)
            here = self.scope.targets[here.place]

    def resolved(self) -> Node:
        """Return the final target; a circular reference accepts everything."""
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
    """Yield every direct child node."""
    for name in _members_of(node):
        value = getattr(node, name)
        parts = value if isinstance(value, tuple) else value.values() if isinstance(value, Mapping) else (value,)
        yield from (part for part in parts if isinstance(part, Node))
