"""Python values as JSON text: what orjson writes, and integers beyond 64 bits, which it does not."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Final

import orjson

__all__ = ["EXACTLY", "exact", "long_text", "too_long"]

EXACTLY: Final = orjson.OPT_PASSTHROUGH_SUBCLASS
"""orjson option that, with ``exact``, writes an enum as its value, even if the enum is a string subclass."""

_TOO_LONG: Final = "64-bit"  #: part of orjson's message about integers out of range


def exact(value: Any) -> Any:
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


def too_long(error: TypeError) -> bool:
    """Return whether orjson failed because of an integer beyond 64 bits."""
    return _TOO_LONG in str(error)


def long_text(value: Any) -> bytes:
    """Return the compact text of a value that holds integers beyond 64 bits.

    Raises:
        TypeError: JSON cannot represent the value.
        ValueError: JSON cannot represent a number or a character.
        RecursionError: the value is nested too deeply.
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _plain(value: Any) -> Any:
    while isinstance(value, Enum):
        value = value.value
    if isinstance(value, dict):
        if not all(isinstance(name, str) for name in value):
            raise TypeError("Dict key must be str")
        return {str.__str__(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, bool | float | int):
        return value
    return orjson.loads(orjson.dumps(value, exact, EXACTLY))
