"""JSON texts with the offsets of their values, and minimal edits that leave the rest unchanged.

Comments are skipped, as Avro schemas may have them; of duplicate member names the last counts, as in JSON parsers.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from contractlog.compatibility.json_positions import COMMENT, TOKEN
from contractlog.compatibility.json_text import Number, parse_json, parse_pointer

__all__ = [
    "MAX_WIDTH",
    "Edit",
    "JsonSource",
    "JsonSpan",
    "OverlappingEdits",
    "abbreviate",
    "apply_edits",
    "count_changed_tokens",
    "fit_layout",
    "split_tokens",
]

_CLOSING: Final = {"{": "}", "[": "]"}
MAX_WIDTH: Final = 60  #: characters of a JSON text in a sentence
_MAX_COMPARED: Final = 250_000  #: pairs of tokens; a larger range counts as changed altogether


class Edit(NamedTuple):
    """A range of a JSON text and its replacement."""

    start: int
    end: int
    text: str


class OverlappingEdits(ValueError):
    """Two edits overlap."""


@dataclass(slots=True)
class JsonSpan:
    """A value in a JSON text: a scalar, or a container with its members or items."""

    start: int
    end: int = -1
    names: list[str] | None = None  #: decoded member names; None if not an object
    starts: list[int] = field(default_factory=list)  #: offset of each member (its name) or item
    values: list[JsonSpan] = field(default_factory=list)
    is_list: bool = False

    @property
    def is_object(self) -> bool:
        """True if the value is an object."""
        return self.names is not None

    def member(self, name: str) -> JsonSpan | None:
        """Return the value of a member."""
        index = self.index_of(name)
        return None if index is None else self.values[index]

    def index_of(self, name: str) -> int | None:
        """Return the index of a member."""
        names = self.names or []
        return next((index for index in reversed(range(len(names))) if names[index] == name), None)

    def members(self) -> Iterator[tuple[str, JsonSpan]]:
        """Yield names and values."""
        return zip(self.names or (), self.values, strict=bool(self.names))


class JsonSource:
    """A text that was parsed as JSON before, so errors need no handling here."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.root = _parse_spans(text)

    def find(self, pointer: str) -> JsonSpan | None:
        """Return the value at a JSON Pointer."""
        span: JsonSpan | None = self.root
        for token in parse_pointer(pointer):
            if span is None:
                return None
            if span.is_object:
                span = span.member(token)
            else:
                span = span.values[int(token)] if token.isdecimal() and int(token) < len(span.values) else None
        return span

    def slice(self, span: JsonSpan) -> str:
        """Return the text of a value."""
        return self.text[span.start : span.end]

    def value(self, span: JsonSpan) -> Any:
        """Parse a value; numbers are ``Number``."""
        return parse_json(self.slice(span), comments=True)

    def string(self, span: JsonSpan | None) -> str | None:
        """Return a string value; None for all others."""
        if span is None or self.text[span.start] != '"':
            return None
        return str(json.loads(self.slice(span)))

    def strings(self, span: JsonSpan | None) -> list[str]:
        """Return the items of a list that are strings."""
        items = span.values if span is not None and span.is_list else []
        return [text for text in map(self.string, items) if text is not None]

    def number(self, span: JsonSpan | None) -> Number | None:
        """Return a number value; None for all others."""
        value = None if span is None or span.is_object or span.is_list else self.value(span)
        return value if isinstance(value, Number) else None

    @staticmethod
    def replace(span: JsonSpan, text: str) -> Edit:
        """Replace a value."""
        return Edit(span.start, span.end, text)

    def set_member(self, span: JsonSpan, name: str, text: str, *, after: str | None = "") -> Edit:
        """Add a member to an object, or replace its value; ``after=None`` puts a new one first."""
        existing = span.member(name)
        if existing is not None:
            return self.replace(existing, text)
        entry = f"{json.dumps(name, ensure_ascii=False)}{self._colon(span)}{text}"
        if after is None:
            return self.insert(span, 0, entry)
        before = span.index_of(after)
        return self.insert(span, len(span.values) if before is None else before + 1, entry)

    def insert(self, span: JsonSpan, index: int, entry: str) -> Edit:
        """Insert an item, or a whole member, before the one at an index."""
        if not span.values:
            return Edit(span.start + 1, span.start + 1, entry)
        gap = self._gap(span)
        if index == 0:
            return Edit(span.starts[0], span.starts[0], f"{entry},{gap}")
        end = span.values[index - 1].end
        return Edit(end, end, f",{gap}{entry}")

    def remove_member(self, span: JsonSpan, name: str) -> list[Edit]:
        """Remove every member of a name."""
        return self.remove(span, [index for index, existing in enumerate(span.names or ()) if existing == name])

    def remove(self, span: JsonSpan, indexes: Collection[int]) -> list[Edit]:
        """Remove items or members with their separating commas."""
        removed = sorted(set(indexes))
        edits: list[Edit] = []
        last = len(span.values) - 1
        for first, final in _runs(removed):
            if final < last:
                edits += self._cut(span.starts[first], span.starts[final + 1])
            elif first > 0:
                edits += self._cut(span.values[first - 1].end, span.values[final].end)
            else:
                edits += self._cut(span.start + 1, span.end - 1)
        return edits

    def _cut(self, start: int, end: int) -> list[Edit]:
        """Remove a range, except for the comments in it."""
        pieces = [match for match in TOKEN.finditer(self.text, start, end) if match[0].startswith(COMMENT)]
        bounds = [start, *(bound for piece in pieces for bound in piece.span()), end]
        cuts = [Edit(first, last, "") for first, last in zip(bounds[::2], bounds[1::2], strict=True)]
        if pieces:  # a line comment extends to the end of its line
            cuts = [cut._replace(text="\n") if "\n" in self.text[cut.start : cut.end] else cut for cut in cuts]
        return [cut for cut in cuts if cut.start < cut.end]

    def _gap(self, span: JsonSpan) -> str:
        """Return the whitespace between the entries of a container."""
        if len(span.values) > 1:
            between = self.text[span.values[-2].end : span.starts[-1]]
            if not any(mark in between for mark in COMMENT):
                return between.replace(",", "", 1)
        leading = self.text[span.start + 1 : span.starts[0]]
        if "\n" in leading:
            return leading[leading.rindex("\n") :]
        return " " if ", " in self.text or ": " in self.text or "," not in self.text else ""

    def _colon(self, span: JsonSpan) -> str:
        if span.names:
            name = json.dumps(span.names[0], ensure_ascii=False)
            between = self.text[span.starts[0] : span.values[0].start]
            if between.startswith(name) and not any(mark in between for mark in COMMENT):
                return between.removeprefix(name)
        return ": " if ": " in self.text else ":"


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text after all edits.

    Raises:
        Overlap: two edits overlap.
    """
    pieces: list[str] = []
    done = 0
    for start, end, replacement in sorted(edits, key=lambda edit: edit[:2]):
        if start < done:
            raise OverlappingEdits
        pieces += [text[done:start], replacement]
        done = end
    return "".join([*pieces, text[done:]])


def split_tokens(text: str) -> list[str]:
    """Return the tokens of a JSON text without comments."""
    return [match[0] for match in TOKEN.finditer(text) if not match[0].startswith(COMMENT)]


def count_changed_tokens(before: str, after: str) -> int:
    """Return the number of removed and inserted tokens; whitespace and comments do not count."""
    removed, inserted = split_tokens(before), split_tokens(after)
    start = _common_prefix_length(removed, inserted)
    removed, inserted = removed[start:], inserted[start:]
    end = _common_prefix_length(removed[::-1], inserted[::-1])
    removed, inserted = removed[: len(removed) - end], inserted[: len(inserted) - end]
    if len(removed) * len(inserted) > _MAX_COMPARED:
        return len(removed) + len(inserted)
    same = sum(block.size for block in SequenceMatcher(None, removed, inserted, autojunk=False).get_matching_blocks())
    return len(removed) + len(inserted) - 2 * same


def _common_prefix_length(first: Sequence[str], second: Sequence[str]) -> int:
    return next(
        (at for at, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def _runs(indexes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each consecutive run."""
    first = None
    for at, index in enumerate(indexes):
        first = index if first is None else first
        if at + 1 == len(indexes) or indexes[at + 1] != index + 1:
            yield first, index
            first = None


def _parse_spans(text: str) -> JsonSpan:
    """Locate every value, in one pass without recursion."""
    root: JsonSpan | None = None
    stack: list[JsonSpan] = []
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
            span = JsonSpan(start, match.end(), [] if piece == "{" else None, is_list=piece == "[")
            if stack:
                container = stack[-1]
                container.starts.append(start if name is None else name[0])
                container.values.append(span)
                if container.names is not None and name is not None:
                    container.names.append(name[1])
            name = None
            root = root or span
            if piece in _CLOSING:
                stack.append(span)
                name_next = piece == "{"
    return root or JsonSpan(0, 0)


def abbreviate(text: str) -> str:
    """Return a part of a JSON text for a sentence, on one line and abbreviated."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_WIDTH else f"{line[: MAX_WIDTH - 1]}…"


def fit_layout(text: str, origin: JsonSource, start: int, target: JsonSource, target_start: int) -> str:
    """Format a part of one text for another: on one line, or indented like its new surroundings."""
    if "\n" not in text:
        return text
    if "\n" not in target.text.strip():
        return flatten_json(text, spaced=": " in target.text or ", " in target.text)
    return text.replace("\n" + _indentation_at(origin.text, start), "\n" + _indentation_at(target.text, target_start))


def flatten_json(text: str, *, spaced: bool) -> str:
    r"""Put a JSON text on one line, without comments.

    >>> flatten_json('{ "a" : 1,\n "b":[] }', spaced=True)
    '{"a": 1, "b": []}'
    """
    space = " " if spaced else ""
    return "".join(piece + space if piece in ",:" else piece for piece in split_tokens(text))


def _indentation_at(text: str, offset: int) -> str:
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    return line[: len(line) - len(line.lstrip())]
