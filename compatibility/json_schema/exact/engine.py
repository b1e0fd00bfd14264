"""Search for a value that satisfies a goal, by splitting on types, disjunctions, members and items.

A goal counts as closed until a pass leaves it open (a greatest fixpoint). A value is a finite tree, so a goal that is
open only through itself has no value. Work is counted in steps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Final

from contractlog.compatibility.fixpoint import Fixpoint
from contractlog.compatibility.json_schema.exact import arrays, numbers, objects, strings
from contractlog.compatibility.json_schema.exact.branch import Branch, Choice, negate
from contractlog.compatibility.json_schema.exact.demands import (
    Conjunction,
    Demand,
    Disjunction,
    ExactlyOne,
    Goal,
    Literal,
    MaxSize,
    MemberValues,
    MinSize,
    MultipleOf,
    Negation,
    SchemaDemand,
    TypeIn,
    Undecidable,
    ValueIn,
)
from contractlog.compatibility.json_schema.exact.evaluator import Evaluator
from contractlog.compatibility.json_schema.exact.json_values import JSON_TYPES, value_of_key
from contractlog.compatibility.steps import StepsExceeded

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
            raise StepsExceeded

    def _charge(self, search: Hashable, visits: int) -> None:
        """Count the states that a search visited, once for each search: its result is cached."""
        if search not in self._searches:
            self._searches.add(search)
            self.step(visits >> 3)

    def is_closed(self, goal: Goal) -> bool:
        """Return True if it is proven that no value satisfies the goal."""
        return any(negate(literal) in goal for literal in goal) or self._goals.decide(goal, self._is_open)

    def seems_closed(self, literals: Iterable[Literal]) -> bool:
        """Return True if a sub-goal is closed as far as known.

        If that changes later, the current goal is checked again.
        """
        self.step()
        goal = frozenset(literal for literal in literals if literal[0] != Conjunction(()) or not literal[1])
        if any(negate(literal) in goal for literal in goal):
            return True
        if not goal:
            return False
        if (
            len(goal) == 1
            and not self.thorough
            and all(wanted and _is_assumed_satisfiable(demand) for demand, wanted in goal)
        ):
            return False  # an unsatisfiable schema is not searched for
        return self.is_closed(goal) if self._goals.current is None else self._goals.holds(goal)

    def open_branches(self, goal: Goal, kinds: Iterable[str] = JSON_TYPES) -> Iterable[Branch]:
        """Yield the branches of a goal that are not closed."""
        for kind in kinds:
            pending: list[tuple[Branch, Iterable[Literal]]] = [(Branch(kind), goal)]
            while pending:
                origin, added = pending.pop()
                self.step(len(origin.literals))
                branch = origin.copy()
                if not self._assume(branch, added) or self._is_dead_end(branch):
                    continue
                if not branch.choices or branch.value:
                    yield branch
                    continue
                choice = min(branch.choices, key=len)
                branch.choices.remove(choice)
                pending.extend((branch, alternative) for alternative in reversed(self._filter_choice(branch, choice)))

    def find_violable(self, literals: Iterable[Literal], parts: Iterable[Demand]) -> list[Demand]:
        """Return the parts that may be violated while the literals hold, by fast propagation only."""
        possible = set[Demand]()
        for kind in JSON_TYPES:
            branch = Branch(kind)
            if self._assume(branch, literals):
                choice = tuple(((part, False),) for part in parts)
                remaining = self._alternatives(branch, choice) or ()
                possible.update(part for ((part, _),) in self._filter_choice(branch, remaining))
        return [part for part in parts if part in possible]

    def _filter_choice(self, branch: Branch, choice: Choice) -> Choice:
        """Filter a wide choice: drop alternatives that require an impossible violation, instead of branching."""
        if branch.kind != "object" or len(choice) < _WIDE_CHOICE:
            return choice
        self.step(len(branch.atoms))
        demands = objects.ObjectDemands.of(branch.atoms)
        return tuple(
            alternative
            for alternative in choice
            if not any(self._cannot_be_violated(demands, *literal) for literal in alternative)
        )

    def _cannot_be_violated(self, demands: objects.ObjectDemands, demand: Demand, wanted: bool) -> bool:  # noqa: FBT001 - a literal
        """Return True if the literal requires a member to violate a demand that it cannot violate."""
        if wanted or not isinstance(demand, MemberValues) or (name := objects.single_name(demand.names)) is None:
            return False
        return self.seems_closed([*demands.at(name, self.evaluator), (demand.body, False)])

    def _is_open(self, goal: Goal) -> bool:
        return any(True for _ in self.open_branches(goal))

    def _assume(self, branch: Branch, literals: Iterable[Literal]) -> bool:
        """Add literals to a branch; return False if they contradict each other."""
        pending = list(literals)
        while True:
            while pending:
                self.step()
                literal = pending.pop()
                truth = branch.truth_of(literal, 0)
                if truth is False:
                    return False
                if literal in branch.literals:
                    continue
                branch.literals.add(literal)
                if not truth and not self._split(branch, literal, pending):
                    return False
            if not self._propagate(branch, pending):
                return False
            if not pending:
                return True

    def _split(self, branch: Branch, literal: Literal, pending: list[Literal]) -> bool:
        demand, wanted = literal
        match demand:
            case SchemaDemand():
                self._add_combination(branch, [(part.demand, wanted) for part in demand.parts], pending, every=wanted)
            case Conjunction() | Disjunction():
                every = isinstance(demand, Conjunction) is wanted
                self._add_combination(branch, [(part, wanted) for part in demand.parts], pending, every=every)
            case Negation():
                pending.append((demand.body, not wanted))
            case ExactlyOne():
                self.step(2 * len(demand.parts) ** 2)
                branch.choices.append(tuple(_exactly_one(demand) if wanted else _not_exactly_one(demand)))
            case TypeIn():
                pending.append((MultipleOf(Fraction(1)), wanted))
            case ValueIn():
                branch.atoms.append(literal)
                if wanted:
                    branch.keys = demand.keys if branch.keys is None else branch.keys & demand.keys
            case Undecidable():
                branch.atoms.append(literal)
            case _:
                branch.atoms.append(literal)
        return True

    def _add_combination(self, branch: Branch, parts: list[Literal], pending: list[Literal], *, every: bool) -> None:
        if every or len(parts) == 1:
            pending.extend(reversed(parts))  # the first one, a type, is processed first
        else:
            branch.choices.append(tuple((part,) for part in parts))

    def _propagate(self, branch: Branch, pending: list[Literal]) -> bool:
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
            truths = [branch.truth_of(literal) for literal in alternative]
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
                return numbers.is_unsatisfiable(branch.atoms, self.step)
            case "string":
                return strings.is_unsatisfiable(branch.atoms, self._charge)
            case "array":
                return arrays.is_unsatisfiable(branch.atoms, self.seems_closed) or self._is_empty_rejected(branch, [])
            case _:
                return objects.is_unsatisfiable(
                    branch.atoms, self.seems_closed, self.evaluator
                ) or self._is_empty_rejected(branch, {})

    def _reject_listed_values(self, branch: Branch, values: list[Any]) -> bool:
        """Return True if none of the listed values satisfies the branch; else store one that certainly does."""
        undecided = False
        for value in values:
            truths = [self._evaluate(value, literal) for literal in branch.literals]
            if False in truths:
                continue
            if None not in truths:
                branch.value = [value]
                return False
            undecided = True
        return not undecided

    def _evaluate(self, value: Any, literal: Literal) -> bool | None:
        truth = self.evaluator.evaluate(value, literal[0])
        return truth if truth is None else truth is literal[1]

    def _is_empty_rejected(self, branch: Branch, empty: Any) -> bool:
        if not any(isinstance(demand, (MinSize, MaxSize)) for demand, _ in branch.atoms):
            return False
        max_size = min((_max_size(demand, wanted=wanted) for demand, wanted in branch.atoms), default=1)
        return max_size == 0 and self._reject_listed_values(branch, [empty])


def _max_size(demand: Demand, *, wanted: bool) -> int:
    if isinstance(demand, MaxSize) and wanted:
        return demand.size
    return demand.size - 1 if isinstance(demand, MinSize) and not wanted else 1


def _is_assumed_satisfiable(demand: Demand) -> bool:
    """Return True for a schema without a ``false`` part, which is assumed to be satisfiable."""
    return isinstance(demand, SchemaDemand) and not any(part.demand == Disjunction(()) for part in demand.parts)


def _exactly_one(demand: ExactlyOne) -> list[tuple[Literal, ...]]:
    return [
        tuple((part, index == chosen) for index, part in enumerate(demand.parts)) for chosen in range(len(demand.parts))
    ]


def _not_exactly_one(demand: ExactlyOne) -> list[tuple[Literal, ...]]:
    parts = demand.parts
    pairs = [((parts[i], True), (parts[j], True)) for i in range(len(parts)) for j in range(i + 1, len(parts))]
    return [tuple((part, False) for part in parts), *pairs]
