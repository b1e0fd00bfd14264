"""Branch of the search: one way to satisfy a goal with values of one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from contractlog.compatibility.json_schema.exact.demands import (
    Atom,
    Conjunction,
    Demand,
    Disjunction,
    Literal,
    MaxSize,
    MinSize,
    Negation,
    OrderedSet,
    SchemaDemand,
    TypeIn,
    ValueIn,
)

__all__ = ["Branch", "Choice", "negate"]

_INSPECTION_DEPTH: Final = 3  #: depth to which demands are inspected without splitting them

Choice: TypeAlias = tuple[tuple[Literal, ...], ...]  #: alternatives, each a conjunction; one must hold


def negate(literal: Literal) -> Literal:
    """Return the negation of a literal."""
    return literal[0], not literal[1]


@dataclass(slots=True)
class Branch:
    """One way to satisfy a goal with values of one type."""

    kind: str
    literals: dict[Literal, None] = field(default_factory=dict)  #: as an ordered set: all literals assumed so far
    atoms: list[Literal] = field(default_factory=list)  #: literals that concern the branch's type directly
    choices: list[Choice] = field(default_factory=list)  #: open choices
    keys: OrderedSet[Any] | None = None  #: the only possible values, if they are listed
    value: list[Any] = field(default_factory=list)  #: a value known to satisfy the goal
    inspected: int = 0  #: number of demands inspected, to be charged as steps

    def copy(self) -> Branch:
        """Return a copy to continue from."""
        return Branch(self.kind, dict(self.literals), list(self.atoms), list(self.choices), self.keys)

    def truth_of(self, literal: Literal, depth: int = _INSPECTION_DEPTH) -> bool | None:
        """Return whether a literal holds in this branch; None if undecided without splitting it."""
        if literal in self.literals:
            return True
        if negate(literal) in self.literals:
            return False
        truth = self._truth_of_demand(literal[0], depth)
        return truth if truth is None else truth is literal[1]

    def _truth_of_demand(self, demand: Demand, depth: int) -> bool | None:  # noqa: PLR0911 - one for each kind
        match demand:
            case TypeIn():
                if self.kind in demand.names:
                    return True
                return None if self.kind == "number" and "integer" in demand.names else False
            case ValueIn():
                return None if any(kind == self.kind for kind, _ in demand.keys) else False
            case MinSize() | MaxSize() | Atom():
                return None if demand.kind == self.kind else True
            case Negation() if depth:
                truth = self.truth_of((demand.body, True), depth - 1)
                return None if truth is None else not truth
            case Conjunction() if depth:
                return self._fold(demand.parts, depth, neutral=True)
            case Disjunction() if depth:
                return self._fold(demand.parts, depth, neutral=False)
            case SchemaDemand() if depth:
                return self._fold([part.demand for part in demand.parts], depth, neutral=True)
            case _:
                return None

    def _fold(self, parts: Sequence[Demand], depth: int, *, neutral: bool) -> bool | None:
        is_decided = True
        for part in parts:
            self.inspected += 1
            truth = self.truth_of((part, True), depth - 1)
            if truth is (not neutral):
                return truth
            is_decided = is_decided and truth is not None
        return neutral if is_decided else None
