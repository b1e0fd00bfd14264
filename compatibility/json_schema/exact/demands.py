"""Demands: constraints on a value, independent of drafts and keywords; atoms and their combinations.

An atom concerns one JSON type (``kind``) and holds for values of every other type. Equal demands have equal values and
hashes; two ``Schema`` objects are equal if they and everything that they refer to demand the same.
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
    """Base class with a slot for the cached hash."""

    __slots__ = ("_hash",)


@dataclass_transform(frozen_default=True)
def _composed(cls: type[T]) -> type[T]:
    """Declare a class of composed demands, whose hash is computed once."""
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
    """The value has one of these types; ``integer`` stands for whole numbers."""

    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Values:
    """The value is one of these, given as keys."""

    keys: frozenset[Any]


@dataclass(frozen=True, slots=True)
class Unknown:
    """A demand that cannot be decided; equal if the keys are equal."""

    reason: str
    key: Hashable


class Atom:
    """A demand on values of one type."""

    __slots__ = ()
    kind: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Lexical(Atom):
    """The number is written without fraction and exponent, as draft 4 requires of integers."""

    kind: ClassVar[str] = "number"


@dataclass(frozen=True, slots=True)
class Bound(Atom):
    """The number is on one side of a limit."""

    kind: ClassVar[str] = "number"
    limit: Fraction
    upper: bool
    open: bool  #: True if the limit itself is excluded


@dataclass(frozen=True, slots=True)
class Multiple(Atom):
    """The number is a multiple of ``step``."""

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
    """A set of names: those listed or matching a pattern; if inverted, all others."""

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
    """Every member whose name is in the set has a value that satisfies the body."""

    kind: ClassVar[str] = "object"
    names: NameSet
    body: Demand


@_composed
class Names(_Hashed, Atom):
    """Every member's name satisfies the body."""

    kind: ClassVar[str] = "object"
    body: Demand


@_composed
class Elements(_Hashed, Atom):
    """Every item from ``start`` up to ``stop`` (None for the end) satisfies the body."""

    kind: ClassVar[str] = "array"
    start: int
    stop: int | None
    body: Demand


@_composed
class Count(_Hashed, Atom):
    """At least ``size`` items satisfy the body."""

    kind: ClassVar[str] = "array"
    body: Demand
    size: int


@dataclass(frozen=True, slots=True)
class Unique(Atom):
    """No two items are equal."""

    kind: ClassVar[str] = "array"


@dataclass(frozen=True, slots=True)
class Part:
    """The demand of one keyword of a schema."""

    word: str
    at: str  #: JSON Pointer of the keyword
    demand: Demand


class Schema:
    """A schema at its position; its parts are converted on first use."""

    __slots__ = ("_parts", "_read", "at", "digest", "owner")

    def __init__(self, digest: bytes, at: str, owner: str, read: Callable[[], Iterator[Part]]) -> None:
        self.digest = digest
        self.at = at  #: JSON Pointer into the text; in a referenced schema ``NAME#POINTER``
        self.owner = owner  #: ``reader`` or ``writer``
        self._read = read
        self._parts: tuple[Part, ...] | None = None

    @property
    def parts(self) -> tuple[Part, ...]:
        """The demands of the keywords."""
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
Literal: TypeAlias = tuple[Demand, bool]  #: a demand, and True if it must hold or False if it must not
Goal: TypeAlias = frozenset[Literal]
TRUE: Final = All(())
FALSE: Final = Some(())
