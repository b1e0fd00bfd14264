"""Scope of ``unevaluatedProperties`` and ``unevaluatedItems``, by cases of valid branches.

A branch that is not valid evaluates nothing. So there is a case for every set of branches that may be valid: these are
satisfied, the others violated, and everything that no valid branch evaluates is left. Beyond a few cases the scope is
unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

from contractlog.compatibility.json_schema.exact.demands import (
    FALSE,
    TRUE,
    All,
    Demand,
    Elements,
    Members,
    NameSet,
    Not,
    Schema,
    Some,
)
from contractlog.compatibility.json_schema.exact.documents import Documents, Place

__all__ = ["items_left", "members_left"]

_MAX_CASES: Final = 32
_MAX_DEPTH: Final = 16
_ITEMS_2020: Final = "2020-12"

Make = Callable[[Place], Schema]


@dataclass(frozen=True, slots=True)
class _Case:
    """A case of valid and invalid branches, and the members and items evaluated in it."""

    demands: tuple[Demand, ...] = ()
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    listed: int = 0  #: number of leading items
    contained: tuple[Demand, ...] = ()  #: demands; items that satisfy one of them are evaluated
    all_members: bool = False
    all_items: bool = False

    def join(self, other: _Case) -> _Case:
        return _Case(
            self.demands + other.demands,
            self.names | other.names,
            self.patterns | other.patterns,
            max(self.listed, other.listed),
            self.contained + other.contained,
            self.all_members or other.all_members,
            self.all_items or other.all_items,
        )


class _TooMany(Exception):
    """There are too many cases, or what is evaluated is unknown."""


def members_left(documents: Documents, place: Place, make: Make, body: Demand) -> Demand | None:
    """Return the keyword's demand on members; None if unknown."""
    return _left(documents, place, make, "unevaluatedProperties", lambda case: _members(case, body))


def items_left(documents: Documents, place: Place, make: Make, body: Demand) -> Demand | None:
    """Return the keyword's demand on items; None if unknown."""
    return _left(documents, place, make, "unevaluatedItems", lambda case: _items(case, body))


def _members(case: _Case, body: Demand) -> Demand:
    return TRUE if case.all_members else Members(NameSet(case.names, case.patterns, inverted=True), body)


def _items(case: _Case, body: Demand) -> Demand:
    return (
        TRUE
        if case.all_items
        else Elements(case.listed, None, Some((*case.contained, body)) if case.contained else body)
    )


def _left(
    documents: Documents, place: Place, make: Make, word: str, applied: Callable[[_Case], Demand]
) -> Demand | None:
    try:
        cases = _Cases(documents, make, items=word == "unevaluatedItems").of(place, without=word, depth=0)
    except _TooMany:
        return None
    told = [All((*case.demands, applied(case))) for case in cases]
    return told[0] if len(told) == 1 else Some(tuple(told))


class _Cases:
    """Enumeration of the cases of a schema."""

    def __init__(self, documents: Documents, make: Make, *, items: bool) -> None:
        self.documents = documents
        self.items = items
        self.make = make

    def of(self, place: Place, *, without: str = "", depth: int) -> list[_Case]:
        """Return the cases in which the schema is valid."""
        value = self.documents.value(place)
        if not isinstance(value, dict):
            return [_Case(demands=(FALSE,))] if value is False else [_Case()]
        if depth > _MAX_DEPTH or "$dynamicRef" in value or "$recursiveRef" in value:
            raise _TooMany
        cases = [self._own(value, place, without)]
        for word in value:
            choices = self._choices(word, value, place, depth)
            if choices is not None:
                cases = [one.join(other) for one, other in product(cases, choices)]
            if len(cases) > _MAX_CASES:
                raise _TooMany
        return cases

    def _own(self, value: dict[str, Any], place: Place, without: str) -> _Case:
        """Return what the schema's own keywords evaluate."""
        newest = place.draft.name == _ITEMS_2020
        if self.items and "contains" in value and not newest:
            raise _TooMany  # validators differ in whether ``contains`` evaluates items in 2019-09
        listed = value.get("prefixItems") if newest else value.get("items")
        rest = "items" if newest or not isinstance(listed, list) else "additionalItems"
        found = self.make(self.documents.below(place, "contains")) if "contains" in value and newest else None
        return _Case(
            names=frozenset(value.get("properties") or ()),
            patterns=frozenset(value.get("patternProperties") or ()),
            listed=len(listed) if isinstance(listed, list) else 0,
            contained=(found,) if found else (),
            all_members="additionalProperties" in value
            or ("unevaluatedProperties" in value and without != "unevaluatedProperties"),
            all_items=rest in value or ("unevaluatedItems" in value and without != "unevaluatedItems"),
        )

    def _choices(self, word: str, value: dict[str, Any], place: Place, depth: int) -> list[_Case] | None:
        """Return the cases that a keyword adds; None if it adds none."""
        body = value[word]
        match word:
            case "$ref":
                found = self.documents.find(body, place)
                if found is None:
                    raise _TooMany
                return self.of(found, depth=depth + 1)
            case "allOf":
                return self._together(
                    [self.of(inner, depth=depth + 1) for inner in self._inner(place, word, len(body))]
                )
            case "anyOf" | "oneOf":
                return list(self._subsets(self._inner(place, word, len(body)), depth, one=word == "oneOf"))
            case "if":
                return self._conditional(value, place, depth)
            case "dependentSchemas" | "dependencies":
                named = [(name, what) for name, what in body.items() if isinstance(what, (dict, bool))]
                return self._together([self._dependent(name, word, place, depth) for name, _ in named])
            case _:
                return None

    def _inner(self, place: Place, word: str, count: int) -> list[Place]:
        return [self.documents.below(place, word, index) for index in range(count)]

    def _together(self, parts: list[list[_Case]]) -> list[_Case]:
        cases = [_Case()]
        for part in parts:
            cases = [one.join(other) for one, other in product(cases, part)]
            if len(cases) > _MAX_CASES:
                raise _TooMany
        return cases

    def _subsets(self, branches: list[Place], depth: int, *, one: bool) -> Iterator[_Case]:
        if 2 ** len(branches) > _MAX_CASES and not one:
            raise _TooMany
        for chosen in product((True, False), repeat=len(branches)) if not one else _singles(len(branches)):
            if not any(chosen):
                continue
            met = [self._met(branch, depth) for branch, is_met in zip(branches, chosen, strict=True) if is_met]
            missed = tuple(
                Not(self.make(branch)) for branch, is_met in zip(branches, chosen, strict=True) if not is_met
            )
            yield from (case.join(_Case(demands=missed)) for case in self._together(met))

    def _met(self, place: Place, depth: int) -> list[_Case]:
        """Return the cases of a branch, with the demand that it is valid."""
        held = _Case(demands=(self.make(place),))
        return [case.join(held) for case in self.of(place, depth=depth + 1)]

    def _conditional(self, value: dict[str, Any], place: Place, depth: int) -> list[_Case]:
        condition = self.documents.below(place, "if")
        missed = [_Case(demands=(Not(self.make(condition)),))]
        met = self._met(condition, depth)
        if "then" in value:
            met = self._together([met, self._met(self.documents.below(place, "then"), depth)])
        if "else" in value:
            missed = self._together([missed, self._met(self.documents.below(place, "else"), depth)])
        return met + missed

    def _dependent(self, name: str, word: str, place: Place, depth: int) -> list[_Case]:
        lacks = Members(NameSet(frozenset({name})), FALSE)
        absent = _Case(demands=(lacks,))
        present = _Case(demands=(Not(lacks),))
        return [absent] + [case.join(present) for case in self._met(self.documents.below(place, word, name), depth)]


def _singles(count: int) -> Iterator[tuple[bool, ...]]:
    for chosen in range(count):
        yield tuple(number == chosen for number in range(count))
