"""Nondeterministic finite automata that search for a pattern in a string, and their character sets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

__all__ = [
    "CHARACTER_CLASSES",
    "DOT",
    "MAX_CODE",
    "MAX_CONFIGURATIONS",
    "MAX_STATES",
    "Automaton",
    "CharacterRanges",
    "NotRegular",
    "complement",
    "merge_ranges",
]

MAX_CODE: Final = 0x10FFFF

CharacterRanges = tuple[tuple[int, int], ...]


def merge_ranges(*pairs: tuple[int, int]) -> CharacterRanges:
    """Return the ranges sorted, with adjacent and overlapping ones merged."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def complement(ranges: CharacterRanges) -> CharacterRanges:
    """Return the complement of a set of characters."""
    gaps, start = [], 0
    for low, high in ranges:
        if start < low:
            gaps.append((start, low - 1))
        start = high + 1
    if start <= MAX_CODE:
        gaps.append((start, MAX_CODE))
    return tuple(gaps)


_DIGIT: Final = merge_ranges((48, 57))
_WORD: Final = merge_ranges((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Final = merge_ranges(
    (9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
DOT: Final = complement(merge_ranges((10, 10), (13, 13), (0x2028, 0x2029)))
CHARACTER_CLASSES: Final = {
    "d": _DIGIT, "D": complement(_DIGIT), "w": _WORD, "W": complement(_WORD), "s": _SPACE, "S": complement(_SPACE),
}  # fmt: skip


MAX_STATES: Final = 1_500
MAX_CONFIGURATIONS: Final = 2_000
_MAX_VISITS: Final = 1_000_000  #: states that the matching of a string may visit; each takes less than a microsecond
_TRANSITION: Final = 8  #: what a transition that is not cached costs beside its states, in visits


class NotRegular(Exception):
    """The pattern is not supported as an automaton."""


@dataclass(slots=True, eq=False)
class Automaton:
    """An automaton; state 0 is the start, state 1 means that the pattern was found."""

    transitions: list[list[tuple[CharacterRanges, int]]] = field(default_factory=lambda: [[], []])
    #: transitions without a character: always, only at the start (``^``) or only at the end (``$``)
    empty_transitions: list[list[tuple[str, int]]] = field(default_factory=lambda: [[], []])
    _steps: dict[tuple[frozenset[int], int], frozenset[int]] = field(default_factory=dict)
    _accepted: dict[tuple[frozenset[int], bool], bool] = field(default_factory=dict)
    _start: frozenset[int] | None = None

    def add_state(self) -> int:
        """Add a state and return it."""
        if len(self.transitions) > MAX_STATES:
            raise NotRegular
        self.transitions.append([])
        self.empty_transitions.append([])
        return len(self.transitions) - 1

    def closure(self, states: Iterable[int], *, start: bool = False, end: bool = False) -> frozenset[int]:
        """Return all states that are reachable without a character."""
        allowed = {""} | ({"^"} if start else set()) | ({"$"} if end else set())
        reached = set(states)
        pending = list(reached)
        while pending:
            for condition, target in self.empty_transitions[pending.pop()]:
                if condition in allowed and target not in reached:
                    reached.add(target)
                    pending.append(target)
        return frozenset({1}) if 1 in reached else frozenset(reached)

    def step(self, states: frozenset[int], character: int) -> frozenset[int]:
        """Return the states after a character; state 1 is final."""
        if 1 in states:
            return states
        cached = self._steps.get((states, character))
        if cached is not None:
            return cached
        reached = {
            target for state in states for ranges, target in self.transitions[state] if _contains(ranges, character)
        }
        result = self.closure(reached | {0})
        if len(self._steps) < MAX_CONFIGURATIONS:
            self._steps[states, character] = result
        return result

    def accepts(self, states: frozenset[int], *, start: bool) -> bool:
        """Return True if the pattern is found when the text ends here."""
        accepted = self._accepted.get((states, start))
        if accepted is None:
            accepted = 1 in states or 1 in self.closure(states, start=start, end=True)
            if len(self._accepted) < MAX_CONFIGURATIONS:
                self._accepted[states, start] = accepted
        return accepted

    def match(self, text: str) -> tuple[bool | None, int]:
        """Return whether the pattern is found in a string, and the number of states visited.

        The result is None if that would visit too many states: a long text and a pattern with many states. A cached
        transition counts as half a state.
        """
        if self._start is None:
            self._start = self.closure({0}, start=True)
        states = self._start
        visits = 0
        for number, character in enumerate(text):
            if 1 in states:
                return True, visits + number // 2
            code = ord(character)
            if (states, code) not in self._steps:
                visits += _TRANSITION + len(states)
            if visits > _MAX_VISITS:
                return None, visits
            states = self.step(states, code)
        return self.accepts(states, start=not text), visits + len(text) // 2


def _contains(ranges: CharacterRanges, character: int) -> bool:
    """Return True if sorted ranges have a character."""
    index = bisect_right(ranges, (character, MAX_CODE))
    return index > 0 and ranges[index - 1][1] >= character
