"""What schemas demand, free of drafts and keywords: a few atoms, and their combinations.

An atom speaks of one JSON type (``kind``) and holds for values of every other type. Equal demands are equal objects;
a ``Schema`` is equal to another one where both, and all that they lead to, demand the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, dataclass_transform

__all__ = [
    "FALSE",
    "TRUE",
    "All",
    "AtLeast",
    "AtMost",
    "Atom",
    "Bound",
    "Count",
    "Demand",
    "Elements",
    "Format",
    "Goal",
    "Has",
    "Kinds",
    "Lexical",
    "Literal",
    "Members",
    "Multiple",
    "NameSet",
    "Names",
    "Not",
    "One",
    "Part",
    "Pattern",
    "Schema",
    "Some",
    "Unique",
    "Unknown",
    "Values",
]


T = TypeVar("T")


class _Hashed:
    """What demands with parts are looked up by again and again."""

    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _composed(cls: type[T]) -> type[T]:
    """Make a class of demands with parts, whose hash is worked out once."""
    made = dataclass(frozen=True, slots=True)(cls)
    work_out = made.__hash__

    def remembered(self: Any) -> int:
        try:
            found: int = self._hash
        except AttributeError:
            found = work_out(self)
            object.__setattr__(self, "_hash", found)
        return found

    made.__hash__ = remembered  # type: ignore[method-assign]
    return made


@_composed
class All(_Hashed):
    """Every part holds."""

    parts: tuple[Demand, ...]


@_composed
class Some(_Hashed):
    """At least one part holds."""

    parts: tuple[Demand, ...]


@_composed
class One(_Hashed):
    """Exactly one part holds."""

    parts: tuple[Demand, ...]


@_composed
class Not(_Hashed):
    """The body does not hold."""

    body: Demand


@dataclass(frozen=True, slots=True)
class Kinds:
    """The value is of one of these types; ``integer`` are the whole numbers."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Values:
    """The value is one of these, given as keys."""

    keys: frozenset[Any]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody knows when this holds; two are the same thing where their keys are."""

    reason: str
    key: Hashable


class Atom:
    """A demand on values of one type."""

    __slots__ = ()
    kind: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Lexical(Atom):
    """The number is written without fraction and exponent: what draft 4 asks of integers beside being whole."""

    kind: ClassVar[str] = "number"


@dataclass(frozen=True, slots=True)
class Bound(Atom):
    """The number is on one side of a limit."""

    kind: ClassVar[str] = "number"
    limit: Fraction
    upper: bool
    open: bool  #: whether the limit itself is excluded


@dataclass(frozen=True, slots=True)
class Multiple(Atom):
    """The number is a multiple."""

    kind: ClassVar[str] = "number"
    step: Fraction


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A string, array or object has at least this size."""

    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class AtMost:
    """A string, array or object has at most this size."""

    kind: str
    size: int


@dataclass(frozen=True, slots=True)
class Pattern(Atom):
    """The pattern is found in the string."""

    kind: ClassVar[str] = "string"
    text: str


@dataclass(frozen=True, slots=True)
class Format(Atom):
    """The string has a format."""

    kind: ClassVar[str] = "string"
    name: str


@_composed
class NameSet(_Hashed):
    """Some names: those listed or matching; inverted, all but those."""

    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    inverted: bool = False


@dataclass(frozen=True, slots=True)
class Has(Atom):
    """The object has the member."""

    kind: ClassVar[str] = "object"
    name: str


@_composed
class Members(_Hashed, Atom):
    """Every member with such a name has a value that meets the body."""

    kind: ClassVar[str] = "object"
    names: NameSet
    body: Demand


@_composed
class Names(_Hashed, Atom):
    """Every member's name meets the body."""

    kind: ClassVar[str] = "object"
    body: Demand


@_composed
class Elements(_Hashed, Atom):
    """Every item from ``start`` up to ``stop`` (or the end) meets the body."""

    kind: ClassVar[str] = "array"
    start: int
    stop: int | None
    body: Demand


@_composed
class Count(_Hashed, Atom):
    """At least ``size`` items meet the body; its opposite is that fewer do."""

    kind: ClassVar[str] = "array"
    body: Demand
    size: int


@dataclass(frozen=True, slots=True)
class Unique(Atom):
    """No two items are equal."""

    kind: ClassVar[str] = "array"


@dataclass(frozen=True, slots=True)
class Part:
    """What one keyword of a schema demands."""

    word: str
    at: str  #: JSON Pointer of the keyword
    demand: Demand


class Schema:
    """A schema at its place; its parts are understood when they are asked for."""

    __slots__ = ("_parts", "_read", "at", "digest", "owner")

    def __init__(self, digest: bytes, at: str, owner: str, read: Callable[[], Iterator[Part]]) -> None:
        self.digest = digest
        self.at = at  #: JSON Pointer into the text; in a referenced text ``NAME#POINTER``
        self.owner = owner  #: ``reader`` or ``writer``
        self._read = read
        self._parts: tuple[Part, ...] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """What each keyword demands."""
        if self._parts is None:
            self._parts = tuple(self._read())
        return self._parts

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Schema) and self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Schema({self.owner} {self.at or '/'})"


Demand: TypeAlias = All | Some | One | Not | Kinds | Values | Unknown | AtLeast | AtMost | Atom | Schema
Literal: TypeAlias = tuple[Demand, bool]  #: to be met, or to be missed
Goal: TypeAlias = frozenset[Literal]
TRUE: Final = All(())
FALSE: Final = Some(())
