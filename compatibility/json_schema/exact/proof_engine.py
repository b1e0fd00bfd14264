"""Search for a value that satisfies a goal, by splitting on types, disjunctions, members and items.

A goal counts as unsatisfiable until a pass leaves it open (a greatest fixpoint). A value is a finite tree, so a goal
that is open only through itself has no value. Work is counted in steps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Final

from contractlog.compatibility.fixpoint import Fixpoint
from contractlog.compatibility.json_schema.exact import (
    array_satisfiability,
    number_satisfiability,
    object_satisfiability,
    string_satisfiability,
)
from contractlog.compatibility.json_schema.exact.constraints import (
    Conjunction,
    Constraint,
    Disjunction,
    ExactlyOne,
    Goal,
    MaxSize,
    MemberValues,
    MinSize,
    MultipleOf,
    Negation,
    OrderedSet,
    SchemaConstraint,
    SignedConstraint,
    TypeIn,
    Undecidable,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.evaluator import Evaluator
from contractlog.compatibility.json_schema.exact.json_values import JSON_TYPES, value_of_key
from contractlog.compatibility.json_schema.exact.search_branch import Branch, Choice, negate_constraint
from contractlog.compatibility.step_budget import StepBudgetExceeded

__all__ = ["STEP_LIMIT", "ProofEngine"]

STEP_LIMIT: Final = 100_000
_WIDE_CHOICE: Final = 16  #: number of alternatives from which a choice is filtered before branching


class ProofEngine:
    """Decision procedure for goals, which caches its decisions."""

    def __init__(self, limit: int = STEP_LIMIT, *, thorough: bool = False) -> None:
        """Create an engine.

        Args:
            limit: maximum number of steps.
            thorough: also detect schemas that are unsatisfiable by themselves, which is seldom worth the steps.
        """
        self.thorough = thorough
        self.limit = limit
        self.steps = 0
        self.evaluator = Evaluator(self.step)
        self._goals = Fixpoint[Goal](newest_first=True)
        self._searches: set[Hashable] = set()  #: searches of texts that were charged

    def step(self, size: int = 0) -> None:
        """Count a step, and more for a larger piece of work."""
        self.steps += 1 + (size >> 3)
        if self.steps > self.limit:
            raise StepBudgetExceeded

    def _charge(self, search: Hashable, visits: int) -> None:
        """Count the states that a search visited, once for each search: its result is cached."""
        if search not in self._searches:
            self._searches.add(search)
            self.step(visits >> 3)

    def is_unsatisfiable(self, goal: Goal) -> bool:
        """Return True if it is proven that no value satisfies the goal."""
        contradicts_itself = any(negate_constraint(signed_constraint) in goal for signed_constraint in goal)
        return contradicts_itself or self._goals.decide(goal, self._is_open)

    def seems_unsatisfiable(self, signed_constraints: Iterable[SignedConstraint]) -> bool:
        """Return True if a sub-goal is unsatisfiable as far as known.

        If that changes later, the current goal is checked again.
        """
        self.step()
        goal = OrderedSet(
            signed_constraint
            for signed_constraint in signed_constraints
            if signed_constraint[0] != Conjunction(()) or not signed_constraint[1]
        )
        if any(negate_constraint(signed_constraint) in goal for signed_constraint in goal):
            return True
        if not goal:
            return False
        if (
            len(goal) == 1
            and not self.thorough
            and all(positive and _is_assumed_satisfiable(constraint) for constraint, positive in goal)
        ):
            return False  # an unsatisfiable schema is not searched for
        return self.is_unsatisfiable(goal) if self._goals.current is None else self._goals.holds(goal)

    def satisfiable_branches(self, goal: Goal, kinds: Iterable[str] = JSON_TYPES) -> Iterable[Branch]:
        """Yield the branches of a goal that are not proven unsatisfiable."""
        for kind in kinds:
            pending: list[tuple[Branch, Iterable[SignedConstraint]]] = [(Branch(kind), goal)]
            while pending:
                origin, added = pending.pop()
                self.step(len(origin.signed_constraints))
                branch = origin.copy()
                if not self._assume(branch, added) or self._is_dead_end(branch):
                    continue
                if not branch.choices or branch.value:
                    yield branch
                    continue
                choice = min(branch.choices, key=len)
                branch.choices.remove(choice)
                pending.extend((branch, alternative) for alternative in reversed(self._filter_choice(branch, choice)))

    def find_violable(
        self, signed_constraints: Iterable[SignedConstraint], parts: Iterable[Constraint]
    ) -> list[Constraint]:
        """Return the parts that may be violated while the signed constraints hold, by fast propagation only."""
        possible = set[Constraint]()
        for kind in JSON_TYPES:
            branch = Branch(kind)
            if self._assume(branch, signed_constraints):
                choice = tuple(((part, False),) for part in parts)
                remaining = self._alternatives(branch, choice) or ()
                possible.update(part for ((part, _),) in self._filter_choice(branch, remaining))
        return [part for part in parts if part in possible]

    def _filter_choice(self, branch: Branch, choice: Choice) -> Choice:
        """Filter a wide choice: drop alternatives that require an impossible violation, instead of branching."""
        if branch.kind != "object" or len(choice) < _WIDE_CHOICE:
            return choice
        self.step(len(branch.atoms))
        constraints = object_satisfiability.ObjectConstraints.of(branch.atoms)
        return tuple(
            alternative
            for alternative in choice
            if not any(self._cannot_be_violated(constraints, *signed_constraint) for signed_constraint in alternative)
        )

    def _cannot_be_violated(
        self,
        constraints: object_satisfiability.ObjectConstraints,
        constraint: Constraint,
        positive: bool,  # noqa: FBT001 - a signed constraint
    ) -> bool:
        """Return True if the signed constraint requires a violation that no member can have."""
        if (
            positive
            or not isinstance(constraint, MemberValues)
            or (name := object_satisfiability.single_name(constraint.names)) is None
        ):
            return False
        return self.seems_unsatisfiable([*constraints.at(name, self.evaluator), (constraint.body, False)])

    def _is_open(self, goal: Goal) -> bool:
        return any(True for _ in self.satisfiable_branches(goal))

    def _assume(self, branch: Branch, signed_constraints: Iterable[SignedConstraint]) -> bool:
        """Add signed constraints to a branch; return False if they contradict each other."""
        pending = list(signed_constraints)
        while True:
            while pending:
                self.step()
                signed_constraint = pending.pop()
                truth = branch.truth_of(signed_constraint, 0)
                if truth is False:
                    return False
                if signed_constraint in branch.signed_constraints:
                    continue
                branch.signed_constraints[signed_constraint] = None
                if not truth and not self._split(branch, signed_constraint, pending):
                    return False
            if not self._propagate(branch, pending):
                return False
            if not pending:
                return True

    def _split(self, branch: Branch, signed_constraint: SignedConstraint, pending: list[SignedConstraint]) -> bool:
        constraint, positive = signed_constraint
        match constraint:
            case SchemaConstraint():
                self._add_combination(
                    branch, [(part.constraint, positive) for part in constraint.parts], pending, every=positive
                )
            case Conjunction() | Disjunction():
                every = isinstance(constraint, Conjunction) is positive
                self._add_combination(branch, [(part, positive) for part in constraint.parts], pending, every=every)
            case Negation():
                pending.append((constraint.body, not positive))
            case ExactlyOne():
                self.step(2 * len(constraint.parts) ** 2)
                branch.choices.append(tuple(_exactly_one(constraint) if positive else _not_exactly_one(constraint)))
            case TypeIn():
                pending.append((MultipleOf(Fraction(1)), positive))
            case ValueIn():
                branch.atoms.append(signed_constraint)
                if positive:
                    keys = constraint.keys if branch.keys is None else branch.keys
                    branch.keys = OrderedSet(key for key in keys if key in constraint.keys)
            case Undecidable():
                branch.atoms.append(signed_constraint)
            case _:
                branch.atoms.append(signed_constraint)
        return True

    def _add_combination(
        self, branch: Branch, parts: list[SignedConstraint], pending: list[SignedConstraint], *, every: bool
    ) -> None:
        if every or len(parts) == 1:
            pending.extend(reversed(parts))  # the first one, a type, is processed first
        else:
            branch.choices.append(tuple((part,) for part in parts))

    def _propagate(self, branch: Branch, pending: list[SignedConstraint]) -> bool:
        """Simplify the choices; a single remaining alternative is assumed, and none at all is a contradiction."""
        remaining = []
        for choice in branch.choices:
            alternatives = self._alternatives(branch, choice)
            if alternatives is None:
                continue
            if not alternatives:
                return False
            if len(alternatives) == 1:
                pending.extend(alternatives[0])
            else:
                remaining.append(alternatives)
        branch.choices = remaining
        return True

    def _alternatives(self, branch: Branch, choice: Choice) -> Choice | None:
        """Return the alternatives that are still possible; None if one already holds."""
        possible = []
        for alternative in choice:
            truths = [branch.truth_of(signed_constraint) for signed_constraint in alternative]
            self.step(branch.inspected + len(alternative))
            branch.inspected = 0
            if False in truths:
                continue
            if all(truths):
                return None
            possible.append(alternative)
        return tuple(possible)

    def _is_dead_end(self, branch: Branch) -> bool:  # noqa: PLR0911 - one for each type
        """Return True if no value is possible in a branch."""
        self.step(len(branch.atoms))
        if branch.keys is not None:
            return self._reject_listed_values(
                branch, [value_of_key(key) for key in branch.keys if key[0] == branch.kind]
            )
        match branch.kind:
            case "null":
                return self._reject_listed_values(branch, [None])
            case "boolean":
                return self._reject_listed_values(branch, [True, False])
            case "number":
                return number_satisfiability.is_unsatisfiable(branch.atoms, self.step)
            case "string":
                return string_satisfiability.is_unsatisfiable(branch.atoms, self._charge)
            case "array":
                return array_satisfiability.is_unsatisfiable(
                    branch.atoms, self.seems_unsatisfiable
                ) or self._is_empty_rejected(branch, [])
            case _:
                return object_satisfiability.is_unsatisfiable(
                    branch.atoms, self.seems_unsatisfiable, self.evaluator
                ) or self._is_empty_rejected(branch, {})

    def _reject_listed_values(self, branch: Branch, values: list[Any]) -> bool:
        """Return True if none of the listed values satisfies the branch; else store one that certainly does."""
        undecided = False
        for value in values:
            truths = [self._evaluate(value, signed_constraint) for signed_constraint in branch.signed_constraints]
            if False in truths:
                continue
            if None not in truths:
                branch.value = [value]
                return False
            undecided = True
        return not undecided

    def _evaluate(self, value: Any, signed_constraint: SignedConstraint) -> bool | None:
        truth = self.evaluator.evaluate(value, signed_constraint[0])
        return truth if truth is None else truth is signed_constraint[1]

    def _is_empty_rejected(self, branch: Branch, empty: Any) -> bool:
        if not any(isinstance(constraint, (MinSize, MaxSize)) for constraint, _ in branch.atoms):
            return False
        max_size = min((_max_size(constraint, positive=positive) for constraint, positive in branch.atoms), default=1)
        return max_size == 0 and self._reject_listed_values(branch, [empty])


def _max_size(constraint: Constraint, *, positive: bool) -> int:
    if isinstance(constraint, MaxSize) and positive:
        return constraint.size
    return constraint.size - 1 if isinstance(constraint, MinSize) and not positive else 1


def _is_assumed_satisfiable(constraint: Constraint) -> bool:
    """Return True for a schema without a ``false`` part, which is assumed to be satisfiable."""
    return isinstance(constraint, SchemaConstraint) and not any(
        part.constraint == Disjunction(()) for part in constraint.parts
    )


def _exactly_one(constraint: ExactlyOne) -> list[tuple[SignedConstraint, ...]]:
    return [
        tuple((part, index == chosen) for index, part in enumerate(constraint.parts))
        for chosen in range(len(constraint.parts))
    ]


def _not_exactly_one(constraint: ExactlyOne) -> list[tuple[SignedConstraint, ...]]:
    parts = constraint.parts
    pairs = [((parts[i], True), (parts[j], True)) for i in range(len(parts)) for j in range(i + 1, len(parts))]
    return [tuple((part, False) for part in parts), *pairs]
