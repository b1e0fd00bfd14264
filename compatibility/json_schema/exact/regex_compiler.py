"""Conversion of regular expressions to automata.

The regular subset of ECMA patterns is supported: literals, classes, groups, alternation, repetition, anchors. For
look-around, back-references, word boundaries and Unicode properties there is no automaton, and nothing is concluded.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from contractlog.compatibility.json_schema.exact.automata import (
    CHARACTER_CLASSES,
    DOT,
    MAX_STATES,
    Automaton,
    CharacterRanges,
    NotRegular,
    complement,
    merge_ranges,
)

__all__ = ["compile_pattern"]

_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_MAX_READ: Final = 20_000  #: characters, those of a repeated term once for each copy
_PUNCTUATION: Final = frozenset("^$\\.*+?()[]{}|/-")


@lru_cache(maxsize=1_024)
def compile_pattern(pattern: str) -> Automaton | None:
    """Return a pattern's automaton; None if it is not supported."""
    try:
        return _PatternParser(pattern).parse()
    except (NotRegular, RecursionError):
        return None


class _PatternParser:
    """Parser of patterns into fragments of an automaton, each with one entry and one exit state."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.position = 0
        self.taken = 0
        self.automaton = Automaton()

    def parse(self) -> Automaton:
        into, out = self.choice()
        if self.position < len(self.text):
            raise NotRegular
        self.automaton.empty_transitions[0].append(("", into))
        self.automaton.empty_transitions[out].append(("", 1))
        return self.automaton

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
        into, out = self.automaton.add_state(), self.automaton.add_state()
        while True:
            first, last = self.sequence()
            self.automaton.empty_transitions[into].append(("", first))
            self.automaton.empty_transitions[last].append(("", out))
            if self.peek() != "|":
                return into, out
            self.take()

    def sequence(self) -> tuple[int, int]:
        into = out = self.automaton.add_state()
        while self.peek() not in {"", "|", ")"}:
            start = self.position
            first, last = self.term()
            self.automaton.empty_transitions[out].append(("", first))
            out = self.repeat(start, first, last)
        return into, out

    def repeat(self, start: int, first: int, last: int) -> int:
        """Apply the quantifier of a term; each further copy parses the term's text again."""
        minimum, maximum = self.quantifier()
        after = self.position
        if (minimum, maximum) == (1, 1):
            return last
        out = self.automaton.add_state()
        copies = max(minimum, 1 if maximum is None else maximum)
        current, ends = (first, last), []
        for number in range(copies):
            if number:
                self.position = start
                here_first, here_last = self.term()
                self.automaton.empty_transitions[current[1]].append(("", here_first))
                current = (here_first, here_last)
            if number >= minimum:
                ends.append(current[0])
        if maximum == 0:
            self.position = after
            skip = self.automaton.add_state()
            self.automaton.transitions[first], self.automaton.empty_transitions[first] = [], [("", skip)]
            return skip
        self.position = after
        for end in ends:
            self.automaton.empty_transitions[end].append(("", out))
        self.automaton.empty_transitions[current[1]].append(("", out))
        if maximum is None:
            self.automaton.empty_transitions[current[1]].append(("", current[0]))
        return out

    def quantifier(self) -> tuple[int, int | None]:
        limits: tuple[int, int | None] = (1, 1)
        match self.peek():
            case "*":
                limits = (0, None)
            case "+":
                limits = (1, None)
            case "?":
                limits = (0, 1)
            case "{":
                return self.counted_quantifier()
            case _:
                return limits
        self.take()
        return self.skip_lazy_mark(limits)

    def counted_quantifier(self) -> tuple[int, int | None]:
        end = self.text.find("}", self.position)
        low, comma, high = self.text[self.position + 1 : end].partition(",")
        if end < 0 or not low.isascii() or not low.isdecimal() or (high and not (high.isascii() and high.isdecimal())):
            raise NotRegular
        self.position = end + 1
        minimum = int(low[:6])
        maximum = minimum if not comma else int(high[:6]) if high else None
        if maximum is not None and (maximum < minimum or maximum > MAX_STATES):
            raise NotRegular
        return self.skip_lazy_mark((minimum, maximum))

    def skip_lazy_mark(self, limits: tuple[int, int | None]) -> tuple[int, int | None]:
        if self.peek() == "?":
            self.take()
        if self.peek() and self.peek() in "*+?{":
            raise NotRegular
        return limits

    def term(self) -> tuple[int, int]:
        character = self.take()
        match character:
            case "^" | "$":
                into, out = self.automaton.add_state(), self.automaton.add_state()
                self.automaton.empty_transitions[into].append((character, out))
                return into, out
            case "(":
                return self.group()
            case "[":
                return self.character_set(self.bracket())
            case ".":
                return self.character_set(DOT)
            case "\\":
                return self.character_set(self.escape())
            case "*" | "+" | "?" | "{" | "}" | "]":
                raise NotRegular
            case _:
                return self.character_set(((ord(character), ord(character)),))

    def group(self) -> tuple[int, int]:
        if self.peek() == "?":
            self.take()
            if self.take() != ":":
                raise NotRegular
        fragment = self.choice()
        if self.take() != ")":
            raise NotRegular
        return fragment

    def character_set(self, ranges: CharacterRanges) -> tuple[int, int]:
        into, out = self.automaton.add_state(), self.automaton.add_state()
        self.automaton.transitions[into].append((ranges, out))
        return into, out

    def escape(self) -> CharacterRanges:
        character = self.take()
        if character in CHARACTER_CLASSES:
            return CHARACTER_CLASSES[character]
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

    def bracket(self) -> CharacterRanges:
        is_inverted = self.peek() == "^"
        if is_inverted:
            self.take()
        members: list[tuple[int, int]] = []
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
            members.extend(low)
        self.take()
        listed = merge_ranges(*members)
        return complement(listed) if is_inverted else listed

    def member(self) -> CharacterRanges:
        character = self.take()
        return self.escape() if character == "\\" else ((ord(character), ord(character)),)
