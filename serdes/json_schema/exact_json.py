"""JSON texts and their values: integers are exact at any length, and no number becomes null."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final

import orjson

__all__ = [
    "ORJSON_OPTIONS",
    "ValuePath",
    "compact_json",
    "count_nones",
    "dump_long_integers",
    "find_lost_number",
    "has_long_numbers",
    "is_integer_too_long",
    "read_document",
    "to_plain_class",
]

ValuePath = tuple[str | int, ...]  #: path to a value: names of members and positions of items

ORJSON_OPTIONS: Final = orjson.OPT_PASSTHROUGH_SUBCLASS
"""orjson option that, with ``exact``, writes an enum as its value, even if the enum is a string subclass."""

_TOO_LONG_MESSAGE: Final = "64-bit"  #: part of orjson's message about integers out of range
_LONG_RUN: Final = b"0" * 19  # no number of 18 digits is beyond 64 bits
_BEFORE_NUMBERS: Final = b"[:,- \t\r\n"
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_TOKENS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d{19,})(?![\d.eE])|-?\d[\d.eE+-]*')
_ORJSON_INTEGERS: Final = range(-(2**63), 2**64)  #: read by orjson as integers; others become floats


def read_document(body: bytes | bytearray | memoryview) -> Any:
    """Return the value of a whole text; integers are exact at any length, other numbers are floats.

    A number with a point or an exponent is a float, and one beyond the range of floats is rejected, so no integer has
    more than 309 digits.

    Raises:
        orjson.JSONDecodeError: the text is not JSON.
    """
    value = orjson.loads(body)
    body = bytes(body)
    if not _has_long_numbers(body):
        return value
    quoted, long_numbers = _TOKENS.subn(_quote_long_integer, body)
    return _restore_integers(value, orjson.loads(quoted)) if long_numbers else value


def compact_json(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """Return the compact text of a value that was read or is to be shown, including long integers."""
    try:
        return orjson.dumps(value, default=default).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, default=default, ensure_ascii=False, separators=(",", ":"))


def to_plain_class(value: Any) -> Any:
    """Return the plain value of an instance of a subclass of a plain class; orjson then writes it.

    Raises:
        TypeError: the value is not such an instance.
    """
    match value:
        case str():
            return str.__str__(value)
        case int():
            return int.__int__(value)
        case dict():
            return dict.copy(value)
        case list():
            return list.copy(value)
    raise TypeError(f"Type is not JSON serializable: {type(value).__name__}")


def is_integer_too_long(error: TypeError) -> bool:
    """Return whether orjson failed because of an integer beyond 64 bits."""
    return _TOO_LONG_MESSAGE in str(error)


def dump_long_integers(value: Any) -> bytes:
    """Return the compact text of a value that holds integers beyond 64 bits.

    Raises:
        TypeError: JSON cannot represent the value.
        ValueError: JSON cannot represent a number or a character.
        RecursionError: the value is nested too deeply.
    """
    return json.dumps(_to_plain_value(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def has_long_numbers(text: bytes | bytearray | memoryview) -> bool:
    """Return whether one or more texts may hold integers beyond 64 bits; quick, and rarely wrong."""
    return _LONG_RUN in bytes(text).translate(_DIGITS)


def find_lost_number(given: Any, document: Any) -> ValuePath | None:
    """Return the path to a value that became null in JSON, as NaN and infinity do; None if there is none."""
    return next(_find_lost_numbers(given, document, ()), None)


def count_nones(value: Any) -> int:
    """Count the members and items of plain dicts and lists that are None, and the value itself."""
    counted = int(value is None)
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        kind = type(inner)
        if kind is dict or kind is list:
            inner = list(inner.values()) if kind is dict else inner
            for each in inner:
                if each is None:
                    counted += 1
                elif type(each) is dict or type(each) is list:
                    waiting.append(each)
    return counted


def _to_plain_value(value: Any) -> Any:
    while isinstance(value, Enum):
        value = value.value
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("Dict key must be str")
        return {str.__str__(name): _to_plain_value(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_to_plain_value(inner) for inner in value]
    if value is None or isinstance(value, bool | float | int):
        return value
    return orjson.loads(orjson.dumps(value, to_plain_class, ORJSON_OPTIONS))


def _find_lost_numbers(given: Any, document: Any, steps: ValuePath) -> Iterator[ValuePath]:
    while isinstance(given, Enum):
        given = given.value
    if document is None:
        if isinstance(given, float):
            yield steps
    elif isinstance(document, dict):
        for name, inner in document.items():
            was = given.get(name) if isinstance(given, dict) else getattr(given, name, None)
            yield from _find_lost_numbers(was, inner, (*steps, name))
    elif isinstance(document, list) and isinstance(given, list | tuple):
        for index, (item, inner) in enumerate(zip(given, document, strict=True)):
            yield from _find_lost_numbers(item, inner, (*steps, index))


def _has_long_numbers(body: bytes) -> bool:
    """Return whether one text may hold integers beyond 64 bits: a long run of digits that starts a number."""
    flat = body.translate(_DIGITS)
    at = flat.find(_LONG_RUN)
    while at > 0 and body[at - 1] not in _BEFORE_NUMBERS:
        at = flat.find(_LONG_RUN, at + len(_LONG_RUN))
    return at >= 0


def _quote_long_integer(token: re.Match[bytes]) -> bytes:
    """Quote an integer beyond 64 bits."""
    digits = token[1]
    return token[0] if digits is None or int(digits) in _ORJSON_INTEGERS else b'"%b"' % digits


def _restore_integers(value: Any, quoted: Any) -> Any:
    """Replace floats by the exact integers of the quoted copy; not recursive, as both may be deep."""
    root = [value]
    waiting: list[tuple[Any, Any]] = [(root, [quoted])]
    while waiting:
        holder, twin = waiting.pop()
        for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
            inner, other = holder[key], twin[key]
            if isinstance(inner, float) and isinstance(other, str):
                holder[key] = int(other)
            elif isinstance(inner, dict | list):
                waiting.append((inner, other))
    return root[0]
