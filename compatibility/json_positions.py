"""Mapping of JSON Pointers to line and column in a JSON text; one pass, no recursion."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.json_text import parse_pointer

__all__ = [
    "COMMENT",
    "TOKEN",
    "Position",
    "add_position",
    "find_syntax_error",
    "locate_pointer",
    "locate_pointers",
    "position_at_offset",
    "split_pointer",
]

TOKEN: Final = re.compile(
    r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)|[{}\[\]:,]|[^\s{}\[\]:,"/]+|/', re.DOTALL
)
COMMENT: Final = ("//", "/*")  #: prefixes of comment tokens, which Avro schemas may contain

_BRACKET: Final = re.compile(
    r'(?:"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)|[^{}\[\]"/]++|/'
    r'|\[[^{}\[\]"/]*+\]|\{[^{}\[\]"/]*+\})*+([{}\[\]])',
    re.DOTALL,
)  #: matches up to the next bracket that is not part of an innermost pair
_OPENING: Final = ("{", "[")
_CLOSING: Final = ("}", "]")


class _TokenRole(Enum):
    """Role of a token in a JSON text."""

    NAME = "name"
    VALUE = "value"
    CLOSE = "close"


class Position(NamedTuple):
    """A position in a JSON text, counted from 1; columns in characters."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


def position_at_offset(text: str, offset: int) -> Position:
    """Return the line and column of the character at an offset."""
    return Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))


def split_pointer(pointer: str) -> tuple[str, str]:
    """Split a pointer into the name of the referenced schema (empty for the schema itself) and the rest.

    >>> split_pointer("leg#/fields/0"), split_pointer("/fields/a#b")
    (('leg', '/fields/0'), ('', '/fields/a#b'))
    """
    if not pointer or pointer.startswith("/"):
        return "", pointer
    name, _, inside = pointer.partition("#")
    return name, inside


def locate_pointer(text: str, pointer: str) -> Position:
    """Return the position of the value at a JSON Pointer, or of its deepest existing ancestor.

    >>> str(locate_pointer('{"a": [1, {"b": 2}]}', "/a/1/b"))
    '1:17'
    """
    return locate_pointers(text, [pointer])[0]


def locate_pointers(text: str, pointers: Sequence[str]) -> list[Position]:
    """Locate many pointers in one pass over a JSON text; one pass per pointer would take quadratic time."""
    root = _PointerNode()
    paths = [parse_pointer(pointer) for pointer in pointers]
    for path in paths:
        node = root
        for part in path:
            node = node.members.setdefault(part, _PointerNode())
    _record_offsets(text, root)
    lines = [match.start() for match in re.finditer("\n", text)] if len(pointers) > 1 else None
    return [_position_from_lines(text, root.deepest(path), lines) for path in paths]


def _position_from_lines(text: str, offset: int, lines: list[int] | None) -> Position:
    if lines is None:
        return position_at_offset(text, offset)
    line = bisect_left(lines, offset)
    return Position(line + 1, offset - (lines[line - 1] if line else -1))


def add_position(problem: InvalidSchema, text: str, *, comments: bool) -> InvalidSchema:
    """Return the error with ``line`` and ``column`` in the submitted text, unchanged without a position."""
    pointer = problem.facts.get("at")
    if pointer is None or split_pointer(pointer)[0] or "line" in problem.facts:
        return problem
    syntax = None if pointer else find_syntax_error(text, comments=comments)
    position = locate_pointer(text, pointer) if syntax is None else syntax[1]
    return InvalidSchema(problem.message, **problem.facts, line=position.line, column=position.column)


def find_syntax_error(text: str, *, comments: bool) -> tuple[str, Position] | None:
    """Return message and position of the first JSON syntax error; None if it cannot be determined."""
    try:
        json.loads(TOKEN.sub(_blank_comment, text) if comments and "/" in text else text)
    except json.JSONDecodeError as error:
        before = text[: error.pos].rstrip()
        if text[error.pos : error.pos + 1] in {"}", "]"} and before.endswith(","):
            return "a comma before a closing bracket is not allowed: remove it", position_at_offset(
                text, len(before) - 1
            )
        if not text.strip():
            return "the text is empty", position_at_offset(text, 0)
        message = "JSON has no comments: remove it" if text[error.pos :].startswith(("//", "/*")) else error.msg
        return message, position_at_offset(text, error.pos)
    except (RecursionError, ValueError):
        pass
    return None


def _blank_comment(match: re.Match[str]) -> str:
    token = match[0]
    return re.sub(r"[^\n]", " ", token) if token.startswith(COMMENT) else token


@dataclass(slots=True)
class _PointerNode:
    """A value on the path of a requested pointer."""

    members: dict[str, _PointerNode] = field(default_factory=dict)  #: by name or index
    offset: int | None = None  #: of duplicate names the last one counts, as in JSON parsers

    def deepest(self, path: Sequence[str]) -> int:
        """Return the offset of the last value on a path that exists."""
        node = self
        for part in path:
            member = node.members[part]
            if member.offset is None:
                break
            node = member
        return node.offset or 0


def _record_offsets(text: str, root: _PointerNode) -> None:
    """Record the offset of each wanted value; skip all others."""
    names: list[str | int] = []  # member name or item index within each open container
    nodes: list[_PointerNode | None] = []  # the open containers
    events = _scan_tokens(text)
    event = next(events, None)
    while event is not None:
        kind, piece, offset = event
        is_aside = False
        if kind is _TokenRole.CLOSE:
            names.pop()
            nodes.pop()
        elif kind is _TokenRole.NAME:
            names[-1] = piece
        else:
            node: _PointerNode | None = root
            if nodes:
                if isinstance(names[-1], int):
                    names[-1] += 1
                node = None if nodes[-1] is None else nodes[-1].members.get(str(names[-1]))
            if node is not None:
                node.offset = offset
            if not root.members:
                return  # the root is found at once, however long the text
            is_aside = node is None or not node.members
            if piece in _OPENING:
                names.append("" if piece == _OPENING[0] else -1)
                nodes.append(node)
        try:
            event = events.send(is_aside)
        except StopIteration:
            return


def _scan_tokens(text: str) -> Generator[tuple[_TokenRole, str, int], bool | None, None]:
    """Yield each member's name (decoded), each value's first token, and each closing bracket.

    Sending True after the first token of an object or array skips to its closing bracket.
    """
    containers: list[str] = []
    name_next = False
    at = 0
    while match := TOKEN.search(text, at):
        piece, at = match[0], match.end()
        if piece.startswith(COMMENT):
            continue
        if piece in _OPENING:
            skips = yield _TokenRole.VALUE, piece, match.start()
            containers.append(piece)
            name_next = piece == _OPENING[0]
            at = _find_closing_bracket(text, at) if skips else at
        elif piece in _CLOSING:
            if not containers:
                return
            containers.pop()
            name_next = False
            yield _TokenRole.CLOSE, piece, match.start()
        elif piece == ",":
            name_next = containers[-1:] == [_OPENING[0]]
        elif piece == ":":
            name_next = False
        elif name_next:
            yield _TokenRole.NAME, _decode_name(piece), match.start()
        else:
            yield _TokenRole.VALUE, piece, match.start()


def _find_closing_bracket(text: str, at: int) -> int:
    """Return the offset of the bracket that closes the current container, or the end of the text."""
    depth = 1
    while depth and (match := _BRACKET.match(text, at)):
        at = match.end()
        depth += 1 if match[1] in _OPENING else -1
    return len(text) if depth else at - 1


def _decode_name(piece: str) -> str:
    try:
        return str(json.loads(piece))
    except ValueError:
        return piece
