"""JSON texts with the offsets of their values, and minimal edits that leave the rest unchanged.

Comments are skipped, as Avro schemas may have them; of duplicate member names the last counts, as in JSON parsers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from contractlog.compatibility.json_text import Number, read
from contractlog.compatibility.positions import COMMENT, TOKEN

__all__ = ["Edit", "Overlap", "Source", "Spot", "applied", "difference", "tokens"]

_CLOSING: Final = {"{": "}", "[": "]"}
_MOST_COMPARED: Final = 250_000  #: pairs of tokens; a larger range counts as changed altogether


class Edit(NamedTuple):
    """A range of a text and its replacement."""

    start: int
    end: int
    text: str


class Overlap(ValueError):
    """Two edits overlap."""


@dataclass(slots=True)
class Spot:
    """A value in a text: a scalar, or a container with its members or items."""

    start: int
    end: int = -1
    names: list[str] | None = None  #: decoded member names; None if not an object
    starts: list[int] = field(default_factory=list)  #: offset of each member (its name) or item
    values: list[Spot] = field(default_factory=list)
    is_list: bool = False

    @property
    def is_object(self) -> bool:
        """True if the value is an object."""
        return self.names is not None

    def member(self, name: str) -> Spot | None:
        """Return the value of a member."""
        index = self.index_of(name)
        return None if index is None else self.values[index]

    def index_of(self, name: str) -> int | None:
        """Return the index of a member."""
        names = self.names or []
        return next((index for index in reversed(range(len(names))) if names[index] == name), None)

    def members(self) -> Iterator[tuple[str, Spot]]:
        """Yield names and values."""
        return zip(self.names or (), self.values, strict=bool(self.names))


class Source:
    """A text that was parsed as JSON before, so errors need no handling here."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _spots(text)

    def find(self, pointer: str) -> Spot | None:
        """Return the value at a JSON Pointer."""
        spot: Spot | None = self.root
        for part in pointer.split("/")[1:]:
            if spot is None:
                return None
            token = part.replace("~1", "/").replace("~0", "~")
            if spot.is_object:
                spot = spot.member(token)
            else:
                spot = spot.values[int(token)] if token.isdecimal() and int(token) < len(spot.values) else None
        return spot

    def slice(self, spot: Spot) -> str:
        """Return the text of a value."""
        return self.text[spot.start : spot.end]

    def value(self, spot: Spot) -> Any:
        """Parse a value; numbers are ``Number``."""
        return read(self.slice(spot), comments=True)

    def string(self, spot: Spot | None) -> str | None:
        """Return a string value; None for all others."""
        if spot is None or self.text[spot.start] != '"':
            return None
        return str(json.loads(self.slice(spot)))

    def strings(self, spot: Spot | None) -> list[str]:
        """Return the items of a list that are strings."""
        items = spot.values if spot is not None and spot.is_list else []
        return [text for text in map(self.string, items) if text is not None]

    def number(self, spot: Spot | None) -> Number | None:
        """Return a number value; None for all others."""
        value = None if spot is None or spot.is_object or spot.is_list else self.value(spot)
        return value if isinstance(value, Number) else None

    @staticmethod
    def replace(spot: Spot, text: str) -> Edit:
        """Replace a value."""
        return Edit(spot.start, spot.end, text)

    def set_member(self, spot: Spot, name: str, text: str, *, after: str = "") -> Edit:
        """Add a member to an object, or replace its value."""
        known = spot.member(name)
        if known is not None:
            return self.replace(known, text)
        before = spot.index_of(after)
        entry = f"{json.dumps(name, ensure_ascii=False)}{self._colon(spot)}{text}"
        return self.insert(spot, len(spot.values) if before is None else before + 1, entry)

    def insert(self, spot: Spot, index: int, entry: str) -> Edit:
        """Insert an item, or a whole member, before the one at an index."""
        if not spot.values:
            return Edit(spot.start + 1, spot.start + 1, entry)
        gap = self._gap(spot)
        if index == 0:
            return Edit(spot.starts[0], spot.starts[0], f"{entry},{gap}")
        end = spot.values[index - 1].end
        return Edit(end, end, f",{gap}{entry}")

    def remove_member(self, spot: Spot, name: str) -> list[Edit]:
        """Remove every member of a name."""
        return self.remove(spot, [index for index, known in enumerate(spot.names or ()) if known == name])

    def remove(self, spot: Spot, indexes: Collection[int]) -> list[Edit]:
        """Remove items or members with their separating commas."""
        gone = sorted(set(indexes))
        edits: list[Edit] = []
        last = len(spot.values) - 1
        for first, final in _runs(gone):
            if final < last:
                edits += self._cut(spot.starts[first], spot.starts[final + 1])
            elif first > 0:
                edits += self._cut(spot.values[first - 1].end, spot.values[final].end)
            else:
                edits += self._cut(spot.start + 1, spot.end - 1)
        return edits

    def _cut(self, start: int, end: int) -> list[Edit]:
        """Remove a range, except for the comments in it."""
        pieces = [match for match in TOKEN.finditer(self.text, start, end) if match[0].startswith(COMMENT)]
        bounds = [start, *(bound for piece in pieces for bound in piece.span()), end]
        cuts = [Edit(one, other, "") for one, other in zip(bounds[::2], bounds[1::2], strict=True)]
        if pieces:  # a line comment extends to the end of its line
            cuts = [cut._replace(text="\n") if "\n" in self.text[cut.start : cut.end] else cut for cut in cuts]
        return [cut for cut in cuts if cut.start < cut.end]

    def _gap(self, spot: Spot) -> str:
        """Return the whitespace between the entries of a container."""
        if len(spot.values) > 1:
            between = self.text[spot.values[-2].end : spot.starts[-1]]
            if not any(mark in between for mark in COMMENT):
                return between.replace(",", "", 1)
        lead = self.text[spot.start + 1 : spot.starts[0]]
        if "\n" in lead:
            return lead[lead.rindex("\n") :]
        return " " if ", " in self.text or ": " in self.text or "," not in self.text else ""

    def _colon(self, spot: Spot) -> str:
        if spot.names:
            name = json.dumps(spot.names[0], ensure_ascii=False)
            between = self.text[spot.starts[0] : spot.values[0].start]
            if between.startswith(name) and not any(mark in between for mark in COMMENT):
                return between.removeprefix(name)
        return ": " if ": " in self.text else ":"


def applied(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after all edits.

    Raises:
        Overlap: two edits overlap.
    """
    pieces: list[str] = []
    done = 0
    for start, end, instead in sorted(edits, key=lambda edit: edit[:2]):
        if start < done:
            raise Overlap
        pieces += [text[done:start], instead]
        done = end
    return "".join([*pieces, text[done:]])


def tokens(text: str) -> list[str]:
    """Return the tokens of a JSON text without comments."""
    return [match[0] for match in TOKEN.finditer(text) if not match[0].startswith(COMMENT)]


def difference(before: str, after: str) -> int:
    """Return the number of removed and inserted tokens; whitespace and comments do not count."""
    one, other = tokens(before), tokens(after)
    start = _common(one, other)
    one, other = one[start:], other[start:]
    end = _common(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    if len(one) * len(other) > _MOST_COMPARED:
        return len(one) + len(other)
    same = sum(block.size for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks())
    return len(one) + len(other) - 2 * same


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _runs(indexes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each consecutive run."""
    first = None
    for at, index in enumerate(indexes):
        first = index if first is None else first
        if at + 1 == len(indexes) or indexes[at + 1] != index + 1:
            yield first, index
            first = None


def _spots(text: str) -> Spot:
    """Locate every value, in one pass without recursion."""
    root: Spot | None = None
    stack: list[Spot] = []
    name: tuple[int, str] | None = None
    name_next = False
    for match in TOKEN.finditer(text):
        piece, start = match[0], match.start()
        if piece.startswith(COMMENT) or piece == ":":
            continue
        if piece == ",":
            name_next = stack[-1].is_object
        elif piece in _CLOSING.values():
            stack.pop().end = match.end()
            name_next = False
        elif name_next:
            name, name_next = (start, str(json.loads(piece))), False
        else:
            spot = Spot(start, match.end(), [] if piece == "{" else None, is_list=piece == "[")
            if stack:
                around = stack[-1]
                around.starts.append(start if name is None else name[0])
                around.values.append(spot)
                if around.names is not None and name is not None:
                    around.names.append(name[1])
            name = None
            root = root or spot
            if piece in _CLOSING:
                stack.append(spot)
                name_next = piece == "{"
    return root or Spot(0, 0)
