"""Values of settings: strings are parsed, numbers have bounds, anything else is rejected."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from contractlog.compatibility.errors import UsageError

__all__ = ["parse_setting"]

#: The minimum of numbers that cannot be 0, and the maximum of those that have one.
_MINIMUM: Final = {
    "workers": 1,
    "read_threads": 1,
    "max_pending_writes": 1,
    "max_body_bytes": 1,
    "max_import_bytes": 1,
    "body_seconds": 0.1,
    "answer_timeout_ms": 100,
    "request_steps": 10_000,
    "connect_timeout_ms": 100,
    "checkout_timeout_ms": 100,
}
_MAXIMUM: Final[Mapping[str, int]] = {"port": 65535}
_FLAGS: Final = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def parse_setting(member: str, kind: type, value: Any, called: str) -> Any:
    """Parse and check the value of a setting, given as text or as a Python value.

    Args:
        member: the name of the setting.
        kind: its type.
        value: text is parsed; words in any case.
        called: its name where it was given: a flag, a variable, or the member itself.

    Raises:
        UsageError: the value is invalid.
    """
    try:
        read = _convert(kind, value)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{called} cannot be `{value}`: it takes {_describe_type(kind)}") from None
    if kind in {int, float} and not (_MINIMUM.get(member, 0) <= read <= _MAXIMUM.get(member, sys.float_info.max)):
        upwards = f" to {_MAXIMUM[member]}" if member in _MAXIMUM else ""
        raise UsageError(f"{called} cannot be {read}: it takes a number from {_MINIMUM.get(member, 0):g}{upwards}")
    return read


def _convert(kind: type, value: Any) -> Any:
    if issubclass(kind, StrEnum):
        return value if isinstance(value, kind) else {one.lower(): one for one in kind}[value.lower()]
    if kind is str:
        return os.fspath(value)
    if kind is bool:
        return value if isinstance(value, bool) else _FLAGS[value.lower()]
    if isinstance(value, bool) or not isinstance(value, str | int if kind is int else str | int | float):
        raise TypeError
    return int(value) if kind is int else float(value)


def _describe_type(kind: type) -> str:
    if issubclass(kind, StrEnum):
        return "one of " + ", ".join(kind)
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return names[kind]
