"""Satisfiability of constraints on objects: required, possible and forbidden members and their values.

A member is tried under every name that the constraints mention, and under one name for each combination of patterns
that other names can match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Final, TypeAlias

from contractlog.compatibility.json_schema.exact.constraints import (
    FALSE,
    HasMember,
    MatchesPattern,
    MemberNames,
    MemberValues,
    NameSet,
    OrderedSet,
    SignedConstraint,
    TypeIn,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.evaluator import Evaluator
from contractlog.compatibility.json_schema.exact.string_satisfiability import size_limits

__all__ = ["MemberCase", "ObjectConstraints", "RequiredMember", "is_unsatisfiable", "single_name"]

_MAX_PATTERNS: Final = 5
_ANY_NAME: Final = NameSet(inverted=True)

UnsatisfiableCheck: TypeAlias = Callable[[Iterable[SignedConstraint]], bool]


@dataclass(frozen=True, slots=True)
class RequiredMember:
    """A member that must exist: its set of names, and constraints on its value and name."""

    names: NameSet
    value: tuple[SignedConstraint, ...] = ()
    name: tuple[SignedConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberCase:
    """A possible name for a member, with the constraints on its value."""

    name: str | None  #: None for any name that satisfies ``name_constraints``
    name_constraints: tuple[SignedConstraint, ...]
    value: tuple[SignedConstraint, ...]


@dataclass(slots=True)
class ObjectConstraints:
    """The constraints on an object, combined."""

    min_size: int = 0
    max_size: int | None = None
    required: dict[str, None] = field(default_factory=dict)
    everywhere: list[tuple[NameSet, SignedConstraint]] = field(default_factory=list)
    name_constraints: list[SignedConstraint] = field(default_factory=list)
    required_members: list[RequiredMember] = field(default_factory=list)
    _mentioned: list[str] | None = None
    _indexes: dict[str | None, list[int]] = field(default_factory=dict)  #: indexes into ``everywhere`` by single name

    @classmethod
    def of(cls, signed_constraints: list[SignedConstraint]) -> ObjectConstraints:
        """Combine the constraints."""
        contents = cls(*size_limits(signed_constraints))
        for constraint, positive in signed_constraints:
            match constraint:
                case HasMember() if positive:
                    contents.required[constraint.name] = None
                case HasMember():
                    contents.everywhere.append((NameSet(frozenset({constraint.name})), (FALSE, True)))
                case MemberValues() if positive:
                    contents.everywhere.append((constraint.names, (constraint.body, True)))
                case MemberValues() if (name := single_name(constraint.names)) is not None:
                    contents.required[name] = None  # a name has one member, so all constraints on the name apply to it
                    contents.everywhere.append((constraint.names, (constraint.body, False)))
                case MemberValues():
                    contents.required_members.append(
                        RequiredMember(constraint.names, value=((constraint.body, False),))
                    )
                case MemberNames() if positive:
                    contents.name_constraints.append((constraint.body, True))
                case MemberNames():
                    contents.required_members.append(RequiredMember(_ANY_NAME, name=((constraint.body, False),)))
                case _:
                    pass
        for index, (names, _) in enumerate(contents.everywhere):
            contents._indexes.setdefault(single_name(names), []).append(index)
        return contents

    def mentioned_names(self) -> list[str]:
        """Return every name that the constraints mention."""
        if self._mentioned is None:
            mentioned = dict(self.required)
            for names in [names for names, _ in self.everywhere] + [member.names for member in self.required_members]:
                if names.names:
                    mentioned |= dict.fromkeys(sorted(names.names))
            self._mentioned = list(mentioned)
        return self._mentioned

    def at(self, name: str, evaluator: Evaluator) -> list[SignedConstraint]:
        """Return the constraints that certainly apply to the member of a name."""
        certain = self._indexes.get(name, [])
        several = self._indexes.get(None, ())
        matching = [index for index in several if evaluator.contains_name(self.everywhere[index][0], name)]
        return [self.everywhere[index][1] for index in sorted(certain + matching)]

    def cases(self, member: RequiredMember, evaluator: Evaluator) -> Iterator[MemberCase]:
        """Yield all possible names for a member, as cases that cover everything."""
        is_full = self.max_size is not None and len(self.required) >= self.max_size
        listed = sorted(member.names.names) if not member.names.inverted and not member.names.patterns else None
        for name in self.mentioned_names() if listed is None else listed:
            if evaluator.contains_name(member.names, name) is False or (is_full and name not in self.required):
                continue
            if not any(
                _contradicts(evaluator, name, signed_constraint)
                for signed_constraint in (*member.name, *self.name_constraints)
            ):
                yield MemberCase(name, (), (*member.value, *self.at(name, evaluator)))
        if listed is None and not is_full:
            yield from self._unmentioned_cases(member)

    def _unmentioned_cases(self, member: RequiredMember) -> Iterator[MemberCase]:
        """Yield the cases for names that are not mentioned, one for each combination of matching patterns."""
        sets = [names for names, _ in self.everywhere] + [member.names]
        patterns = sorted({pattern for names in sets for pattern in names.patterns})
        mentioned = ValueIn(OrderedSet(("string", name) for name in self.mentioned_names()))
        text: tuple[SignedConstraint, ...] = ((TypeIn(frozenset({"string"})), True), (mentioned, False))
        name_constraints = (*text, *member.name, *self.name_constraints)
        if len(patterns) > _MAX_PATTERNS:
            yield MemberCase(None, name_constraints, member.value)
            return
        for signs in product((True, False), repeat=len(patterns)):
            matched = {pattern for pattern, sign in zip(patterns, signs, strict=True) if sign}
            if _may_contain(member.names, matched):
                signed: tuple[SignedConstraint, ...] = tuple(
                    (MatchesPattern(pattern), sign) for pattern, sign in zip(patterns, signs, strict=True)
                )
                applying = tuple(
                    signed_constraint for names, signed_constraint in self.everywhere if _may_contain(names, matched)
                )
                yield MemberCase(None, (*name_constraints, *signed), (*member.value, *applying))


def single_name(names: NameSet) -> str | None:
    """Return the only name in a set; None if there may be others."""
    return next(iter(names.names)) if len(names.names) == 1 and not names.inverted and not names.patterns else None


def _may_contain(names: NameSet, matched: set[str]) -> bool:
    """Return True if a set contains unmentioned names that match exactly these patterns."""
    return bool(names.patterns & matched) is not names.inverted


def _contradicts(evaluator: Evaluator, name: str, signed_constraint: SignedConstraint) -> bool:
    truth = evaluator.evaluate(name, signed_constraint[0])
    return truth is not None and truth is not signed_constraint[1]


def is_unsatisfiable(
    signed_constraints: list[SignedConstraint], seems_unsatisfiable: UnsatisfiableCheck, evaluator: Evaluator
) -> bool:
    """Return True if certainly no object satisfies the constraints."""
    contents = ObjectConstraints.of(signed_constraints)
    min_size = max(contents.min_size, len(contents.required))
    if contents.max_size is not None and min_size > contents.max_size:
        return True
    for name in contents.required:
        constraints = contents.at(name, evaluator)
        if (constraints and seems_unsatisfiable(constraints)) or any(
            _contradicts(evaluator, name, signed_constraint) for signed_constraint in contents.name_constraints
        ):
            return True
    if any(
        all(_is_unsatisfiable_case(case, seems_unsatisfiable) for case in contents.cases(member, evaluator))
        for member in contents.required_members
    ):
        return True
    return contents.min_size > len(contents.required) and _has_too_few_members(contents, seems_unsatisfiable, evaluator)


def _is_unsatisfiable_case(case: MemberCase, seems_unsatisfiable: UnsatisfiableCheck) -> bool:
    return bool(case.value and seems_unsatisfiable(case.value)) or bool(
        case.name_constraints and seems_unsatisfiable(case.name_constraints)
    )


def _has_too_few_members(
    contents: ObjectConstraints, seems_unsatisfiable: UnsatisfiableCheck, evaluator: Evaluator
) -> bool:
    """Return True if fewer members are possible than required."""
    possible = 0
    for case in contents.cases(RequiredMember(_ANY_NAME), evaluator):
        if not _is_unsatisfiable_case(case, seems_unsatisfiable):
            if case.name is None:
                return False
            possible += 1
    return possible < contents.min_size
