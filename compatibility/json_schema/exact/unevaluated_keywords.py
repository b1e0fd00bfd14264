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

from contractlog.compatibility.json_schema.exact.constraints import (
    FALSE,
    TRUE,
    Conjunction,
    Constraint,
    Disjunction,
    ItemValues,
    MemberValues,
    NameSet,
    Negation,
    OrderedSet,
    SchemaConstraint,
)
from contractlog.compatibility.json_schema.reference_resolver import Documents, SchemaPosition

__all__ = ["unevaluated_items_constraint", "unevaluated_members_constraint"]

_MAX_CASES: Final = 32
_MAX_DEPTH: Final = 16

ConstraintFactory = Callable[[SchemaPosition], SchemaConstraint]


@dataclass(frozen=True, slots=True)
class _BranchCase:
    """A case of valid and invalid branches, and the members and items evaluated in it."""

    constraints: tuple[Constraint, ...] = ()
    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    listed: int = 0  #: number of leading items
    contained: tuple[Constraint, ...] = ()  #: constraints; items that satisfy one of them are evaluated
    all_members: bool = False
    all_items: bool = False

    def join(self, other: _BranchCase) -> _BranchCase:
        return _BranchCase(
            self.constraints + other.constraints,
            self.names | other.names,
            self.patterns | other.patterns,
            max(self.listed, other.listed),
            self.contained + other.contained,
            self.all_members or other.all_members,
            self.all_items or other.all_items,
        )


class _TooManyCases(Exception):
    """There are too many cases, or what is evaluated is unknown."""


def unevaluated_members_constraint(
    documents: Documents, position: SchemaPosition, make: ConstraintFactory, body: Constraint
) -> Constraint | None:
    """Return the keyword's constraint on members; None if unknown."""
    return _build_constraint(
        documents, position, make, "unevaluatedProperties", lambda case: _members_constraint(case, body)
    )


def unevaluated_items_constraint(
    documents: Documents, position: SchemaPosition, make: ConstraintFactory, body: Constraint
) -> Constraint | None:
    """Return the keyword's constraint on items; None if unknown."""
    return _build_constraint(documents, position, make, "unevaluatedItems", lambda case: _items_constraint(case, body))


def _members_constraint(case: _BranchCase, body: Constraint) -> Constraint:
    names = NameSet(case.names, OrderedSet(sorted(case.patterns)), inverted=True)
    return TRUE if case.all_members else MemberValues(names, body)


def _items_constraint(case: _BranchCase, body: Constraint) -> Constraint:
    return (
        TRUE
        if case.all_items
        else ItemValues(case.listed, None, Disjunction((*case.contained, body)) if case.contained else body)
    )


def _build_constraint(
    documents: Documents,
    position: SchemaPosition,
    make: ConstraintFactory,
    keyword: str,
    build: Callable[[_BranchCase], Constraint],
) -> Constraint | None:
    try:
        cases = _CaseEnumeration(documents, make, items=keyword == "unevaluatedItems").enumerate(
            position, without=keyword, depth=0
        )
    except _TooManyCases:
        return None
    alternatives = [Conjunction((*case.constraints, build(case))) for case in cases]
    return alternatives[0] if len(alternatives) == 1 else Disjunction(tuple(alternatives))


class _CaseEnumeration:
    """Enumeration of the cases of a schema."""

    def __init__(self, documents: Documents, make: ConstraintFactory, *, items: bool) -> None:
        self.documents = documents
        self.items = items
        self.make = make

    def enumerate(self, position: SchemaPosition, *, without: str = "", depth: int) -> list[_BranchCase]:
        """Return the cases in which the schema is valid."""
        value = position.contents
        if not isinstance(value, dict):
            return [_BranchCase(constraints=(FALSE,))] if value is False else [_BranchCase()]
        if depth > _MAX_DEPTH or "$dynamicRef" in value or "$recursiveRef" in value:
            raise _TooManyCases
        cases = [self._case_of_keywords(value, position, without)]
        for keyword in value:
            choices = self._choices(keyword, value, position, depth)
            if choices is not None:
                cases = [first.join(second) for first, second in product(cases, choices)]
            if len(cases) > _MAX_CASES:
                raise _TooManyCases
        return cases

    def _case_of_keywords(self, value: dict[str, Any], position: SchemaPosition, without: str) -> _BranchCase:
        """Return what the schema's own keywords evaluate."""
        newest = position.context.draft.has_prefix_items
        if self.items and "contains" in value and not newest:
            raise _TooManyCases  # validators differ in whether ``contains`` evaluates items in 2019-09
        listed = value.get("prefixItems") if newest else value.get("items")
        additional_keyword = "items" if newest or not isinstance(listed, list) else "additionalItems"
        contained = self.make(self.documents.below(position, "contains")) if "contains" in value and newest else None
        return _BranchCase(
            names=frozenset(value.get("properties") or ()),
            patterns=frozenset(value.get("patternProperties") or ()),
            listed=len(listed) if isinstance(listed, list) else 0,
            contained=(contained,) if contained else (),
            all_members="additionalProperties" in value
            or ("unevaluatedProperties" in value and without != "unevaluatedProperties"),
            all_items=additional_keyword in value or ("unevaluatedItems" in value and without != "unevaluatedItems"),
        )

    def _choices(
        self, keyword: str, value: dict[str, Any], position: SchemaPosition, depth: int
    ) -> list[_BranchCase] | None:
        """Return the cases that a keyword adds; None if it adds none."""
        body = value[keyword]
        match keyword:
            case "$ref":
                target = self.documents.follow_from(position, body)
                if target is None:
                    raise _TooManyCases
                return self.enumerate(target, depth=depth + 1)
            case "allOf":
                return self._combine(
                    [self.enumerate(inner, depth=depth + 1) for inner in self._inner(position, keyword, len(body))]
                )
            case "anyOf" | "oneOf":
                return list(
                    self._subsets(self._inner(position, keyword, len(body)), depth, exactly_one=keyword == "oneOf")
                )
            case "if":
                return self._conditional(value, position, depth)
            case "dependentSchemas" | "dependencies":
                named = [(name, what) for name, what in body.items() if isinstance(what, (dict, bool))]
                return self._combine([self._dependent(name, keyword, position, depth) for name, _ in named])
            case _:
                return None

    def _inner(self, position: SchemaPosition, keyword: str, count: int) -> list[SchemaPosition]:
        return [self.documents.below(position, keyword, index) for index in range(count)]

    def _combine(self, parts: list[list[_BranchCase]]) -> list[_BranchCase]:
        cases = [_BranchCase()]
        for part in parts:
            cases = [first.join(second) for first, second in product(cases, part)]
            if len(cases) > _MAX_CASES:
                raise _TooManyCases
        return cases

    def _subsets(self, branches: list[SchemaPosition], depth: int, *, exactly_one: bool) -> Iterator[_BranchCase]:
        if 2 ** len(branches) > _MAX_CASES and not exactly_one:
            raise _TooManyCases
        for chosen in product((True, False), repeat=len(branches)) if not exactly_one else _singles(len(branches)):
            if not any(chosen):
                continue
            valid = [
                self._cases_where_valid(branch, depth)
                for branch, is_valid in zip(branches, chosen, strict=True)
                if is_valid
            ]
            invalid = tuple(
                Negation(self.make(branch)) for branch, is_valid in zip(branches, chosen, strict=True) if not is_valid
            )
            yield from (case.join(_BranchCase(constraints=invalid)) for case in self._combine(valid))

    def _cases_where_valid(self, position: SchemaPosition, depth: int) -> list[_BranchCase]:
        """Return the cases of a branch, with the constraint that it is valid."""
        is_valid = _BranchCase(constraints=(self.make(position),))
        return [case.join(is_valid) for case in self.enumerate(position, depth=depth + 1)]

    def _conditional(self, value: dict[str, Any], position: SchemaPosition, depth: int) -> list[_BranchCase]:
        condition = self.documents.below(position, "if")
        invalid = [_BranchCase(constraints=(Negation(self.make(condition)),))]
        valid = self._cases_where_valid(condition, depth)
        if "then" in value:
            valid = self._combine([valid, self._cases_where_valid(self.documents.below(position, "then"), depth)])
        if "else" in value:
            invalid = self._combine([invalid, self._cases_where_valid(self.documents.below(position, "else"), depth)])
        return valid + invalid

    def _dependent(self, name: str, keyword: str, position: SchemaPosition, depth: int) -> list[_BranchCase]:
        is_absent = MemberValues(NameSet(frozenset({name})), FALSE)
        absent = _BranchCase(constraints=(is_absent,))
        present = _BranchCase(constraints=(Negation(is_absent),))
        return [absent] + [
            case.join(present) for case in self._cases_where_valid(self.documents.below(position, keyword, name), depth)
        ]


def _singles(count: int) -> Iterator[tuple[bool, ...]]:
    for chosen in range(count):
        yield tuple(number == chosen for number in range(count))
