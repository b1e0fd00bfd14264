"""JSON values for exact comparison: numbers are fractions, and every value has a hashable key."""

from __future__ import annotations

import json
from collections.abc import Hashable
from fractions import Fraction
from typing import Any, Final

from contractlog.compatibility.json_text import Number
from contractlog.compatibility.limits import shortened

__all__ = ["KINDS", "TooLarge", "exact", "figure", "key_of", "kind_of", "shown", "value_of"]

KINDS: Final = ("null", "boolean", "number", "string", "array", "object")
_LARGEST_EXPONENT: Final = 2_000  #: a larger exponent would make the exact fraction of a short text fill the memory


class TooLarge(Exception):
    """A number is too large for an exact comparison."""


def figure(number: Number) -> Fraction:
    """Return the exact value.

    Raises:
        TooLarge: the exponent is out of bounds.
    """
    decimal = number.decimal
    exponent = decimal.as_tuple().exponent
    if not isinstance(exponent, int) or abs(exponent) > _LARGEST_EXPONENT:
        raise TooLarge(number.text)
    return Fraction(decimal)


def exact(value: Any) -> Any:
    """Convert a parsed JSON value to one with exact numbers.

    Raises:
        TooLarge: a number is out of bounds.
    """
    match value:
        case Number():
            return figure(value)
        case dict():
            return {name: exact(member) for name, member in value.items()}
        case list():
            return [exact(item) for item in value]
        case _:
            return value


def kind_of(value: Any) -> str:
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


def key_of(value: Any) -> Hashable:
    """Return a key that is equal for equal values only."""
    match value:
        case list():
            return ("array", tuple(map(key_of, value)))
        case dict():
            return ("object", tuple(sorted((name, key_of(member)) for name, member in value.items())))
        case _:
            return (kind_of(value), value)


def value_of(key: Any) -> Any:
    """Return the value of a key."""
    kind, held = key
    if kind == "array":
        return [value_of(item) for item in held]
    if kind == "object":
        return {name: value_of(member) for name, member in held}
    return held


def shown(value: Any) -> str:
    """Write a value for people, truncated if it is long."""
    return shortened(json.dumps(_writable(value), ensure_ascii=False, separators=(", ", ": ")))


def _writable(value: Any) -> Any:
    match value:
        case Fraction():
            return value.numerator if value.denominator == 1 else float(value)
        case list():
            return [_writable(item) for item in value]
        case dict():
            return {name: _writable(member) for name, member in value.items()}
        case _:
            return value
