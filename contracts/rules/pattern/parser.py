"""Parser of regular expressions in RE2's syntax, which has no look-around and no back-references."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from contractlog.contracts.rules.pattern.nodes import (
    Alternation,
    Assertion,
    CharacterSet,
    PatternNode,
    Repetition,
    Sequence,
)

__all__ = ["MAX_REPEAT", "PatternSyntaxError", "parse_pattern"]

MAX_REPEAT: Final = 1000
MAX_PATTERN_LENGTH: Final = 1000
MAX_GROUP_DEPTH: Final = 30
MAX_CODE: Final = 0x10FFFF

_DIGITS: Final = (("0", "9"),)
_WORDS: Final = (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z"))
_SPACES: Final = (("\t", "\n"), ("\f", "\r"), (" ", " "))
_PERL_CLASSES: Final = {"d": _DIGITS, "w": _WORDS, "s": _SPACES}
_POSIX_CLASSES: Final = {
    "alnum": (("0", "9"), ("A", "Z"), ("a", "z")),
    "alpha": (("A", "Z"), ("a", "z")),
    "ascii": (("\0", "\x7f"),),
    "blank": (("\t", "\t"), (" ", " ")),
    "cntrl": (("\0", "\x1f"), ("\x7f", "\x7f")),
    "digit": _DIGITS,
    "graph": (("!", "~"),),
    "lower": (("a", "z"),),
    "print": ((" ", "~"),),
    "punct": (("!", "/"), (":", "@"), ("[", "`"), ("{", "~")),
    "space": (("\t", "\r"), (" ", " ")),
    "upper": (("A", "Z"),),
    "word": _WORDS,
    "xdigit": (("0", "9"), ("A", "F"), ("a", "f")),
}
_ASSERTIONS: Final = {"A": "start", "z": "end", "b": "word boundary", "B": "no word boundary"}
_CONTROLS: Final = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_CATEGORIES: Final = frozenset(
    "L Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Co Cs".split()  # noqa: SIM905 -- as in the standard's table
)
_REPEAT: Final = re.compile(r"\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}")
_GROUP: Final = re.compile(
    r"\?P?<(?P<name>[A-Za-z_][A-Za-z0-9_]*)>|\?(?P<on>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)])"
)
_CODE: Final = re.compile(r"x\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|([0-7]{3}|0[0-7]{0,2})")
_PROPERTY: Final = re.compile(r"[pP](?:\{(\^?)([A-Za-z_]+)\}|([A-Z]))")
_POSIX: Final = re.compile(r"\[:(\^?)([a-z]+):\]")


class PatternSyntaxError(ValueError):
    """A pattern is not valid in RE2's syntax."""


@dataclass(frozen=True, slots=True)
class _Flags:
    ignore_case: bool = False
    multiline: bool = False
    dot_all: bool = False


@dataclass(slots=True)
class _Reader:
    text: str
    flags: _Flags = field(default_factory=_Flags)
    at: int = 0
    depth: int = 0

    @property
    def next(self) -> str:
        return self.text[self.at : self.at + 1]

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self.text, self.at)
        if match is not None:
            self.at = match.end()
        return match


def parse_pattern(text: str) -> PatternNode:
    """Parse a pattern.

    Raises:
        PatternSyntaxError: the pattern is not valid, or too long or deep.
    """
    if len(text) > MAX_PATTERN_LENGTH:
        raise PatternSyntaxError(f"it is longer than {MAX_PATTERN_LENGTH} characters")
    reader = _Reader(text)
    node = _parse_alternation(reader)
    if reader.next:
        raise PatternSyntaxError("it has a ')' without '('")
    return node


def _parse_alternation(reader: _Reader) -> PatternNode:
    branches = [_parse_sequence(reader)]
    while reader.next == "|":
        reader.at += 1
        branches.append(_parse_sequence(reader))
    return branches[0] if len(branches) == 1 else Alternation(tuple(branches))


def _parse_sequence(reader: _Reader) -> PatternNode:
    parts: list[PatternNode] = []
    while reader.next and reader.next not in "|)":
        part = _parse_atom(reader)
        limits = _parse_limits(reader)
        if limits is not None:
            part = Repetition(part, *limits)
            if reader.next == "?":
                reader.at += 1
            if reader.next in {"*", "+", "?"}:
                raise PatternSyntaxError(f"it repeats a repetition with '{reader.next}'")
        parts.append(part)
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def _parse_limits(reader: _Reader) -> tuple[int, int | None] | None:
    simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(reader.next)
    if simple is not None:
        reader.at += 1
        return simple
    match = reader.match(_REPEAT)
    if match is None:
        return None
    least = int(match[1])
    greatest = least if match[2] is None else int(match[3]) if match[3] else None
    if max(least, greatest or 0) > MAX_REPEAT or (greatest is not None and greatest < least):
        raise PatternSyntaxError(f"{match.group()} is not a valid number of repetitions")
    return least, greatest


def _parse_atom(reader: _Reader) -> PatternNode:  # noqa: PLR0911 -- one for each kind of atom
    character = reader.next
    reader.at += 1
    flags = reader.flags
    if character == "(":
        return _parse_group(reader)
    if character == "[":
        return _parse_class(reader)
    if character == ".":
        return CharacterSet((("\n", "\n"),), negated=True) if not flags.dot_all else CharacterSet(negated=True)
    if character == "^":
        return Assertion("line start" if flags.multiline else "start")
    if character == "$":
        return Assertion("line end" if flags.multiline else "end")
    if character == "\\":
        return _parse_escape(reader)
    if character in "*+?":
        raise PatternSyntaxError(f"there is nothing to repeat before '{character}'")
    return _literal(character, flags)


def _literal(character: str, flags: _Flags) -> CharacterSet:
    return CharacterSet(((character, character),), ignore_case=flags.ignore_case)


def _parse_group(reader: _Reader) -> PatternNode:
    before = reader.flags
    if reader.next == "?":
        match = reader.match(_GROUP)
        if match is None:
            raise PatternSyntaxError(f"'({reader.text[reader.at : reader.at + 3]}' is not supported by RE2")
        if match["name"] is None:
            on, off = match["on"], match["off"] or ""
            reader.flags = _Flags(
                *(
                    letter in on or (setting and letter not in off)
                    for letter, setting in zip(
                        "ims", (before.ignore_case, before.multiline, before.dot_all), strict=True
                    )
                )
            )
            if match["end"] == ")":
                return Sequence(())
    reader.depth += 1
    if reader.depth > MAX_GROUP_DEPTH:
        raise PatternSyntaxError(f"its groups are nested more than {MAX_GROUP_DEPTH} levels deep")
    node = _parse_alternation(reader)
    if reader.next != ")":
        raise PatternSyntaxError("a '(' is not closed")
    reader.at += 1
    reader.depth -= 1
    reader.flags = before
    return node


def _parse_escape(reader: _Reader) -> PatternNode:
    if reader.next in _ASSERTIONS and reader.next:
        reader.at += 1
        return Assertion(_ASSERTIONS[reader.text[reader.at - 1]])
    if reader.next == "Q":
        end = reader.text.find("\\E", reader.at)
        stop = len(reader.text) if end < 0 else end
        quoted = reader.text[reader.at + 1 : stop]
        reader.at = stop + (0 if end < 0 else 2)
        return Sequence(tuple(_literal(character, reader.flags) for character in quoted))
    item = _parse_class_escape(reader)
    return item if isinstance(item, CharacterSet) else _literal(item, reader.flags)


def _parse_class_escape(reader: _Reader) -> CharacterSet | str:
    """Parse an escape that stands for a character or a set of characters; the backslash is read."""
    letter = reader.next
    if letter.lower() in _PERL_CLASSES and letter:
        reader.at += 1
        return CharacterSet(_PERL_CLASSES[letter.lower()], negated=letter.isupper())
    if (match := reader.match(_PROPERTY)) is not None:
        category = match[2] or match[3]
        if category not in _CATEGORIES:
            raise PatternSyntaxError(f"\\{match.group()} is no category of Unicode that is supported")
        return CharacterSet(category=category, negated=(letter == "P") is not bool(match[1]))
    if (match := reader.match(_CODE)) is not None:
        code = int(match[3], 8) if match[3] else int(match[1] or match[2], 16)
        if code > MAX_CODE:
            raise PatternSyntaxError(f"\\{match.group()} is no character")
        return chr(code)
    reader.at += 1
    if letter in _CONTROLS:
        return _CONTROLS[letter]
    if not letter or letter.isalnum() or not letter.isascii():
        raise PatternSyntaxError(f"\\{letter} is not supported by RE2")
    return letter


def _parse_class(reader: _Reader) -> CharacterSet:
    negated = reader.next == "^"
    reader.at += negated
    ranges: list[tuple[str, str]] = []
    sets: list[CharacterSet] = []
    first = True
    while reader.next != "]" or first:
        first = False
        item = _parse_class_item(reader)
        if isinstance(item, CharacterSet):
            sets.append(item)
            continue
        last: CharacterSet | str = item
        if reader.next == "-" and reader.text[reader.at + 1 : reader.at + 2] not in {"]", ""}:
            reader.at += 1
            last = _parse_class_item(reader)
        if isinstance(last, CharacterSet) or last < item:
            raise PatternSyntaxError("a range of characters is not valid")
        ranges.append((item, last))
    reader.at += 1
    return CharacterSet(tuple(ranges), tuple(sets), negated=negated, ignore_case=reader.flags.ignore_case)


def _parse_class_item(reader: _Reader) -> CharacterSet | str:
    if (match := reader.match(_POSIX)) is not None:
        if match[2] not in _POSIX_CLASSES:
            raise PatternSyntaxError(f"{match.group()} is no class of characters")
        return CharacterSet(_POSIX_CLASSES[match[2]], negated=bool(match[1]))
    character = reader.next
    if not character:
        raise PatternSyntaxError("a '[' is not closed")
    reader.at += 1
    return _parse_class_escape(reader) if character == "\\" else character
