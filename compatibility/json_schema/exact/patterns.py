"""Conversion of regular expressions to automata.

The regular subset of ECMA patterns is supported: literals, classes, groups, alternation, repetition, anchors. For
look-around, back-references, word boundaries and Unicode properties there is no automaton, and nothing is concluded.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from contractlog.compatibility.json_schema.exact.automata import MAX_STATES, Automaton, NotRegular
from contractlog.compatibility.json_schema.exact.characters import CLASSES, DOT, Ranges, inverted, ranges

__all__ = ["automaton"]

_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_MAX_READ: Final = 20_000  #: characters, those of a repeated term once for each copy
_PUNCTUATION: Final = frozenset("^$\\.*+?()[]{}|/-")


@lru_cache(maxsize=1_024)
def automaton(pattern: str) -> Automaton | None:
    """Return a pattern's automaton; None if it is not supported."""
    try:
        return _Reader(pattern).read()
    except (NotRegular, RecursionError):
        return None


class _Reader:
    """Parser of patterns into fragments of an automaton, each with one entry and one exit state."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.position = 0
        self.taken = 0
        self.made = Automaton()

    def read(self) -> Automaton:
        into, out = self.choice()
        if self.position < len(self.text):
            raise NotRegular
        self.made.free[0].append(("", into))
        self.made.free[out].append(("", 1))
        return self.made

    def peek(self) -> str:
        return self.text[self.position] if self.position < len(self.text) else ""

    def take(self) -> str:
        character = self.peek()
        self.taken += 1
        if not character or self.taken > _MAX_READ:
            raise NotRegular
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
        """Apply the quantifier of a term; each further copy parses the term's text again."""
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
            raise NotRegular
        self.position = end + 1
        least = int(low[:6])
        most = least if not comma else int(high[:6]) if high else None
        if most is not None and (most < least or most > MAX_STATES):
            raise NotRegular
        return self.lazy((least, most))

    def lazy(self, found: tuple[int, int | None]) -> tuple[int, int | None]:
        if self.peek() == "?":
            self.take()
        if self.peek() and self.peek() in "*+?{":
            raise NotRegular
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
                return self.set(DOT)
            case "\\":
                return self.set(self.escape())
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise NotRegular
            case _:
                return self.set(((ord(character), ord(character)),))

    def group(self) -> tuple[int, int]:
        if self.peek() == "?":
            self.take()
            if self.take() != ":":
                raise NotRegular
        fragment = self.choice()
        if self.take() != ")":
            raise NotRegular
        return fragment

    def set(self, ranges: Ranges) -> tuple[int, int]:
        into, out = self.made.state(), self.made.state()
        self.made.moves[into].append((ranges, out))
        return into, out

    def escape(self) -> Ranges:
        character = self.take()
        if character in CLASSES:
            return CLASSES[character]
        code = _CONTROLS.get(character)
        if code is None and character in "xu":
            code = self.hexadecimal(2 if character == "x" else 4)
        elif code is None and character in _PUNCTUATION:
            code = ord(character)
        if code is None:
            raise NotRegular
        return ((code, code),)

    def hexadecimal(self, digits: int) -> int:
        text = self.text[self.position : self.position + digits]
        if len(text) < digits or not all(digit in "0123456789abcdefABCDEF" for digit in text):
            raise NotRegular
        self.position += digits
        code = int(text, 16)
        if 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004  - half of a surrogate pair
            raise NotRegular
        return code

    def bracket(self) -> Ranges:
        outside = self.peek() == "^"
        if outside:
            self.take()
        found: list[tuple[int, int]] = []
        while self.peek() != "]":
            if self.peek() == "[" or self.text.startswith(("&&", "--", "~~"), self.position):
                raise NotRegular  # the meaning differs between engines
            low = self.member()
            if self.peek() == "-" and self.text[self.position + 1 : self.position + 2] not in {"]", ""}:
                self.take()
                high = self.member()
                if len(low) != 1 or len(high) != 1 or low[0][0] != low[0][1] or low[0][0] > high[0][0]:
                    raise NotRegular
                low = ((low[0][0], high[0][1]),)
            found.extend(low)
        self.take()
        inside = ranges(*found)
        return inverted(inside) if outside else inside

    def member(self) -> Ranges:
        character = self.take()
        return self.escape() if character == "\\" else ((ord(character), ord(character)),)
