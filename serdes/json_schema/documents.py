"""JSON texts and their values: integers are exact at any length, and no number becomes null."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final

import orjson

__all__ = ["Steps", "compact", "has_long_numbers", "lost", "none_count", "read_document"]

Steps = tuple[str | int, ...]  #: path to a value: names of members and positions of items

_RUN: Final = b"0" * 19  # no number of 18 digits is beyond 64 bits
_BEFORE_NUMBERS: Final = b"[:,- \t\r\n"
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_TOKENS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|(-?\d{19,})(?![\d.eE])|-?\d[\d.eE+-]*')
_EXACT: Final = range(-(2**63), 2**64)  #: read by orjson as integers; others become floats


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
    quoted, found = _TOKENS.subn(_quoted, body)
    return _exact(value, orjson.loads(quoted)) if found else value


def compact(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """Return the compact text of a value that was read or is to be shown, including long integers."""
    try:
        return orjson.dumps(value, default=default).decode()
    except orjson.JSONEncodeError:
        return json.dumps(value, default=default, ensure_ascii=False, separators=(",", ":"))


def has_long_numbers(text: bytes | bytearray | memoryview) -> bool:
    """Return whether one or more texts may hold integers beyond 64 bits; quick, and rarely wrong."""
    return _RUN in bytes(text).translate(_DIGITS)


def lost(given: Any, made: Any) -> Steps | None:
    """Return the path to a value that became null in JSON, as NaN and infinity do; None if there is none."""
    return next(_lost(given, made, ()), None)


def none_count(value: Any) -> int:
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


def _lost(given: Any, made: Any, steps: Steps) -> Iterator[Steps]:
    while isinstance(given, Enum):
        given = given.value
    if made is None:
        if isinstance(given, float):
            yield steps
    elif isinstance(made, dict):
        for name, inner in made.items():
            was = given.get(name) if isinstance(given, dict) else getattr(given, name, None)
            yield from _lost(was, inner, (*steps, name))
    elif isinstance(made, list) and isinstance(given, list | tuple):
        for place, (one, inner) in enumerate(zip(given, made, strict=True)):
            yield from _lost(one, inner, (*steps, place))


def _has_long_numbers(body: bytes) -> bool:
    """Return whether one text may hold integers beyond 64 bits: a long run of digits that starts a number."""
    flat = body.translate(_DIGITS)
    at = flat.find(_RUN)
    while at > 0 and body[at - 1] not in _BEFORE_NUMBERS:
        at = flat.find(_RUN, at + len(_RUN))
    return at >= 0


def _quoted(token: re.Match[bytes]) -> bytes:
    """Quote an integer beyond 64 bits."""
    digits = token[1]
    return token[0] if digits is None or int(digits) in _EXACT else b'"%b"' % digits


def _exact(value: Any, quoted: Any) -> Any:
    """Replace floats by the exact integers of the quoted copy; not recursive, as both may be deep."""
    root = [value]
    waiting: list[tuple[Any, Any]] = [(root, [quoted])]
    while waiting:
        holder, twin = waiting.pop()
        for place in list(holder) if isinstance(holder, dict) else range(len(holder)):
            inner, other = holder[place], twin[place]
            if isinstance(inner, float) and isinstance(other, str):
                holder[place] = int(other)
            elif isinstance(inner, dict | list):
                waiting.append((inner, other))
    return root[0]
