"""JSON text, read within bounds and without loss: what Avro and JSON schemas are written in.

Numbers stay the text that they were, so no reading rounds them; ``Number.value`` gives the figure. Nesting is counted
before anything recurses, so a hostile text ends in ``InvalidSchema``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any, Final, NoReturn

from contractlog.compatibility.errors import InvalidSchema

__all__ = ["MAX_NESTING", "Number", "figure", "outside_strings", "plain", "pointer", "quoted", "read", "utf16", "write"]

MAX_NESTING: Final = 128
MAX_DIGITS: Final = 1_000

_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
_NO_BRACKETS: Final = re.compile(r"[^\[\]{}]+")
# Every alternative ends at the end of the text too, so that a string without an end cannot be looked for twice.
_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\(?:u00[0-9a-f]{2}|.)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as its text; ``1``, ``1.0`` and ``1e0`` are three texts of one figure."""

    text: str

    @property
    def integral(self) -> bool:
        """Whether the text has neither fraction nor exponent."""
        return self.text.isdecimal() or not any(mark in self.text for mark in ".eE")  # the first is quick, and enough

    @property
    def value(self) -> int | float:
        """The figure: an int where the text is integral, else a double."""
        return int(self.text) if self.integral else float(self.text)

    @property
    def decimal(self) -> Decimal:
        """The exact figure."""
        return Decimal(self.text)


def read(text: str, *, comments: bool = False) -> Any:
    """Read a JSON text; numbers become ``Number``.

    Args:
        text: one JSON value.
        comments: accept ``//`` and ``/* */``, as the reference does in Avro schemas.

    Raises:
        InvalidSchema: no JSON, nested too deep, or with text that no encoding can carry.
    """
    if comments and "/" in text:
        text = _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    _limit_nesting(text)
    try:
        numbers = _Numbers().__getitem__
        value = json.JSONDecoder(parse_int=numbers, parse_float=numbers, parse_constant=_refuse_constant).decode(text)
    except json.JSONDecodeError as problem:
        raise InvalidSchema(
            f"this is no JSON: {problem.msg.removesuffix(' at')} at line {problem.lineno}, column {problem.colno}",
            at="",
        ) from None
    except RecursionError:
        raise _too_deep() from None
    if "\\u" in text or (not text.isascii() and _SURROGATE.search(text)):
        _refuse_surrogates(value)
    return value


def write(value: Any, number: Callable[[Number], str], *, sort_keys: bool = False) -> str:
    """Write a value as compact JSON, in the order it has or with sorted keys; ``number`` writes the numbers."""
    match value:
        case dict():
            members = sorted(value.items(), key=lambda member: utf16(member[0])) if sort_keys else value.items()
            inner = (f"{quoted(key)}:{write(member, number, sort_keys=sort_keys)}" for key, member in members)
            return "{" + ",".join(inner) + "}"
        case list():
            return "[" + ",".join(_written_items(value, number, sort_keys=sort_keys)) + "]"
        case str():
            return quoted(value)
        case Number():
            return number(value)
        case _:
            return {True: "true", False: "false", None: "null"}[value]


def _written_items(items: list[Any], number: Callable[[Number], str], *, sort_keys: bool) -> Iterator[str]:
    """Write the items of a list, equal numbers once: of half a million zeros that takes a tenth of the time."""
    numbers: dict[str, str] = {}
    for item in items:
        if isinstance(item, Number):
            written = numbers.get(item.text)
            if written is None:
                written = numbers[item.text] = number(item)
            yield written
        elif isinstance(item, str):
            yield quoted(item)
        else:
            yield write(item, number, sort_keys=sort_keys)


def figure(number: Decimal) -> str:
    """Write an exact number in its only form, however large it is.

    >>> figure(Decimal("1.50")), figure(Decimal("100"))
    ('15e-1', '1e2')
    """
    sign, digits, exponent = number.as_tuple()
    written = "".join(map(str, digits)).lstrip("0")
    kept = written.rstrip("0")
    if not kept:
        return "0"
    power = int(exponent) + len(written) - len(kept)
    return f"{'-' if sign else ''}{kept}{f'e{power}' if power else ''}"


def quoted(text: str) -> str:
    """Write a string; only control characters, quotes and backslashes are escaped, with capital digits as Java does."""
    written = encode_basestring(text)
    return _ESCAPED.sub(lambda match: match[0][:2] + match[0][2:].upper(), written) if "\\u00" in written else written


def utf16(text: str) -> bytes:
    """Order texts as Java orders strings."""
    return text.encode("utf-16-be")


def plain(value: Any) -> Any:
    """Turn numbers into ints and floats, for libraries that know no ``Number``."""
    match value:
        case dict():
            return {key: plain(member) for key, member in value.items()}
        case list():
            return [plain(item) for item in value]
        case Number():
            return value.value
        case _:
            return value


def pointer(parent: str, *tokens: str | int) -> str:
    """Extend a JSON Pointer.

    >>> pointer("/fields/0", "a/b")
    '/fields/0/a~1b'
    """
    for token in tokens:
        written = str(token)
        if "~" in written or "/" in written:
            written = written.replace("~", "~0").replace("/", "~1")
        parent = f"{parent}/{written}"
    return parent


def outside_strings(text: str) -> str:
    """Return what is left of a JSON text without its strings."""
    return "".join((_ESCAPE.sub("", text) if "\\" in text else text).split('"')[::2])


def _limit_nesting(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return
    depth = 0
    for bracket in _NO_BRACKETS.sub("", outside_strings(text)):
        if bracket in "[{":
            depth += 1
            if depth > MAX_NESTING:
                raise _too_deep()
        else:
            depth -= 1


def _too_deep() -> InvalidSchema:
    return InvalidSchema(f"the text is nested more than {MAX_NESTING} levels deep", at="")


class _Numbers(dict[str, Number]):
    """The numbers of one text, each text made once: a long list of equal numbers takes a tenth of the time."""

    def __missing__(self, text: str) -> Number:
        if len(text) > MAX_DIGITS:
            raise InvalidSchema(f"a number of {len(text)} characters is longer than the limit of {MAX_DIGITS}", at="")
        if not text.isdecimal():
            try:
                Decimal(text)
            except InvalidOperation:
                raise InvalidSchema(f"the number {text} is out of every range", at="") from None
        number = self[text] = Number(text)
        return number


def _refuse_constant(text: str) -> NoReturn:
    raise InvalidSchema(f"this is no JSON: {text} is not a JSON value", at="")


def _refuse_surrogates(value: Any, at: str = "") -> None:
    """A lone surrogate is no text: no encoding can store or send it."""
    match value:
        case str() if _SURROGATE.search(value):
            raise InvalidSchema("a string holds half of a surrogate pair, which no encoding can carry", at=at)
        case dict():
            for key, member in value.items():
                _refuse_surrogates(key, at)
                _refuse_surrogates(member, pointer(at, key))
        case list():
            for index, item in enumerate(value):
                _refuse_surrogates(item, pointer(at, index))
        case _:
            pass
