"""Text of a record's body as far as it can be read, with its values masked unless they may be shown.

A mask is the type of a value and its length: ``string(12)``. The text, and the work for it, are bounded.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, Final

from contractlog.compatibility.json_text import quote_json
from contractlog.compatibility.limits import truncate
from contractlog.spark_validation.columnar.avro_compiled_schema import AvroKind, ValuePath
from contractlog.spark_validation.columnar.avro_record_walk import RecordWalk, RuleViolated
from contractlog.spark_validation.columnar.limits import ValidationLimits

__all__ = ["FAILURE", "RenderedBody", "render_avro", "render_bytes", "render_json", "render_text"]

FAILURE: Final = "✗"  #: marks the position where a body cannot be read any further
MAX_TEXT: Final = 400  #: characters of a body's text: its beginning and its end
_HEAD: Final = 160
MAX_VALUE: Final = 64  #: characters of one value
MAX_STEPS: Final = 5_000  #: values that are read for the text of one body
MAX_DEPTH: Final = 16  #: nested values of a JSON document that are shown

_BRACKETS: Final = {AvroKind.RECORD: "{}", AvroKind.MAP: "{}", AvroKind.ARRAY: "[]"}
_FLOATS: Final = {AvroKind.FLOAT: "<f", AvroKind.DOUBLE: "<d"}


@dataclass(frozen=True, slots=True)
class RenderedBody:
    """The text of a body, and the position of its failure."""

    text: str
    failed_at: int = -1  #: byte of the body; -1 if unknown


class _StepsExhausted(Exception):
    """The body has more values than are read for its text."""


@dataclass(slots=True)
class _BoundedText:
    """Text of which the beginning and the end are retained."""

    _head: str = ""
    _tail: str = ""
    _cut: bool = False

    def add(self, piece: str) -> None:
        """Append a piece."""
        room = _HEAD - len(self._head)
        if room > 0 and not self._tail:
            self._head += piece[:room]
            piece = piece[room:]
        self._tail += piece
        if len(self._tail) > 2 * MAX_TEXT:
            self._shorten()

    def _shorten(self) -> None:
        if len(self._tail) > MAX_TEXT - _HEAD:
            self._tail = self._tail[_HEAD - MAX_TEXT :]
            self._cut = True

    def __str__(self) -> str:
        self._shorten()
        return f"{self._head} … {self._tail}" if self._cut else self._head + self._tail


@dataclass(slots=True)
class _Container:
    """A container that is being read."""

    path: ValuePath
    items: int = 0  #: read so far; a map's keys and values are items


class _RenderingWalk(RecordWalk):
    """Walk that writes the text of what it reads."""

    __slots__ = ("_containers", "_show", "_steps", "text")

    def __init__(self, body: bytes, limits: ValidationLimits, *, show: bool) -> None:
        super().__init__(body, limits, self._add_leaf)
        self.text = _BoundedText()
        self._show = show
        self._steps = MAX_STEPS
        self._containers: list[_Container] = []

    def walk(self, path: ValuePath) -> None:
        """Read one value, and write its name before it."""
        self._steps -= 1
        if self._steps < 0:
            raise _StepsExhausted
        if self._containers:
            self._add_separator(self._containers[-1], path)
        if path.node.kind is AvroKind.UNION:
            path = self.branch(path)
        brackets = _BRACKETS.get(path.node.kind)
        if brackets is None:
            super().walk(path)
            return
        self.text.add(brackets[0])
        self._containers.append(_Container(path))
        super().walk(path)
        self._containers.pop()
        self.text.add(brackets[1])

    def _add_separator(self, container: _Container, path: ValuePath) -> None:
        kind = container.path.node.kind
        is_value = kind is AvroKind.MAP and container.items % 2
        if container.items and not is_value:
            self.text.add(", ")
        if is_value:
            self.text.add(": ")
        elif kind is AvroKind.RECORD:
            self.text.add(f"{path.field[len(container.path.field) :].lstrip('.')}: ")
        container.items += 1

    def _add_leaf(self, path: ValuePath, start: int, value: int) -> None:
        self.text.add(self._show_leaf(path, start, value) if self._show else self._mask_leaf(path, start, value))

    def _mask_leaf(self, path: ValuePath, start: int, value: int) -> str:
        kind = path.node.kind
        if kind is AvroKind.STRING:
            return f"string({len(str(self.data[start : start + value], 'utf-8'))})"
        return f"{kind.name.lower()}({value})" if kind in {AvroKind.BYTES, AvroKind.FIXED} else kind.name.lower()

    def _show_leaf(self, path: ValuePath, start: int, value: int) -> str:
        kind = path.node.kind
        match kind:
            case AvroKind.NULL | AvroKind.BOOLEAN:
                return "null" if kind is AvroKind.NULL else "true" if value else "false"
            case AvroKind.FLOAT | AvroKind.DOUBLE:
                return repr(struct.unpack_from(_FLOATS[kind], self.data, start)[0])
            case AvroKind.STRING:
                return render_text(str(self.data[start : start + value], "utf-8"))
            case AvroKind.BYTES | AvroKind.FIXED:
                return _render_hex(bytes(self.data[start : start + value]))
            case AvroKind.ENUM:
                return path.node.symbols[value]
            case _:
                return str(value)


def render_avro(root: ValuePath, body: bytes, limits: ValidationLimits, *, show: bool) -> RenderedBody:
    """Return the text of an Avro body up to its failure, which is marked."""
    walk = _RenderingWalk(body, limits, show=show)
    try:
        walk.spend(root, root.node.surplus)
        walk.walk(root)
    except RuleViolated as failure:
        walk.text.add(FAILURE)
        return RenderedBody(str(walk.text), failure.at)
    except _StepsExhausted:
        walk.text.add("…")
        return RenderedBody(str(walk.text))
    left = walk.end - walk.pos
    if not left:
        return RenderedBody(str(walk.text))
    walk.text.add(f" {FAILURE} {left} {'byte' if left == 1 else 'bytes'} left")
    return RenderedBody(str(walk.text), walk.pos)


@dataclass(slots=True)
class _JsonText:
    """Text of a JSON value, which stops when it is long enough."""

    names: Collection[str]  #: names that are shown although values are masked
    show: bool
    pieces: list[str] = field(default_factory=list)
    room: int = MAX_TEXT

    def add(self, piece: str) -> None:
        """Append a piece."""
        self.pieces.append(piece)
        self.room -= len(piece)

    def add_value(self, value: Any, depth: int) -> None:
        """Append a value with everything inside it, down to the maximum depth."""
        if not isinstance(value, dict | list):
            self.add(_show_json(value) if self.show else _mask_json(value))
        elif depth >= MAX_DEPTH:
            self.add("…")
        else:
            is_object = isinstance(value, dict)
            self.add("{" if is_object else "[")
            for number, item in enumerate(value):
                if self.room <= 0:
                    self.add("…")
                    return
                self.add(", " if number else "")
                if is_object:
                    is_named = self.show or item in self.names
                    self.add(f"{truncate(item, MAX_VALUE) if is_named else f'name({len(item)})'}: ")
                self.add_value(value[item] if is_object else item, depth + 1)
            self.add("}" if is_object else "]")


def render_json(value: Any, names: Collection[str], *, show: bool) -> str:
    """Return the text of a JSON document.

    Args:
        value: the document.
        names: names of members that are shown although values are masked.
        show: whether values are shown.
    """
    text = _JsonText(names, show)
    text.add_value(value, 0)
    return "".join(text.pieces)


def render_bytes(content: bytes, *, show: bool) -> str:
    """Return bytes as text if they are printable, else as hexadecimal digits; or their kind and length."""
    try:
        text = content[: 4 * MAX_TEXT].decode()
    except UnicodeDecodeError:
        text = ""
    if not text.isprintable() or (content and not text) or len(content) > 4 * MAX_TEXT:
        return _render_hex(content) if show else f"bytes({len(content)})"
    if show:
        return render_text(text)
    return f"{'JSON-like text' if text[:1] in {'{', '['} else 'text'}({len(text)})"


def render_text(text: str) -> str:
    """Return a text in quotation marks, cut to the maximum length of a value."""
    return quote_json(truncate(text, MAX_VALUE))


def _render_hex(content: bytes) -> str:
    more = "…" if len(content) > MAX_VALUE // 2 else ""
    return f"0x{content[: MAX_VALUE // 2].hex()}{more}"


def _show_json(value: Any) -> str:
    if isinstance(value, str):
        return render_text(value)
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return truncate(text, MAX_VALUE)


def _mask_json(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return f"string({len(value)})"
        case int():
            return "integer"
        case _:
            return "number"
