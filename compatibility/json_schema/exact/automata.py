"""Nondeterministic finite automata that search for a pattern in a text."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from contractlog.compatibility.json_schema.exact.characters import LAST, Ranges

__all__ = ["MAX_CONFIGURATIONS", "MAX_STATES", "Automaton", "NotRegular"]

MAX_STATES: Final = 1_500
MAX_CONFIGURATIONS: Final = 2_000


class NotRegular(Exception):
    """The pattern is not supported as an automaton."""


@dataclass(slots=True, eq=False)
class Automaton:
    """An automaton; state 0 is the start, state 1 means that the pattern was found."""

    moves: list[list[tuple[Ranges, int]]] = field(default_factory=lambda: [[], []])
    free: list[list[tuple[str, int]]] = field(
        default_factory=lambda: [[], []]
    )  #: transitions without a character: always, only at the start (``^``) or only at the end (``$``)
    _steps: dict[tuple[frozenset[int], int], frozenset[int]] = field(default_factory=dict)

    def state(self) -> int:
        """Add a state and return it."""
        if len(self.moves) > MAX_STATES:
            raise NotRegular
        self.moves.append([])
        self.free.append([])
        return len(self.moves) - 1

    def closure(self, states: Iterable[int], *, start: bool = False, end: bool = False) -> frozenset[int]:
        """Return all states that are reachable without a character."""
        allowed = {""} | ({"^"} if start else set()) | ({"$"} if end else set())
        seen = set(states)
        waiting = list(seen)
        while waiting:
            for condition, target in self.free[waiting.pop()]:
                if condition in allowed and target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return frozenset({1}) if 1 in seen else frozenset(seen)

    def step(self, states: frozenset[int], character: int) -> frozenset[int]:
        """Return the states after a character; state 1 is final."""
        if 1 in states:
            return states
        known = self._steps.get((states, character))
        if known is not None:
            return known
        reached = {target for state in states for ranges, target in self.moves[state] if _contains(ranges, character)}
        found = self.closure(reached | {0})
        if len(self._steps) < MAX_CONFIGURATIONS:
            self._steps[states, character] = found
        return found

    def found(self, states: frozenset[int], *, start: bool) -> bool:
        """Return True if the pattern is found when the text ends here."""
        return 1 in states or 1 in self.closure(states, start=start, end=True)

    def matches(self, text: str) -> bool:
        """Return True if the pattern is found in a text."""
        states = self.closure({0}, start=True)
        for character in text:
            states = self.step(states, ord(character))
        return self.found(states, start=not text)


def _contains(ranges: Ranges, character: int) -> bool:
    """Return True if sorted ranges have a character."""
    place = bisect_right(ranges, (character, LAST))
    return place > 0 and ranges[place - 1][1] >= character
