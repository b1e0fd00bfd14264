"""Branch of the search: one way to satisfy a goal with values of one type."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from contractlog.compatibility.json_schema.exact.constraints import (
    Atom,
    Conjunction,
    Constraint,
    Disjunction,
    MaxSize,
    MinSize,
    Negation,
    OrderedSet,
    SchemaConstraint,
    SignedConstraint,
    TypeIn,
    ValueIn,
)

__all__ = ["Branch", "Choice", "negate_constraint"]

_INSPECTION_DEPTH: Final = 3  #: depth to which constraints are inspected without splitting them

Choice: TypeAlias = tuple[tuple[SignedConstraint, ...], ...]  #: alternatives, each a conjunction; one must hold


def negate_constraint(signed_constraint: SignedConstraint) -> SignedConstraint:
    """Return the negation of a signed constraint."""
    return signed_constraint[0], not signed_constraint[1]


@dataclass(slots=True)
class Branch:
    """One way to satisfy a goal with values of one type."""

    kind: str
    #: all signed constraints assumed so far, as an ordered set
    signed_constraints: dict[SignedConstraint, None] = field(default_factory=dict)
    atoms: list[SignedConstraint] = field(
        default_factory=list
    )  #: signed constraints that concern the branch's type directly
    choices: list[Choice] = field(default_factory=list)  #: open choices
    keys: OrderedSet[Any] | None = None  #: the only possible values, if they are listed
    value: list[Any] = field(default_factory=list)  #: a value known to satisfy the goal
    inspected: int = 0  #: number of constraints inspected, to be charged as steps

    def copy(self) -> Branch:
        """Return a copy to continue from."""
        return Branch(self.kind, dict(self.signed_constraints), list(self.atoms), list(self.choices), self.keys)

    def truth_of(self, signed_constraint: SignedConstraint, depth: int = _INSPECTION_DEPTH) -> bool | None:
        """Return whether a signed constraint holds in this branch; None if undecided without splitting it."""
        if signed_constraint in self.signed_constraints:
            return True
        if negate_constraint(signed_constraint) in self.signed_constraints:
            return False
        truth = self._truth_of_constraint(signed_constraint[0], depth)
        return truth if truth is None else truth is signed_constraint[1]

    def _truth_of_constraint(self, constraint: Constraint, depth: int) -> bool | None:  # noqa: PLR0911 - one for each kind
        match constraint:
            case TypeIn():
                if self.kind in constraint.names:
                    return True
                return None if self.kind == "number" and "integer" in constraint.names else False
            case ValueIn():
                return None if any(kind == self.kind for kind, _ in constraint.keys) else False
            case MinSize() | MaxSize() | Atom():
                return None if constraint.kind == self.kind else True
            case Negation() if depth:
                truth = self.truth_of((constraint.body, True), depth - 1)
                return None if truth is None else not truth
            case Conjunction() if depth:
                return self._fold(constraint.parts, depth, neutral=True)
            case Disjunction() if depth:
                return self._fold(constraint.parts, depth, neutral=False)
            case SchemaConstraint() if depth:
                return self._fold([part.constraint for part in constraint.parts], depth, neutral=True)
            case _:
                return None

    def _fold(self, parts: Sequence[Constraint], depth: int, *, neutral: bool) -> bool | None:
        is_decided = True
        for part in parts:
            self.inspected += 1
            truth = self.truth_of((part, True), depth - 1)
            if truth is (not neutral):
                return truth
            is_decided = is_decided and truth is not None
        return neutral if is_decided else None
