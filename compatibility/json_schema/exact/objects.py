"""Satisfiability of demands on objects: required, possible and forbidden members and their values.

A member is tried under every name that the demands mention, and under one name for each combination of patterns that
other names can match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Final, TypeAlias

from contractlog.compatibility.json_schema.exact.demands import (
    FALSE,
    HasMember,
    Literal,
    MatchesPattern,
    MemberNames,
    MemberValues,
    NameSet,
    OrderedSet,
    TypeIn,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.evaluator import Evaluator
from contractlog.compatibility.json_schema.exact.strings import size_limits

__all__ = ["MemberCase", "ObjectDemands", "RequiredMember", "is_unsatisfiable", "single_name"]

_MAX_PATTERNS: Final = 5
_ANY_NAME: Final = NameSet(inverted=True)

ClosedCheck: TypeAlias = Callable[[Iterable[Literal]], bool]


@dataclass(frozen=True, slots=True)
class RequiredMember:
    """A member that must exist: its set of names, and demands on its value and name."""

    names: NameSet
    value: tuple[Literal, ...] = ()
    name: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class MemberCase:
    """A possible name for a member, with the demands on its value."""

    name: str | None  #: None for any name that satisfies ``name_demands``
    name_demands: tuple[Literal, ...]
    value: tuple[Literal, ...]


@dataclass(slots=True)
class ObjectDemands:
    """The demands on an object, combined."""

    min_size: int = 0
    max_size: int | None = None
    required: dict[str, None] = field(default_factory=dict)
    everywhere: list[tuple[NameSet, Literal]] = field(default_factory=list)
    name_demands: list[Literal] = field(default_factory=list)
    required_members: list[RequiredMember] = field(default_factory=list)
    _mentioned: list[str] | None = None
    _indexes: dict[str | None, list[int]] = field(default_factory=dict)  #: indexes into ``everywhere`` by single name

    @classmethod
    def of(cls, literals: list[Literal]) -> ObjectDemands:
        """Combine the demands."""
        contents = cls(*size_limits(literals))
        for demand, wanted in literals:
            match demand:
                case HasMember() if wanted:
                    contents.required[demand.name] = None
                case HasMember():
                    contents.everywhere.append((NameSet(frozenset({demand.name})), (FALSE, True)))
                case MemberValues() if wanted:
                    contents.everywhere.append((demand.names, (demand.body, True)))
                case MemberValues() if (name := single_name(demand.names)) is not None:
                    contents.required[name] = None  # a name has one member, so all demands on the name apply to it
                    contents.everywhere.append((demand.names, (demand.body, False)))
                case MemberValues():
                    contents.required_members.append(RequiredMember(demand.names, value=((demand.body, False),)))
                case MemberNames() if wanted:
                    contents.name_demands.append((demand.body, True))
                case MemberNames():
                    contents.required_members.append(RequiredMember(_ANY_NAME, name=((demand.body, False),)))
                case _:
                    pass
        for index, (names, _) in enumerate(contents.everywhere):
            contents._indexes.setdefault(single_name(names), []).append(index)
        return contents

    def mentioned_names(self) -> list[str]:
        """Return every name that the demands mention."""
        if self._mentioned is None:
            mentioned = dict(self.required)
            for names in [names for names, _ in self.everywhere] + [member.names for member in self.required_members]:
                if names.names:
                    mentioned |= dict.fromkeys(sorted(names.names))
            self._mentioned = list(mentioned)
        return self._mentioned

    def at(self, name: str, evaluator: Evaluator) -> list[Literal]:
        """Return the demands that certainly apply to the member of a name."""
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
            if not any(_contradicts(evaluator, name, literal) for literal in (*member.name, *self.name_demands)):
                yield MemberCase(name, (), (*member.value, *self.at(name, evaluator)))
        if listed is None and not is_full:
            yield from self._unmentioned_cases(member)

    def _unmentioned_cases(self, member: RequiredMember) -> Iterator[MemberCase]:
        """Yield the cases for names that are not mentioned, one for each combination of matching patterns."""
        sets = [names for names, _ in self.everywhere] + [member.names]
        patterns = sorted({pattern for names in sets for pattern in names.patterns})
        mentioned = ValueIn(OrderedSet(("string", name) for name in self.mentioned_names()))
        text: tuple[Literal, ...] = ((TypeIn(frozenset({"string"})), True), (mentioned, False))
        name_demands = (*text, *member.name, *self.name_demands)
        if len(patterns) > _MAX_PATTERNS:
            yield MemberCase(None, name_demands, member.value)
            return
        for signs in product((True, False), repeat=len(patterns)):
            matched = {pattern for pattern, sign in zip(patterns, signs, strict=True) if sign}
            if _may_contain(member.names, matched):
                signed: tuple[Literal, ...] = tuple(
                    (MatchesPattern(pattern), sign) for pattern, sign in zip(patterns, signs, strict=True)
                )
                applying = tuple(literal for names, literal in self.everywhere if _may_contain(names, matched))
                yield MemberCase(None, (*name_demands, *signed), (*member.value, *applying))


def single_name(names: NameSet) -> str | None:
    """Return the only name in a set; None if there may be others."""
    return next(iter(names.names)) if len(names.names) == 1 and not names.inverted and not names.patterns else None


def _may_contain(names: NameSet, matched: set[str]) -> bool:
    """Return True if a set contains unmentioned names that match exactly these patterns."""
    return bool(names.patterns & matched) is not names.inverted


def _contradicts(evaluator: Evaluator, name: str, literal: Literal) -> bool:
    truth = evaluator.evaluate(name, literal[0])
    return truth is not None and truth is not literal[1]


def is_unsatisfiable(literals: list[Literal], seems_closed: ClosedCheck, evaluator: Evaluator) -> bool:
    """Return True if certainly no object satisfies the demands."""
    contents = ObjectDemands.of(literals)
    min_size = max(contents.min_size, len(contents.required))
    if contents.max_size is not None and min_size > contents.max_size:
        return True
    for name in contents.required:
        demands = contents.at(name, evaluator)
        if (demands and seems_closed(demands)) or any(
            _contradicts(evaluator, name, literal) for literal in contents.name_demands
        ):
            return True
    if any(
        all(_is_closed(case, seems_closed) for case in contents.cases(member, evaluator))
        for member in contents.required_members
    ):
        return True
    return contents.min_size > len(contents.required) and _has_too_few_members(contents, seems_closed, evaluator)


def _is_closed(case: MemberCase, seems_closed: ClosedCheck) -> bool:
    return bool(case.value and seems_closed(case.value)) or bool(case.name_demands and seems_closed(case.name_demands))


def _has_too_few_members(contents: ObjectDemands, seems_closed: ClosedCheck, evaluator: Evaluator) -> bool:
    """Return True if fewer members are possible than required."""
    possible = 0
    for case in contents.cases(RequiredMember(_ANY_NAME), evaluator):
        if not _is_closed(case, seems_closed):
            if case.name is None:
                return False
            possible += 1
    return possible < contents.min_size
