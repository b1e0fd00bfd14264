"""Bounded, lossless JSON reader and writer for Avro and JSON schemas.

Numbers keep their original text, so parsing never rounds them; ``Number.value`` is the numeric value. Nesting is
checked before any recursion, so a hostile text ends in ``InvalidSchema``.
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

__all__ = [
    "MAX_NESTING",
    "Number",
    "camel_case",
    "canonical_value",
    "format_decimal",
    "join_pointer",
    "parse_json",
    "parse_pointer",
    "quote_json",
    "remove_strings",
    "to_plain_numbers",
    "utf16_sort_key",
    "write_json",
]

MAX_NESTING: Final = 128
MAX_DIGITS: Final = 1_000

_ESCAPE: Final = re.compile(r"\\.", re.DOTALL)
_NO_BRACKETS: Final = re.compile(r"[^\[\]{}]+")
# Every alternative also matches at the end of the text, so that an unterminated string is not scanned twice.
_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)', re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\(?:u00[0-9a-f]{2}|.)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number as its text; ``1``, ``1.0`` and ``1e0`` are different texts of the same value."""

    text: str

    @property
    def integral(self) -> bool:
        """True if the text has neither fraction nor exponent."""
        return self.text.isdecimal() or not any(mark in self.text for mark in ".eE")  # fast path first

    @property
    def value(self) -> int | float:
        """The numeric value: an int if the text is integral, else a double."""
        return int(self.text) if self.integral else float(self.text)

    @property
    def decimal(self) -> Decimal:
        """The exact value."""
        return Decimal(self.text)


def parse_json(text: str, *, comments: bool = False) -> Any:
    """Parse a JSON text; numbers become ``Number``.

    Args:
        text: one JSON value.
        comments: accept ``//`` and ``/* */``, as the reference implementation does in Avro schemas.

    Raises:
        InvalidSchema: not valid JSON, nested too deep, or with strings that no encoding can represent.
    """
    if comments and "/" in text:
        text = _COMMENT.sub(lambda match: match[0] if match[0].startswith('"') else " ", text)
    _check_nesting(text)
    try:
        numbers = _Numbers().__getitem__
        value = json.JSONDecoder(parse_int=numbers, parse_float=numbers, parse_constant=_reject_constant).decode(text)
    except json.JSONDecodeError as problem:
        raise InvalidSchema(
            f"this is not JSON: {problem.msg.removesuffix(' at')} at line {problem.lineno}, column {problem.colno}",
            at="",
        ) from None
    except RecursionError:
        raise _too_deep() from None
    if "\\u" in text or (not text.isascii() and _SURROGATE.search(text)):
        _reject_surrogates(value)
    return value


def write_json(value: Any, number: Callable[[Number], str], *, sort_keys: bool = False) -> str:
    """Write a value as compact JSON; ``number`` formats the numbers.

    Members keep their order unless ``sort_keys`` is set.
    """
    match value:
        case dict():
            members = (
                sorted(value.items(), key=lambda member: utf16_sort_key(member[0])) if sort_keys else value.items()
            )
            inner = (f"{quote_json(key)}:{write_json(member, number, sort_keys=sort_keys)}" for key, member in members)
            return "{" + ",".join(inner) + "}"
        case list():
            return "[" + ",".join(_write_items(value, number, sort_keys=sort_keys)) + "]"
        case str():
            return quote_json(value)
        case Number():
            return number(value)
        case _:
            return {True: "true", False: "false", None: "null"}[value]


def _write_items(items: list[Any], number: Callable[[Number], str], *, sort_keys: bool) -> Iterator[str]:
    """Write the items of a list, formatting equal numbers once.

    For half a million zeros this takes a tenth of the time.
    """
    numbers: dict[str, str] = {}
    for item in items:
        if isinstance(item, Number):
            text = numbers.get(item.text)
            if text is None:
                text = numbers[item.text] = number(item)
            yield text
        elif isinstance(item, str):
            yield quote_json(item)
        else:
            yield write_json(item, number, sort_keys=sort_keys)


def format_decimal(number: Decimal) -> str:
    """Write an exact number in its unique form, whatever its magnitude.

    >>> format_decimal(Decimal("1.50")), format_decimal(Decimal("100"))
    ('15e-1', '1e2')
    """
    sign, digits, exponent = number.as_tuple()
    digits_text = "".join(map(str, digits)).lstrip("0")
    significant = digits_text.rstrip("0")
    if not significant:
        return "0"
    power = int(exponent) + len(digits_text) - len(significant)
    return f"{'-' if sign else ''}{significant}{f'e{power}' if power else ''}"


def canonical_value(value: Any) -> str:
    """Write a JSON value so that equal values have equal texts: sorted keys, unique form of numbers."""
    return write_json(value, lambda number: format_decimal(number.decimal), sort_keys=True)


def quote_json(text: str) -> str:
    """Write a string literal, escaping only control characters, quotes and backslashes.

    Escapes have upper-case hex digits, as in Java.
    """
    literal = encode_basestring(text)
    return _ESCAPED.sub(lambda match: match[0][:2] + match[0][2:].upper(), literal) if "\\u00" in literal else literal


def utf16_sort_key(text: str) -> bytes:
    """Return the sort key that orders strings as Java does."""
    return text.encode("utf-16-be")


def to_plain_numbers(value: Any) -> Any:
    """Replace ``Number`` by int and float, for libraries that do not support it."""
    match value:
        case dict():
            return {key: to_plain_numbers(member) for key, member in value.items()}
        case list():
            return [to_plain_numbers(item) for item in value]
        case Number():
            return value.value
        case _:
            return value


def join_pointer(parent: str, *tokens: str | int) -> str:
    """Append tokens to a JSON Pointer.

    >>> join_pointer("/fields/0", "a/b")
    '/fields/0/a~1b'
    """
    for token in tokens:
        escaped = str(token)
        if "~" in escaped or "/" in escaped:
            escaped = escaped.replace("~", "~0").replace("/", "~1")
        parent = f"{parent}/{escaped}"
    return parent


def parse_pointer(pointer: str) -> list[str]:
    """Return the unescaped tokens of a JSON Pointer, as strings.

    >>> parse_pointer("/fields/0/a~1b")
    ['fields', '0', 'a/b']
    """
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:]]


def remove_strings(text: str) -> str:
    """Return a JSON text without its string literals."""
    return "".join((_ESCAPE.sub("", text) if "\\" in text else text).split('"')[::2])


def _check_nesting(text: str) -> None:
    if text.count("[") + text.count("{") <= MAX_NESTING:
        return
    depth = 0
    for bracket in _NO_BRACKETS.sub("", remove_strings(text)):
        if bracket in "[{":
            depth += 1
            if depth > MAX_NESTING:
                raise _too_deep()
        else:
            depth -= 1


def _too_deep() -> InvalidSchema:
    return InvalidSchema(f"the text is nested more than {MAX_NESTING} levels deep", at="")


class _Numbers(dict[str, Number]):
    """Cache of the numbers of one text; a long list of equal numbers takes a tenth of the time."""

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


def _reject_constant(text: str) -> NoReturn:
    raise InvalidSchema(f"this is not JSON: {text} is not a JSON value", at="")


def _reject_surrogates(value: Any, at: str = "") -> None:
    """Reject lone surrogates, which no encoding can store or send."""
    match value:
        case str() if _SURROGATE.search(value):
            raise InvalidSchema("a string holds half of a surrogate pair, which no encoding can carry", at=at)
        case dict():
            for key, member in value.items():
                _reject_surrogates(key, at)
                _reject_surrogates(member, join_pointer(at, key))
        case list():
            for index, item in enumerate(value):
                _reject_surrogates(item, join_pointer(at, index))
        case _:
            pass


def camel_case(name: str) -> str:
    """Return the member of a JSON body for an attribute.

    >>> camel_case("resource_id")
    'resourceId'
    """
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
