"""Tree of a JSON schema for comparison: a frozen node class for each type, with equality by content.

A node has no position, so equal parts of any two schemas are equal nodes; walks track the position themselves. Values
are stored as texts, the same for equal JSON values; numbers are exact. The use of another schema is a
``ReferenceNode``, resolved by its scope, so the tree has no cycles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final

from contractlog.compatibility.json_text import canonical_value, format_decimal

__all__ = [
    "AlwaysNode",
    "ArrayNode",
    "BooleanNode",
    "CombinedNode",
    "ConditionalNode",
    "ConstNode",
    "EmptyNode",
    "EnumNode",
    "NeverNode",
    "NotNode",
    "NullNode",
    "NumericNode",
    "ObjectNode",
    "OpaqueNode",
    "ReferenceNode",
    "ReferenceScope",
    "SchemaNode",
    "StringNode",
    "Tokens",
    "compute_target_digests",
]

Tokens = tuple[str | int, ...]  #: path of pointer tokens
_EMPTY: Final[Mapping[str, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SchemaNode:
    """Any schema, with its annotations."""

    id: str | None = None
    title: str | None = None
    description: str | None = None
    default: str | None = None  #: as a string
    connect_type: str | None = None  #: ``connect.type``, which Kafka Connect uses to mark bytes
    _digest: bytes | None = field(default=None, init=False, repr=False)

    @property
    def digest(self) -> bytes:
        """Digest of the node and everything below it."""
        if self._digest is None:
            present = [(name, value) for name in _field_names(self) if (value := getattr(self, name)) is not None]
            content = "\0".join(
                [
                    f"{name}={value!r}" if isinstance(value, (bool, str)) else f"{name}={_content_text(value)}"
                    for name, value in present
                ]
            )
            digest = blake2b(f"{type(self).__name__}\0{content}".encode(), digest_size=16).digest()
            object.__setattr__(self, "_digest", digest)
            return digest
        return self._digest

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, SchemaNode) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def resolve(self) -> SchemaNode:
        """Return the final target of a reference; any other node returns itself."""
        return self


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EmptyNode(SchemaNode):
    """The schema ``{}``, which accepts everything."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AlwaysNode(SchemaNode):
    """The schema ``true``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NeverNode(SchemaNode):
    """The schema ``false``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NullNode(SchemaNode):
    """A schema with ``type: null``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class BooleanNode(SchemaNode):
    """A schema with ``type: boolean``."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StringNode(SchemaNode):
    """A schema with ``type: string``, or with string keywords."""

    typed: bool  #: False without ``type``: values of other types are valid, too
    max_length: Decimal | None = None
    min_length: Decimal | None = None
    pattern: str | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NumericNode(SchemaNode):
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
class ObjectNode(SchemaNode):
    """A schema with ``type: object``, or with object keywords."""

    typed: bool
    properties: Mapping[str, SchemaNode] = field(default_factory=lambda: _EMPTY)
    required: tuple[str, ...] = ()
    pattern_properties: Mapping[str, SchemaNode] = field(default_factory=lambda: _EMPTY)
    additional: SchemaNode | None = None  #: None if the keyword is absent
    unevaluated: SchemaNode | None = None
    property_names: SchemaNode | None = None
    property_dependencies: Mapping[str, frozenset[str]] = field(default_factory=lambda: _EMPTY)
    schema_dependencies: Mapping[str, SchemaNode] = field(default_factory=lambda: _EMPTY)
    max_properties: Decimal | None = None
    min_properties: Decimal | None = None
    #: keywords that the draft names differently
    keyword_names: Mapping[str, str] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ArrayNode(SchemaNode):
    """A schema with ``type: array``, or with array keywords."""

    typed: bool
    items: SchemaNode | None = None  #: schema of all items
    listed: tuple[SchemaNode, ...] | None = None  #: schemas by position
    additional: SchemaNode | None = None  #: schema of the items after the listed ones
    unevaluated: SchemaNode | None = None
    contains: SchemaNode | None = None
    max_items: Decimal | None = None
    min_items: Decimal | None = None
    unique: bool = False
    max_contains: Decimal | None = None
    min_contains: Decimal | None = None
    #: keywords that the draft names differently
    keyword_names: Mapping[str, str] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class EnumNode(SchemaNode):
    """A schema with ``enum``; the values are texts."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConstNode(SchemaNode):
    """A schema with ``const``; the value is a string."""

    value: str


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CombinedNode(SchemaNode):
    """A combination: ``allOf``, ``anyOf``, ``oneOf``, several types, or several keyword families."""

    criterion: str
    branches: tuple[SchemaNode, ...]
    paths: tuple[Tokens, ...]  #: tokens to each branch; empty if it consists of the node's own keywords
    generated: bool = False  #: True if made from several keyword families of one schema, since 2019-09


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NotNode(SchemaNode):
    """A schema with ``not``."""

    body: SchemaNode


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ConditionalNode(SchemaNode):
    """A schema with ``if``, ``then`` and ``else``."""

    condition: SchemaNode | None = None
    consequence: SchemaNode | None = None
    alternative: SchemaNode | None = None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OpaqueNode(SchemaNode):
    """A reference whose target depends on the dynamic scope or cannot be resolved."""

    keyword: str  #: ``$dynamicRef``, ``$recursiveRef`` or ``$ref``
    target: str


class ReferenceScope:
    """The targets of references by location, filled while a schema is converted."""

    def __init__(self) -> None:
        self.targets: dict[str, SchemaNode] = {}
        self.digests: dict[str, bytes] = {}  #: digest of each target with everything that it refers to


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ReferenceNode(SchemaNode):
    """A use of a schema that is defined elsewhere."""

    location: str  #: JSON Pointer into the text; in a referenced schema ``NAME#POINTER``
    scope: ReferenceScope = field(repr=False)

    @property
    def digest(self) -> bytes:
        """Digest of the target with everything that it refers to, and of annotations next to the reference."""
        if self._digest is None:
            annotation_text = repr((self.id, self.title, self.description, self.default, self.connect_type))
            content = self.scope.digests[self.location] + annotation_text.encode()
            object.__setattr__(self, "_digest", blake2b(content, digest_size=16).digest())
        return self._digest or b""

    def chain(self) -> Iterator[ReferenceNode]:
        """Yield this reference and all further references that it leads through."""
        node: SchemaNode = self
        visited = set[str]()
        while isinstance(node, ReferenceNode) and node.location not in visited:
            yield node
            visited.add(node.location)
            node = self.scope.targets[node.location]

    def resolve(self) -> SchemaNode:
        """Return the final target; a circular reference accepts everything."""
        *_, last = self.chain()
        target = self.scope.targets[last.location]
        return EmptyNode() if isinstance(target, ReferenceNode) else target


def compute_target_digests(
    scope: ReferenceScope, contents: Mapping[str, tuple[str, Any]], references: Mapping[str, set[str]]
) -> None:
    """Compute the digests of a scope's targets, so that equal recursive schemas compare equal.

    Targets that refer to each other in a cycle share one digest, computed after those of the targets outside it.

    Args:
        scope: a scope whose targets are complete.
        contents: location of each target -> its draft and its JSON.
        references: location of each target -> the locations that it refers to directly.
    """
    for component in find_strong_components(references):
        hashed = blake2b(digest_size=16)
        is_cyclic = any(location in references[location] for location in component) or len(component) > 1
        for location in sorted(component):
            draft, value = contents[location]
            hashed.update(f"{location if is_cyclic else ''}\0{draft}\0{canonical_value(value)}\0".encode())
        for dependency in sorted({location for member in component for location in references[member]} - component):
            hashed.update(f"{dependency}\0".encode() + scope.digests[dependency])
        for location in component:
            suffix = f"\0{location}" if is_cyclic else ""
            scope.digests[location] = blake2b(hashed.digest() + suffix.encode(), digest_size=16).digest()


def find_strong_components(references: Mapping[str, set[str]]) -> Iterator[set[str]]:
    """Yield the strongly connected components, each after all that it refers to (Tarjan's order)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_locations: list[str] = []
    is_open = set[str]()
    for start in references:
        if start in order:
            continue
        stack = [(start, iter(sorted(references[start])))]
        order[start] = lowest[start] = len(order)
        open_locations.append(start)
        is_open.add(start)
        while stack:
            location, successors = stack[-1]
            successor = next(successors, None)
            if successor is None:
                stack.pop()
                if stack:
                    lowest[stack[-1][0]] = min(lowest[stack[-1][0]], lowest[location])
                if lowest[location] == order[location]:
                    yield _pop_component(location, open_locations, is_open)
            elif successor not in order:
                order[successor] = lowest[successor] = len(order)
                open_locations.append(successor)
                is_open.add(successor)
                stack.append((successor, iter(sorted(references[successor]))))
            elif successor in is_open:
                lowest[location] = min(lowest[location], order[successor])


def _pop_component(first: str, open_locations: list[str], is_open: set[str]) -> set[str]:
    component = set[str]()
    while first not in component:
        component.add(open_locations.pop())
    is_open -= component
    return component


def _field_names(node: SchemaNode) -> tuple[str, ...]:
    kind: Any = type(node)
    return _field_names_of_class(kind)


@cache
def _field_names_of_class(kind: Any) -> tuple[str, ...]:
    return tuple(member.name for member in fields(kind) if member.name not in {"_digest", "scope"})


def _content_text(value: Any) -> str:
    match value:
        case SchemaNode():
            return value.digest.hex()
        case Decimal():
            return format_decimal(value)
        case tuple():
            return f"({','.join(map(_content_text, value))})"
        case frozenset():
            return _content_text(tuple(sorted(value)))
        case Mapping():
            return "{" + ",".join(f"{key!r}:{_content_text(member)}" for key, member in sorted(value.items())) + "}"
        case _:
            return repr(value)
