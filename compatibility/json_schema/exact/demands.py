"""Demands: constraints on a value, independent of drafts and keywords; atoms and their combinations.

An atom concerns one JSON type (``kind``) and holds for values of every other type. Equal demands have equal values and
hashes; two ``SchemaDemand`` objects are equal if they and everything that they refer to demand the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, Self, TypeAlias, TypeVar, dataclass_transform

__all__ = [
    "FALSE",
    "TRUE",
    "Atom",
    "Conjunction",
    "ContainsItems",
    "Demand",
    "Disjunction",
    "ExactlyOne",
    "Goal",
    "HasFormat",
    "HasMember",
    "IntegerNotation",
    "ItemValues",
    "KeywordDemand",
    "Literal",
    "MatchesPattern",
    "MaxSize",
    "MemberNames",
    "MemberValues",
    "MinSize",
    "MultipleOf",
    "NameSet",
    "Negation",
    "NumericLimit",
    "OrderedSet",
    "SchemaDemand",
    "TypeIn",
    "Undecidable",
    "UniqueItems",
    "ValueIn",
]


T = TypeVar("T")


class _CachedHash:
    """Base class with a slot for the cached hash."""

    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _composite(cls: type[T]) -> type[T]:
    """Declare a class of demands with parts or long numbers, whose hash is computed once."""
    decorated = dataclass(frozen=True, slots=True)(cls)
    compute_hash = decorated.__hash__

    def cached_hash(self: Any) -> int:
        try:
            value: int = self._hash
        except AttributeError:
            value = compute_hash(self)
            object.__setattr__(self, "_hash", value)
        return value

    decorated.__hash__ = cached_hash  # type: ignore[method-assign]
    return decorated


@_composite
class Conjunction(_CachedHash):
    """Every part holds."""

    parts: tuple[Demand, ...]


@_composite
class Disjunction(_CachedHash):
    """At least one part holds."""

    parts: tuple[Demand, ...]


@_composite
class ExactlyOne(_CachedHash):
    """Exactly one part holds."""

    parts: tuple[Demand, ...]


@_composite
class Negation(_CachedHash):
    """The body does not hold."""

    body: Demand


class OrderedSet(frozenset[T]):
    """A set that is iterated in insertion order, so that results do not depend on the hash seed."""

    __slots__ = ("_order",)
    _order: tuple[T, ...]

    def __new__(cls, items: Iterable[T] = ()) -> Self:
        """Make a set of the items; of equal ones the first counts."""
        order = tuple(dict.fromkeys(items))
        self = super().__new__(cls, order)
        self._order = order
        return self

    def __iter__(self) -> Iterator[T]:
        return iter(self._order)


@dataclass(frozen=True, slots=True)
class TypeIn:
    """The value has one of these types; ``integer`` stands for whole numbers."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class ValueIn:
    """The value is one of these, given as keys."""

    keys: OrderedSet[Any]


@dataclass(frozen=True, slots=True)
class Undecidable:
    """A demand that cannot be decided; equal if the keys are equal."""

    reason: str
    key: Hashable


class Atom:
    """A demand on values of one type."""

    __slots__ = ()
    kind: ClassVar[str]


@dataclass(frozen=True, slots=True)
class IntegerNotation(Atom):
    """The number is written without fraction and exponent, as draft 4 requires of integers."""

    kind: ClassVar[str] = "number"


@_composite
class NumericLimit(_CachedHash, Atom):
    """The number is on one side of a limit."""

    kind: ClassVar[str] = "number"
    limit: Fraction
    upper: bool
    open: bool  #: True if the limit itself is excluded


@_composite
class MultipleOf(_CachedHash, Atom):
    """The number is a multiple of ``step``."""

    kind: ClassVar[str] = "number"
    step: Fraction


@dataclass(frozen=True, slots=True)
class MinSize:
    """A string, array or object has at least this size."""

    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class MaxSize:
    """A string, array or object has at most this size."""

    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class MatchesPattern(Atom):
    """The pattern is found in the string."""

    kind: ClassVar[str] = "string"
    text: str


@dataclass(frozen=True, slots=True)
class HasFormat(Atom):
    """The string has a format."""

    kind: ClassVar[str] = "string"
    name: str


@_composite
class NameSet(_CachedHash):
    """A set of names: those listed or matching a pattern; if inverted, all others."""

    names: frozenset[str] = frozenset()
    patterns: OrderedSet[str] = OrderedSet()
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class HasMember(Atom):
    """The object has the member."""

    kind: ClassVar[str] = "object"
    name: str


@_composite
class MemberValues(_CachedHash, Atom):
    """Every member whose name is in the set has a value that satisfies the body."""

    kind: ClassVar[str] = "object"
    names: NameSet
    body: Demand


@_composite
class MemberNames(_CachedHash, Atom):
    """Every member's name satisfies the body."""

    kind: ClassVar[str] = "object"
    body: Demand


@_composite
class ItemValues(_CachedHash, Atom):
    """Every item from ``start`` up to ``stop`` (None for the end) satisfies the body."""

    kind: ClassVar[str] = "array"
    start: int
    stop: int | None
    body: Demand


@_composite
class ContainsItems(_CachedHash, Atom):
    """At least ``size`` items satisfy the body."""

    kind: ClassVar[str] = "array"
    body: Demand
    size: int


@dataclass(frozen=True, slots=True)
class UniqueItems(Atom):
    """No two items are equal."""

    kind: ClassVar[str] = "array"


@dataclass(frozen=True, slots=True)
class KeywordDemand:
    """The demand of one keyword of a schema."""

    keyword: str
    at: str  #: JSON Pointer of the keyword
    demand: Demand


class SchemaDemand:
    """A schema at its position; its parts are converted on first use."""

    __slots__ = ("_parts", "_read", "at", "digest", "owner")

    def __init__(self, digest: bytes, at: str, owner: str, read: Callable[[], Iterator[KeywordDemand]]) -> None:
        self.digest = digest
        self.at = at  #: JSON Pointer into the text; in a referenced schema ``NAME#POINTER``
        self.owner = owner  #: ``reader`` or ``writer``
        self._read = read
        self._parts: tuple[KeywordDemand, ...] | None = None

    @property
    def parts(self) -> tuple[KeywordDemand, ...]:
        """The demands of the keywords."""
        if self._parts is None:
            self._parts = tuple(self._read())
        return self._parts

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, SchemaDemand) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Schema({self.owner} {self.at or '/'})"


Demand: TypeAlias = (
    Conjunction
    | Disjunction
    | ExactlyOne
    | Negation
    | TypeIn
    | ValueIn
    | Undecidable
    | MinSize
    | MaxSize
    | Atom
    | SchemaDemand
)
Literal: TypeAlias = tuple[Demand, bool]  #: a demand, and True if it must hold or False if it must not
Goal: TypeAlias = OrderedSet[Literal]
TRUE: Final = Conjunction(())
FALSE: Final = Disjunction(())
