"""Syntax tree of a regular expression."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

__all__ = ["Alternation", "Assertion", "CharacterSet", "PatternNode", "Repetition", "Sequence"]


class PatternNode:
    """A part of a pattern."""


@dataclass(frozen=True, slots=True)
class CharacterSet(PatternNode):
    """A set of characters: ranges, categories of Unicode and other sets."""

    ranges: tuple[tuple[str, str], ...] = ()
    sets: tuple[CharacterSet, ...] = ()
    category: str = ""
    negated: bool = False
    ignore_case: bool = False

    def has(self, character: str) -> bool:
        """Return true if the character is in the set."""
        cases = {character, character.lower(), character.upper()} if self.ignore_case else (character,)
        return any(map(self._has_exact, cases)) is not self.negated

    def _has_exact(self, character: str) -> bool:
        return (
            any(low <= character <= high for low, high in self.ranges)
            or any(other.has(character) for other in self.sets)
            or (bool(self.category) and unicodedata.category(character).startswith(self.category))
        )


@dataclass(frozen=True, slots=True)
class Assertion(PatternNode):
    """A condition on a position: start, end, line start, line end, word boundary, no word boundary."""

    kind: str


@dataclass(frozen=True, slots=True)
class Sequence(PatternNode):
    """Parts in a row."""

    parts: tuple[PatternNode, ...]


@dataclass(frozen=True, slots=True)
class Alternation(PatternNode):
    """Alternatives."""

    branches: tuple[PatternNode, ...]


@dataclass(frozen=True, slots=True)
class Repetition(PatternNode):
    """A part, repeated from ``least`` to ``greatest`` times; None if there is no upper limit."""

    part: PatternNode
    least: int
    greatest: int | None
