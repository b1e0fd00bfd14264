"""JSON values for exact comparison: numbers are fractions, and every value has a hashable key."""

from __future__ import annotations

import json
import sys
from collections.abc import Hashable
from fractions import Fraction
from typing import Any, Final

from contractlog.compatibility.json_text import Number
from contractlog.compatibility.limits import truncate_message

__all__ = [
    "JSON_TYPES",
    "NumberTooLarge",
    "format_value",
    "json_type",
    "to_exact",
    "to_fraction",
    "value_key",
    "value_of_key",
]

JSON_TYPES: Final = ("null", "boolean", "number", "string", "array", "object")
_SHORT: Final = 20  #: length of the numbers that are read directly, which takes half the time
_MAX_EXPONENT: Final = 2_000  #: a larger exponent would make the exact fraction of a short text fill the memory


class NumberTooLarge(Exception):
    """A number is too large for an exact comparison."""


def to_fraction(number: Number) -> Fraction:
    """Return the exact value.

    Raises:
        NumberTooLarge: the exponent is out of bounds.
    """
    if len(number.text) < _SHORT and number.text.isdecimal():
        return Fraction(int(number.text))
    decimal = number.decimal
    exponent = decimal.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _MAX_EXPONENT:
        raise NumberTooLarge(number.text)
    return Fraction(decimal)


def to_exact(value: Any) -> Any:
    """Convert a parsed JSON value to one with exact numbers.

    Raises:
        NumberTooLarge: a number is out of bounds.
    """
    match value:
        case Number():
            return to_fraction(value)
        case dict():
            return {name: to_exact(member) for name, member in value.items()}
        case list():
            return [to_exact(item) for item in value]
        case _:
            return value


def json_type(value: Any) -> str:
    """Return the JSON type; an integer is a number."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case Fraction():
            return "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def value_key(value: Any) -> Hashable:
    """Return a key that is equal for equal values only."""
    match value:
        case list():
            return ("array", tuple(map(value_key, value)))
        case dict():
            return ("object", tuple(sorted((name, value_key(member)) for name, member in value.items())))
        case _:
            return (json_type(value), value)


def value_of_key(key: Any) -> Any:
    """Return the value of a key."""
    kind, content = key
    if kind == "array":
        return [value_of_key(item) for item in content]
    if kind == "object":
        return {name: value_of_key(member) for name, member in content}
    return content


def format_value(value: Any) -> str:
    """Write a value for people, truncated if it is long."""
    return truncate_message(json.dumps(_writable(value), ensure_ascii=False, separators=(", ", ": ")))


def _writable(value: Any) -> Any:
    match value:
        case Fraction():
            # beyond the range of floats, the digits of the fraction are not shown
            return int(value) if value.denominator == 1 or abs(value) > sys.float_info.max else float(value)
        case list():
            return [_writable(item) for item in value]
        case dict():
            return {name: _writable(member) for name, member in value.items()}
        case _:
            return value
