"""Search for a value that satisfies a goal, by splitting on types, disjunctions, members and items.

A goal counts as closed until a pass leaves it open; then each goal that depends on it is checked again, until no more
open (a greatest fixpoint). A value is a finite tree, so a goal that is open only through itself has no value. Work is
counted in steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import Any, Final

from contractlog.compatibility.json_schema.exact import arrays, numbers, objects, strings
from contractlog.compatibility.json_schema.exact.branch import Branch, Choice, opposite
from contractlog.compatibility.json_schema.exact.demands import (
    All,
    AtLeast,
    AtMost,
    Demand,
    Goal,
    Kinds,
    Literal,
    Members,
    Multiple,
    Not,
    One,
    Schema,
    Some,
    Unknown,
    Values,
)
from contractlog.compatibility.json_schema.exact.evaluate import Evaluator
from contractlog.compatibility.json_schema.exact.values import KINDS, value_of

__all__ = ["STEP_LIMIT", "Engine", "LimitReached"]

STEP_LIMIT: Final = 100_000
_WIDE: Final = 16  #: number of alternatives from which a choice is filtered before branching


class LimitReached(Exception):
    """The step limit is exceeded."""


class Engine:
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
        self._open: set[Goal] = set()
        self._leaning: dict[Goal, set[Goal]] = {}
        self._waiting: deque[Goal] = deque()
        self._searches: set[Hashable] = set()  #: searches of texts that were charged
        self._current: Goal | None = None

    def step(self, size: int = 0) -> None:
        """Count a step, and more for a larger piece of work."""
        self.steps += 1 + (size >> 3)
        if self.steps > self.limit:
            raise LimitReached

    def _charge(self, search: Hashable, visits: int) -> None:
        """Count the states that a search visited, once for each search: its result is cached."""
        if search not in self._searches:
            self._searches.add(search)
            self.step(visits >> 3)

    def closed(self, goal: Goal) -> bool:
        """Return True if it is proven that no value satisfies the goal."""
        if any(opposite(one) in goal for one in goal):
            return True
        if goal not in self._leaning:
            self._leaning[goal] = set()
            self._waiting.append(goal)
            self._decide()
        return goal not in self._open

    def asks(self, literals: Iterable[Literal]) -> bool:
        """Return True if a sub-goal is closed as far as known.

        If that changes later, the current goal is checked again.
        """
        self.step()
        goal = frozenset(one for one in literals if one[0] != All(()) or not one[1])
        if any(opposite(one) in goal for one in goal):
            return True
        if not goal:
            return False
        if len(goal) == 1 and not self.thorough and all(wanted and _plain(demand) for demand, wanted in goal):
            return False  # an unsatisfiable schema is not searched for
        if self._current is None:
            return self.closed(goal)
        if goal not in self._leaning:
            self._leaning[goal] = set()
            self._waiting.append(goal)
        self._leaning[goal].add(self._current)
        return goal not in self._open

    def open_branches(self, goal: Goal, kinds: Iterable[str] = KINDS) -> Iterable[Branch]:
        """Yield the branches of a goal that are not closed."""
        for kind in kinds:
            waiting: list[tuple[Branch, Iterable[Literal]]] = [(Branch(kind), goal)]
            while waiting:
                origin, more = waiting.pop()
                self.step(len(origin.literals))
                branch = origin.copy()
                if not self._take(branch, more) or self._ends(branch):
                    continue
                if not branch.choices or branch.value:
                    yield branch
                    continue
                choice = min(branch.choices, key=len)
                branch.choices.remove(choice)
                waiting.extend((branch, alternative) for alternative in reversed(self._possible(branch, choice)))

    def may_be_missed(self, literals: Iterable[Literal], parts: Iterable[Demand]) -> list[Demand]:
        """Return the parts that may be violated while the literals hold, by fast propagation only."""
        possible = set[Demand]()
        for kind in KINDS:
            branch = Branch(kind)
            if self._take(branch, literals):
                choice = tuple(((part, False),) for part in parts)
                left = self._alternatives(branch, choice) or ()
                possible.update(part for ((part, _),) in self._possible(branch, left))
        return [part for part in parts if part in possible]

    def _possible(self, branch: Branch, choice: Choice) -> Choice:
        """Filter a wide choice: drop alternatives that require an impossible violation, instead of branching."""
        if branch.kind != "object" or len(choice) < _WIDE:
            return choice
        self.step(len(branch.atoms))
        contents = objects.Contents.of(branch.atoms)
        return tuple(one for one in choice if not any(self._is_held(contents, *literal) for literal in one))

    def _is_held(self, contents: objects.Contents, demand: Demand, wanted: bool) -> bool:  # noqa: FBT001 - a literal
        """Return True if the literal requires a member to violate a demand that it cannot violate."""
        if wanted or not isinstance(demand, Members) or (name := objects.only_name(demand.names)) is None:
            return False
        self.evaluator.match(contents.patterns)
        return self.asks([*contents.at(name), (demand.body, False)])

    def _decide(self) -> None:
        outer = self._current
        while self._waiting:
            goal = self._waiting.pop()
            if goal in self._open:
                continue
            self._current = goal
            if any(True for _ in self.open_branches(goal)):
                self._open.add(goal)
                self._waiting.extend(self._leaning[goal] - self._open)
        self._current = outer

    def _take(self, branch: Branch, literals: Iterable[Literal]) -> bool:
        """Add literals to a branch; return False if they contradict each other."""
        waiting = list(literals)
        while True:
            while waiting:
                self.step()
                literal = waiting.pop()
                answer = branch.settled(literal, 0)
                if answer is False:
                    return False
                if literal in branch.literals:
                    continue
                branch.literals.add(literal)
                if not answer and not self._apart(branch, literal, waiting):
                    return False
            if not self._propagate(branch, waiting):
                return False
            if not waiting:
                return True

    def _apart(self, branch: Branch, literal: Literal, waiting: list[Literal]) -> bool:
        demand, wanted = literal
        match demand:
            case Schema():
                self._combined(branch, [(part.demand, wanted) for part in demand.parts], waiting, every=wanted)
            case All() | Some():
                every = isinstance(demand, All) is wanted
                self._combined(branch, [(part, wanted) for part in demand.parts], waiting, every=every)
            case Not():
                waiting.append((demand.body, not wanted))
            case One():
                self.step(len(demand.parts) ** 2)
                branch.choices.append(tuple(_exactly_one(demand) if wanted else _not_one(demand)))
            case Kinds():
                waiting.append((Multiple(Fraction(1)), wanted))
            case Values():
                branch.atoms.append(literal)
                if wanted:
                    branch.keys = demand.keys if branch.keys is None else branch.keys & demand.keys
            case Unknown():
                branch.atoms.append(literal)
            case _:
                branch.atoms.append(literal)
        return True

    def _combined(self, branch: Branch, parts: list[Literal], waiting: list[Literal], *, every: bool) -> None:
        if every or len(parts) == 1:
            waiting.extend(reversed(parts))  # the first one, a type, is processed first
        else:
            branch.choices.append(tuple((part,) for part in parts))

    def _propagate(self, branch: Branch, waiting: list[Literal]) -> bool:
        """Simplify the choices; a single remaining alternative is assumed, and none at all is a contradiction."""
        left = []
        for choice in branch.choices:
            kept = self._alternatives(branch, choice)
            if kept is None:
                continue
            if not kept:
                return False
            if len(kept) == 1:
                waiting.extend(kept[0])
            else:
                left.append(kept)
        branch.choices = left
        return True

    def _alternatives(self, branch: Branch, choice: Choice) -> Choice | None:
        """Return the alternatives that are still possible; None if one already holds."""
        kept = []
        for alternative in choice:
            answers = [branch.settled(one) for one in alternative]
            self.step(branch.looks)
            branch.looks = 0
            if False in answers:
                continue
            if all(answers):
                return None
            kept.append(alternative)
        return tuple(kept)

    def _ends(self, branch: Branch) -> bool:  # noqa: PLR0911 - one for each type
        """Return True if no value is possible in a branch."""
        self.step(len(branch.atoms))
        if branch.keys is not None:
            return self._listed(branch, [value_of(key) for key in branch.keys if key[0] == branch.kind])
        match branch.kind:
            case "null":
                return self._listed(branch, [None])
            case "boolean":
                return self._listed(branch, [True, False])
            case "number":
                return numbers.none_left(branch.atoms)
            case "string":
                return strings.none_left(branch.atoms, self._charge)
            case "array":
                return arrays.none_left(branch.atoms, self.asks) or self._only_empty(branch, [])
            case _:
                return objects.none_left(branch.atoms, self.asks, self.evaluator) or self._only_empty(branch, {})

    def _listed(self, branch: Branch, values: list[Any]) -> bool:
        """Return True if none of the listed values satisfies the branch; else store one that certainly does."""
        unsure = False
        for value in values:
            answers = [self._answer(value, literal) for literal in branch.literals]
            if False in answers:
                continue
            if None not in answers:
                branch.value = [value]
                return False
            unsure = True
        return not unsure

    def _answer(self, value: Any, literal: Literal) -> bool | None:
        answer = self.evaluator.meets(value, literal[0])
        return answer if answer is None else answer is literal[1]

    def _only_empty(self, branch: Branch, empty: Any) -> bool:
        if not any(isinstance(demand, (AtLeast, AtMost)) for demand, _ in branch.atoms):
            return False
        most = min((_most(demand, wanted=wanted) for demand, wanted in branch.atoms), default=1)
        return most == 0 and self._listed(branch, [empty])


def _most(demand: Demand, *, wanted: bool) -> int:
    if isinstance(demand, AtMost) and wanted:
        return demand.size
    return demand.size - 1 if isinstance(demand, AtLeast) and not wanted else 1


def _plain(demand: Demand) -> bool:
    """Return True for a schema without a ``false`` part, which is assumed to be satisfiable."""
    return isinstance(demand, Schema) and not any(part.demand == Some(()) for part in demand.parts)


def _exactly_one(demand: One) -> list[tuple[Literal, ...]]:
    return [
        tuple((part, index == chosen) for index, part in enumerate(demand.parts)) for chosen in range(len(demand.parts))
    ]


def _not_one(demand: One) -> list[tuple[Literal, ...]]:
    parts = demand.parts
    pairs = [((parts[i], True), (parts[j], True)) for i in range(len(parts)) for j in range(i + 1, len(parts))]
    return [tuple((part, False) for part in parts), *pairs]
