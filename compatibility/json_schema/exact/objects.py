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
    Has,
    Kinds,
    Literal,
    Members,
    Names,
    NameSet,
    Pattern,
    Values,
)
from contractlog.compatibility.json_schema.exact.evaluate import Evaluator, is_named
from contractlog.compatibility.json_schema.exact.strings import lengths

__all__ = ["Case", "Contents", "Sought", "none_left", "only_name"]

_MAX_PATTERNS: Final = 5
_ALL: Final = NameSet(inverted=True)

Asks: TypeAlias = Callable[[Iterable[Literal]], bool]


@dataclass(frozen=True, slots=True)
class Sought:
    """A member that must exist: its set of names, and demands on its value and name."""

    names: NameSet
    value: tuple[Literal, ...] = ()
    name: tuple[Literal, ...] = ()


@dataclass(frozen=True, slots=True)
class Case:
    """A possible name for a member, with the demands on its value."""

    name: str | None  #: None for any name that satisfies ``naming``
    naming: tuple[Literal, ...]
    value: tuple[Literal, ...]


@dataclass(slots=True)
class Contents:
    """The demands on an object, combined."""

    least: int = 0
    most: int | None = None
    required: dict[str, None] = field(default_factory=dict)
    everywhere: list[tuple[NameSet, Literal]] = field(default_factory=list)
    naming: list[Literal] = field(default_factory=list)
    sought: list[Sought] = field(default_factory=list)
    patterns: int = 0  #: number of patterns that a name must be matched with
    _places: dict[str | None, list[int]] = field(default_factory=dict)  #: indexes into ``everywhere`` by single name

    @classmethod
    def of(cls, literals: list[Literal]) -> Contents:
        """Combine the demands."""
        contents = cls(*lengths(literals))
        for demand, wanted in literals:
            match demand:
                case Has() if wanted:
                    contents.required[demand.name] = None
                case Has():
                    contents.everywhere.append((NameSet(frozenset({demand.name})), (FALSE, True)))
                case Members() if wanted:
                    contents.everywhere.append((demand.names, (demand.body, True)))
                case Members() if (name := only_name(demand.names)) is not None:
                    contents.required[name] = None  # a name has one member, so all demands on the name apply to it
                    contents.everywhere.append((demand.names, (demand.body, False)))
                case Members():
                    contents.sought.append(Sought(demand.names, value=((demand.body, False),)))
                case Names() if wanted:
                    contents.naming.append((demand.body, True))
                case Names():
                    contents.sought.append(Sought(_ALL, name=((demand.body, False),)))
                case _:
                    pass
        for place, (names, _) in enumerate(contents.everywhere):
            contents._places.setdefault(only_name(names), []).append(place)
            contents.patterns += len(names.patterns)
        return contents

    def named(self) -> list[str]:
        """Return every name that the demands mention."""
        found = dict(self.required)
        for names in [names for names, _ in self.everywhere] + [sought.names for sought in self.sought]:
            found |= dict.fromkeys(sorted(names.names))
        return list(found)

    def at(self, name: str) -> list[Literal]:
        """Return the demands that certainly apply to the member of a name."""
        certain = self._places.get(name, [])
        others = [place for place in self._places.get(None, ()) if is_named(self.everywhere[place][0], name)]
        return [self.everywhere[place][1] for place in sorted(certain + others)]

    def cases(self, sought: Sought, evaluator: Evaluator) -> Iterator[Case]:
        """Yield all possible names for a member, as cases that cover everything."""
        full = self.most is not None and len(self.required) >= self.most
        listed = sorted(sought.names.names) if not sought.names.inverted and not sought.names.patterns else None
        for name in self.named() if listed is None else listed:
            evaluator.match(len(sought.names.patterns))
            if is_named(sought.names, name) is False or (full and name not in self.required):
                continue
            if not any(_speaks_against(evaluator, name, one) for one in (*sought.name, *self.naming)):
                evaluator.match(self.patterns)
                yield Case(name, (), (*sought.value, *self.at(name)))
        if listed is None and not full:
            yield from self._others(sought)

    def _others(self, sought: Sought) -> Iterator[Case]:
        """Yield the cases for names that are not mentioned, one for each combination of matching patterns."""
        sets = [names for names, _ in self.everywhere] + [sought.names]
        patterns = sorted({pattern for names in sets for pattern in names.patterns})
        spoken = Values(frozenset(("string", name) for name in self.named()))
        text: tuple[Literal, ...] = ((Kinds(frozenset({"string"})), True), (spoken, False))
        naming = (*text, *sought.name, *self.naming)
        if len(patterns) > _MAX_PATTERNS:
            yield Case(None, naming, sought.value)
            return
        for signs in product((True, False), repeat=len(patterns)):
            matched = {pattern for pattern, sign in zip(patterns, signs, strict=True) if sign}
            if _reaches(sought.names, matched):
                signed: tuple[Literal, ...] = tuple(
                    (Pattern(pattern), sign) for pattern, sign in zip(patterns, signs, strict=True)
                )
                met = tuple(one for names, one in self.everywhere if _reaches(names, matched))
                yield Case(None, (*naming, *signed), (*sought.value, *met))


def only_name(names: NameSet) -> str | None:
    """Return the only name in a set; None if there may be others."""
    return next(iter(names.names)) if len(names.names) == 1 and not names.inverted and not names.patterns else None


def _reaches(names: NameSet, matched: set[str]) -> bool:
    """Return True if a set contains unmentioned names that match exactly these patterns."""
    return bool(names.patterns & matched) is not names.inverted


def _speaks_against(evaluator: Evaluator, name: str, literal: Literal) -> bool:
    answer = evaluator.meets(name, literal[0])
    return answer is not None and answer is not literal[1]


def none_left(literals: list[Literal], asks: Asks, evaluator: Evaluator) -> bool:
    """Return True if certainly no object satisfies the demands."""
    contents = Contents.of(literals)
    least = max(contents.least, len(contents.required))
    if contents.most is not None and least > contents.most:
        return True
    for name in contents.required:
        evaluator.match(contents.patterns)
        found = contents.at(name)
        if (found and asks(found)) or any(_speaks_against(evaluator, name, one) for one in contents.naming):
            return True
    if any(all(_closed(case, asks) for case in contents.cases(sought, evaluator)) for sought in contents.sought):
        return True
    return contents.least > len(contents.required) and _too_few(contents, asks, evaluator)


def _closed(case: Case, asks: Asks) -> bool:
    return bool(case.value and asks(case.value)) or bool(case.naming and asks(case.naming))


def _too_few(contents: Contents, asks: Asks, evaluator: Evaluator) -> bool:
    """Return True if fewer members are possible than required."""
    possible = 0
    for case in contents.cases(Sought(_ALL), evaluator):
        if not _closed(case, asks):
            if case.name is None:
                return False
            possible += 1
    return possible < contents.least
