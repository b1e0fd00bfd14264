"""Conversions of rule expressions: ``int()``, ``string()`` and the others, and ``type()``."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from contractlog.contracts.rules.evaluation.runtime_values import TypeValue, kind_of
from contractlog.contracts.rules.functions.operators import bound_int, describe_length, overflow
from contractlog.contracts.rules.functions.text_functions import to_text
from contractlog.contracts.rules.functions.time_functions import (
    parse_duration,
    parse_timestamp,
    timestamp_from_epoch,
    to_epoch_seconds,
)
from contractlog.contracts.rules.language.expressions import UnsignedInt
from contractlog.contracts.rules.language.value_types import ValueKind
from contractlog.contracts.rules.rule_errors import RuleEvaluationError

__all__ = [
    "to_boolean",
    "to_bytes",
    "to_double",
    "to_duration",
    "to_int",
    "to_string",
    "to_timestamp",
    "to_uint",
    "type_of",
]

_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,40}")
_DOUBLE: Final = re.compile(
    r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)", re.IGNORECASE
)
_TRUE: Final = frozenset({"true", "True", "TRUE", "t", "1"})
_FALSE: Final = frozenset({"false", "False", "FALSE", "f", "0"})
_MAX_DIGITS: Final = 20  #: of a 64-bit number
_MAX_EXACT: Final = 2.0**63


def to_int(value: Any) -> int:
    """Return a number, a text or the seconds of a timestamp as int; fractions are cut off."""
    if isinstance(value, bool):
        raise _no_conversion("int", value)
    if isinstance(value, Decimal):
        return bound_int(int(value)) if value.adjusted() < _MAX_DIGITS else overflow()
    if isinstance(value, int):
        return bound_int(int(value))
    if isinstance(value, float):
        return int(value) if isfinite(value) and -_MAX_EXACT <= value < _MAX_EXACT else overflow()
    if isinstance(value, datetime):
        return to_epoch_seconds(value)
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        return bound_int(int(value))
    raise _no_conversion("int", value)


def to_uint(value: Any) -> int:
    """Return a number or a text as uint."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise _no_conversion("uint", value)
    if isinstance(value, str) and not _INTEGER.fullmatch(value):
        raise _no_conversion("uint", value)
    if isinstance(value, Decimal) and value.adjusted() >= _MAX_DIGITS:
        overflow()
    return bound_int(int(value), ValueKind.UINT)


def to_double(value: Any) -> float:
    """Return a number or a text as double."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Decimal)):
        raise _no_conversion("double", value)
    if isinstance(value, str) and not _DOUBLE.fullmatch(value):
        raise _no_conversion("double", value)
    return float(value)


def to_string(value: Any) -> str:
    """Return a value of a simple type as text."""
    if value is None or kind_of(value) in {ValueKind.LIST, ValueKind.MAP, ValueKind.TYPE, ValueKind.DYN}:
        raise _no_conversion("string", value)
    return to_text(value)


def to_bytes(value: Any) -> bytes:
    """Return a text as UTF-8."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    raise _no_conversion("bytes", value)


def to_boolean(value: Any) -> bool:
    """Return a bool, or the value of a text such as ``true``."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value in _TRUE | _FALSE:
        return value in _TRUE
    raise _no_conversion("bool", value)


def to_timestamp(value: Any, precision: int | None = None) -> datetime:
    """Return a text of RFC 3339, or a number since 1970 in the given precision, as timestamp."""
    is_number = isinstance(value, int) and not isinstance(value, (bool, UnsignedInt))
    if precision is not None and is_number:
        return timestamp_from_epoch(value, precision)
    if precision is None and is_number:
        return timestamp_from_epoch(value)
    if precision is None and isinstance(value, str):
        return parse_timestamp(value)
    if precision is None and isinstance(value, datetime) and value.tzinfo is not None:
        return value
    raise _no_conversion("timestamp", value)


def to_duration(value: Any) -> timedelta:
    """Return a text such as ``1h30m`` as duration."""
    if isinstance(value, timedelta):
        return value
    if isinstance(value, str):
        return parse_duration(value)
    raise _no_conversion("duration", value)


def type_of(value: Any) -> TypeValue:
    """Return the type of a value."""
    return TypeValue(kind_of(value).value)


def _no_conversion(target: str, value: Any) -> RuleEvaluationError:
    return RuleEvaluationError(f"{target}() has no result for a value, {describe_length(value)}.")
