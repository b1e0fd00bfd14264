"""Canonical text of a value: equal values have equal texts, regardless of their format.

Integers and integral floats are decimal digits, timestamps are microseconds since 1970 UTC (RFC 3339 texts too), dates
are ISO dates, other strings are unchanged: ``5``, ``5.0`` and ``"5"`` are equal, and so are a timestamp in Avro and a
date-time in JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, cast

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["canonical_texts"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_MOMENT: Final = r"^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d{1,6})?([Zz]|[+-]\d\d:\d\d)$"
_EXACT_FLOAT: Final = 2.0**63


def canonical_texts(values: pa.Array[Any]) -> pa.Array[Any]:
    """Return the canonical text of each value; nulls stay null."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _canonical_strings(values.cast(pa.large_string()))
    if pa.types.is_timestamp(kind):
        return values.cast(pa.timestamp("us", "UTC")).cast(pa.int64()).cast(pa.large_string())
    if pa.types.is_floating(kind):
        return _map_values(values.cast(pa.float64()), _float_text)
    if pa.types.is_decimal(kind):
        return _map_values(values, _decimal_text)
    if _is_binary(kind):
        return _map_values(values, bytes.hex)
    return values.cast(pa.large_string())  # integers, booleans, dates


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind))


def _map_values(values: pa.Array[Any], text: Callable[[Any], str]) -> pa.Array[Any]:
    return pa.array([None if value is None else text(value) for value in values.to_pylist()], pa.large_string())


def _canonical_strings(values: pa.Array[Any]) -> pa.Array[Any]:
    matched: Any = pc.match_substring_regex(values, _MOMENT)
    moments: Any = matched.fill_null(False)  # noqa: FBT003 - replaces nulls
    if not pc.any(moments).as_py():
        return values
    return cast("pa.Array[Any]", pc.replace_with_mask(values, moments, _map_values(values.filter(moments), _time_text)))


def _time_text(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text.upper())
        return str((moment - _EPOCH) // _MICROSECOND)
    except (ValueError, OverflowError):  # invalid dates, such as 30 February, are plain strings
        return text


def _float_text(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < _EXACT_FLOAT else repr(value)


def _decimal_text(value: Decimal) -> str:
    text = format(value, "f")
    return (text.rstrip("0").rstrip(".") or "0") if "." in text else text
