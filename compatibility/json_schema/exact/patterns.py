"""Regular expressions as automata: whether any text matches some patterns and misses others, and which.

The regular part of the ECMA language is understood: literals, classes, groups, alternation, repetition, anchors. For
look-around, back-references, word boundaries and Unicode properties there is no automaton, and nothing is concluded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Final

__all__ = ["Answer", "Automaton", "automaton", "find_text"]

_LAST: Final = 0x10FFFF
_MAX_STATES: Final = 1_500
_MAX_CONFIGURATIONS: Final = 2_000

Ranges = tuple[tuple[int, int], ...]


class Answer(Enum):
    """What is said in place of a text."""

    NONE = "there is no such text"
    UNKNOWN = "nobody knows"


class _NotRegular(Exception):
    """The pattern has no automaton here."""


def _ranges(*pairs: tuple[int, int]) -> Ranges:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pairs):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _inverted(ranges: Ranges) -> Ranges:
    found, start = [], 0
    for low, high in ranges:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)


_DIGIT: Final = _ranges((48, 57))
_WORD: Final = _ranges((48, 57), (65, 90), (95, 95), (97, 122))
_SPACE: Final = _ranges(
    (9, 13), (32, 32), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F),
    (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
_DOT: Final = _inverted(_ranges((10, 10), (13, 13), (0x2028, 0x2029)))
_ALL: Final = ((0, _LAST),)
_CLASSES: Final = {
    "d": _DIGIT, "D": _inverted(_DIGIT), "w": _WORD, "W": _inverted(_WORD), "s": _SPACE, "S": _inverted(_SPACE),
}  # fmt: skip
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_PUNCTUATION: Final = frozenset("^$\\.*+?()[]{}|/-")


@dataclass(slots=True, eq=False)
class Automaton:
    """States with edges; 0 is the start, 1 is where the pattern was found."""

    moves: list[list[tuple[Ranges, int]]] = field(default_factory=lambda: [[], []])
    free: list[list[tuple[str, int]]] = field(
        default_factory=lambda: [[], []]
    )  #: taken always, at the start or the end
    _steps: dict[tuple[frozenset[int], int], frozenset[int]] = field(default_factory=dict)

    def state(self) -> int:
        """Add a state and return it."""
        if len(self.moves) > _MAX_STATES:
            raise _NotRegular
        self.moves.append([])
        self.free.append([])
        return len(self.moves) - 1

    def closure(self, states: Iterable[int], *, start: bool = False, end: bool = False) -> frozenset[int]:
        """Return all states that are reached without a character."""
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
        """Return where a character leads; what was found stays found."""
        if 1 in states:
            return states
        known = self._steps.get((states, character))
        if known is not None:
            return known
        reached = {
            target
            for state in states
            for ranges, target in self.moves[state]
            if any(low <= character <= high for low, high in ranges)
        }
        found = self.closure(reached | {0})
        if len(self._steps) < _MAX_CONFIGURATIONS:
            self._steps[states, character] = found
        return found

    def found(self, states: frozenset[int], *, start: bool) -> bool:
        """Whether the pattern is found if the text ends here."""
        return 1 in states or 1 in self.closure(states, start=start, end=True)

    def matches(self, text: str) -> bool:
        """Whether the pattern is found in a text."""
        states = self.closure({0}, start=True)
        for character in text:
            states = self.step(states, ord(character))
        return self.found(states, start=not text)


@lru_cache(maxsize=1_024)
def automaton(pattern: str) -> Automaton | None:
    """Return a pattern's automaton, or None where it has none."""
    try:
        return _Reader(pattern).read()
    except (_NotRegular, RecursionError):
        return None


class _Reader:
    """Reads a pattern into fragments, each with one way in and one way out."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.position = 0
        self.made = Automaton()

    def read(self) -> Automaton:
        into, out = self.choice()
        if self.position < len(self.text):
            raise _NotRegular
        self.made.free[0].append(("", into))
        self.made.free[out].append(("", 1))
        return self.made

    def peek(self) -> str:
        return self.text[self.position] if self.position < len(self.text) else ""

    def take(self) -> str:
        character = self.peek()
        if not character:
            raise _NotRegular
        self.position += 1
        return character

    def choice(self) -> tuple[int, int]:
        into, out = self.made.state(), self.made.state()
        while True:
            first, last = self.sequence()
            self.made.free[into].append(("", first))
            self.made.free[last].append(("", out))
            if self.peek() != "|":
                return into, out
            self.take()

    def sequence(self) -> tuple[int, int]:
        into = out = self.made.state()
        while self.peek() not in {"", "|", ")"}:
            start = self.position
            first, last = self.term()
            self.made.free[out].append(("", first))
            out = self.repeated(start, first, last)
        return into, out

    def repeated(self, start: int, first: int, last: int) -> int:
        """Apply what follows a term; each further copy reads the term's text once more."""
        least, most = self.quantifier()
        after = self.position
        if (least, most) == (1, 1):
            return last
        out = self.made.state()
        copies = max(least, 1 if most is None else most)
        here, ends = (first, last), []
        for number in range(copies):
            if number:
                self.position = start
                here_first, here_last = self.term()
                self.made.free[here[1]].append(("", here_first))
                here = (here_first, here_last)
            if number >= least:
                ends.append(here[0])
        if most == 0:
            self.position = after
            skip = self.made.state()
            self.made.moves[first], self.made.free[first] = [], [("", skip)]
            return skip
        self.position = after
        for end in ends:
            self.made.free[end].append(("", out))
        self.made.free[here[1]].append(("", out))
        if most is None:
            self.made.free[here[1]].append(("", here[0]))
        return out

    def quantifier(self) -> tuple[int, int | None]:
        found: tuple[int, int | None] = (1, 1)
        match self.peek():
            case "*":
                found = (0, None)
            case "+":
                found = (1, None)
            case "?":
                found = (0, 1)
            case "{":
                return self.counted()
            case _:
                return found
        self.take()
        return self.lazy(found)

    def counted(self) -> tuple[int, int | None]:
        end = self.text.find("}", self.position)
        low, comma, high = self.text[self.position + 1 : end].partition(",")
        if end < 0 or not low.isascii() or not low.isdecimal() or (high and not (high.isascii() and high.isdecimal())):
            raise _NotRegular
        self.position = end + 1
        least = int(low[:6])
        most = least if not comma else int(high[:6]) if high else None
        if most is not None and (most < least or most > _MAX_STATES):
            raise _NotRegular
        return self.lazy((least, most))

    def lazy(self, found: tuple[int, int | None]) -> tuple[int, int | None]:
        if self.peek() == "?":
            self.take()
        if self.peek() and self.peek() in "*+?{":
            raise _NotRegular
        return found

    def term(self) -> tuple[int, int]:
        character = self.take()
        match character:
            case "^" | "$":
                into, out = self.made.state(), self.made.state()
                self.made.free[into].append((character, out))
                return into, out
            case "(":
                return self.group()
            case "[":
                return self.set(self.bracket())
            case ".":
                return self.set(_DOT)
            case "\\":
                return self.set(self.escape())
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise _NotRegular
            case _:
                return self.set(((ord(character), ord(character)),))

    def group(self) -> tuple[int, int]:
        if self.peek() == "?":
            self.take()
            if self.take() != ":":
                raise _NotRegular
        fragment = self.choice()
        if self.take() != ")":
            raise _NotRegular
        return fragment

    def set(self, ranges: Ranges) -> tuple[int, int]:
        into, out = self.made.state(), self.made.state()
        self.made.moves[into].append((ranges, out))
        return into, out

    def escape(self) -> Ranges:
        character = self.take()
        if character in _CLASSES:
            return _CLASSES[character]
        code = _CONTROLS.get(character)
        if code is None and character in "xu":
            code = self.hexadecimal(2 if character == "x" else 4)
        elif code is None and character in _PUNCTUATION:
            code = ord(character)
        if code is None:
            raise _NotRegular
        return ((code, code),)

    def hexadecimal(self, digits: int) -> int:
        text = self.text[self.position : self.position + digits]
        if len(text) < digits or not all(digit in "0123456789abcdefABCDEF" for digit in text):
            raise _NotRegular
        self.position += digits
        code = int(text, 16)
        if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - half of a pair
            raise _NotRegular
        return code

    def bracket(self) -> Ranges:
        inverted = self.peek() == "^"
        if inverted:
            self.take()
        found: list[tuple[int, int]] = []
        while self.peek() != "]":
            if self.peek() == "[" or self.text.startswith(("&&", "--", "~~"), self.position):
                raise _NotRegular  # engines differ in what this means
            low = self.member()
            if self.peek() == "-" and self.text[self.position + 1 : self.position + 2] not in {"]", ""}:
                self.take()
                high = self.member()
                if len(low) != 1 or len(high) != 1 or low[0][0] != low[0][1] or low[0][0] > high[0][0]:
                    raise _NotRegular
                low = ((low[0][0], high[0][1]),)
            found.extend(low)
        self.take()
        ranges = _ranges(*found)
        return _inverted(ranges) if inverted else ranges

    def member(self) -> Ranges:
        character = self.take()
        return self.escape() if character == "\\" else ((ord(character), ord(character)),)


@dataclass(frozen=True, slots=True)
class _Here:
    """How far a text has come: each automaton's states, the length as far as it matters, and a prefix to avoid."""

    states: tuple[frozenset[int], ...]
    length: int
    avoided: str | None


@lru_cache(maxsize=1_024)
def find_text(
    patterns: tuple[tuple[Automaton, bool], ...], least: int, most: int | None, avoided: frozenset[str]
) -> str | Answer:
    """Find the shortest text that matches some patterns, misses the others, has a length, and is none of some texts."""
    if most is not None and least > most:
        return Answer.NONE
    limit = least if most is None else most + 1
    prefixes = {text[:end] for text in avoided for end in range(len(text) + 1)} if len(avoided) < 200 else None  # noqa: PLR2004
    if prefixes is None:
        return Answer.UNKNOWN
    characters = _representatives([one for one, _ in patterns], prefixes)
    begin = _Here(tuple(one.closure({0}, start=True) for one, _ in patterns), 0, "" if avoided else None)
    waiting, seen = deque([(begin, "")]), {begin}
    while waiting:
        here, text = waiting.popleft()
        if here.length >= least and here.avoided not in avoided and _met(patterns, here, start=not text):
            return text
        if (most is not None and len(text) >= most) or _lost(patterns, here):
            continue
        for character in characters:
            there = _Here(
                tuple(one.step(states, character) for (one, _), states in zip(patterns, here.states, strict=True)),
                min(here.length + 1, limit),
                _longer(here.avoided, chr(character), prefixes),
            )
            if there not in seen:
                if len(seen) >= _MAX_CONFIGURATIONS:
                    return Answer.UNKNOWN
                seen.add(there)
                waiting.append((there, text + chr(character)))
    return Answer.NONE


def _longer(avoided: str | None, character: str, prefixes: set[str]) -> str | None:
    longer = None if avoided is None else avoided + character
    return longer if longer in prefixes else None


def _met(patterns: Sequence[tuple[Automaton, bool]], here: _Here, *, start: bool) -> bool:
    """Whether a text that ends here matches what it must, and misses what it must."""
    return all(
        one.found(states, start=start) is wanted for (one, wanted), states in zip(patterns, here.states, strict=True)
    )


def _lost(patterns: Sequence[tuple[Automaton, bool]], here: _Here) -> bool:
    """Whether a pattern that must be missed was found already."""
    return any(1 in states and not wanted for (_, wanted), states in zip(patterns, here.states, strict=True))


def _representatives(automata: Iterable[Automaton], prefixes: Iterable[str]) -> list[int]:
    """Return one character for each class that no automaton tells apart."""
    singles = {ord(text[-1]) for text in prefixes if text}
    cuts = {0, 0xD800, 0xE000} | {edge for code in singles for edge in (code, code + 1)}
    for one in automata:
        for moves in one.moves:
            for ranges, _ in moves:
                cuts |= {edge for low, high in ranges for edge in (low, high + 1)}
    return [_nicest(low, high) for low, high in _between(sorted(cut for cut in cuts if cut <= _LAST)) if low != 0xD800]  # noqa: PLR2004


def _between(cuts: list[int]) -> Iterator[tuple[int, int]]:
    for position, low in enumerate(cuts):
        yield low, (cuts[position + 1] if position + 1 < len(cuts) else _LAST + 1) - 1


def _nicest(low: int, high: int) -> int:
    return next((code for code in map(ord, "aA0zZ9-_ .!") if low <= code <= high), max(low, min(high, 0x21)))
