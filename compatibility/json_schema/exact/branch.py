"""Branch of the search: one way to satisfy a goal with values of one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from contractlog.compatibility.json_schema.exact.demands import (
    All,
    AtLeast,
    AtMost,
    Atom,
    Demand,
    Kinds,
    Literal,
    Not,
    Schema,
    Some,
    Values,
)

__all__ = ["Branch", "Choice", "opposite"]

_LOOK: Final = 3  #: depth to which demands are inspected without splitting them

Choice: TypeAlias = tuple[tuple[Literal, ...], ...]  #: alternatives, each a conjunction; one must hold


def opposite(literal: Literal) -> Literal:
    """Return the negation of a literal."""
    return literal[0], not literal[1]


@dataclass(slots=True)
class Branch:
    """One way to satisfy a goal with values of one type."""

    kind: str
    literals: set[Literal] = field(default_factory=set)  #: all literals assumed so far
    atoms: list[Literal] = field(default_factory=list)  #: literals that concern the branch's type directly
    choices: list[Choice] = field(default_factory=list)  #: open choices
    keys: frozenset[Any] | None = None  #: the only possible values, if they are listed
    value: list[Any] = field(default_factory=list)  #: a value known to satisfy the goal
    looks: int = 0  #: number of demands inspected, to be charged as steps

    def copy(self) -> Branch:
        """Return a copy to continue from."""
        return Branch(self.kind, set(self.literals), list(self.atoms), list(self.choices), self.keys)

    def settled(self, literal: Literal, look: int = _LOOK) -> bool | None:
        """Return whether a literal holds in this branch; None if undecided without splitting it."""
        if literal in self.literals:
            return True
        if opposite(literal) in self.literals:
            return False
        answer = self._seen(literal[0], look)
        return answer if answer is None else answer is literal[1]

    def _seen(self, demand: Demand, look: int) -> bool | None:  # noqa: PLR0911 - one for each kind
        match demand:
            case Kinds():
                if self.kind in demand.names:
                    return True
                return None if self.kind == "number" and "integer" in demand.names else False
            case Values():
                return None if any(kind == self.kind for kind, _ in demand.keys) else False
            case AtLeast() | AtMost() | Atom():
                return None if demand.kind == self.kind else True
            case Not() if look:
                answer = self.settled((demand.body, True), look - 1)
                return None if answer is None else not answer
            case All() if look:
                return self._folded(demand.parts, look, last=True)
            case Some() if look:
                return self._folded(demand.parts, look, last=False)
            case Schema() if look:
                return self._folded([part.demand for part in demand.parts], look, last=True)
            case _:
                return None

    def _folded(self, parts: Sequence[Demand], look: int, *, last: bool) -> bool | None:
        known = True
        for part in parts:
            self.looks += 1
            answer = self.settled((part, True), look - 1)
            if answer is (not last):
                return answer
            known = known and answer is not None
        return last if known else None
