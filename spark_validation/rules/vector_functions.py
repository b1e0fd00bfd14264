"""Functions of rule expressions on vectors, with the results of ``contracts/rules/functions``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.contracts.rules.evaluation.runtime_values import MAX_RESULT_SIZE
from contractlog.contracts.rules.language.value_types import ValueKind
from contractlog.spark_validation.rules.vectors import NotColumnar, Vector, join_masks, require_values, to_mask

__all__ = ["CONVERSIONS", "TEXT_TESTS", "concatenate", "convert", "measure", "test_text"]

_K = ValueKind
_MAX_EXACT: Final = 2.0**63
_MICROSECONDS: Final = 1_000_000

TEXT_TESTS: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "contains": pc.match_substring,
    "startsWith": pc.starts_with,
    "endsWith": pc.ends_with,
    "matches": pc.match_substring_regex,
}
"""Functions of a text and a constant."""


def test_text(name: str, text: Vector, argument: str) -> Vector:
    """Return ``text.contains('a')`` and the like.

    Raises:
        NotColumnar: RE2 does not accept the pattern.
    """
    try:
        values = TEXT_TESTS[name](text.values, argument)
    except pa.ArrowInvalid as error:
        raise NotColumnar(str(error)) from None
    return Vector(to_mask(values), require_values(text))


def measure(operand: Vector, kind: ValueKind) -> Vector:
    """Return ``size(a)`` of a text, in characters, or of bytes."""
    lengths = pc.utf8_length(operand.values) if kind is _K.STRING else pc.binary_length(operand.values)
    return Vector(_to_integers(lengths), require_values(operand))


def concatenate(left: Vector, right: Vector, kind: ValueKind) -> Vector:
    """Return ``a + b`` of texts or bytes.

    Raises:
        NotColumnar: a result may be larger than a rule may make.
    """
    largest = sum(int(np.max(_to_integers(pc.binary_length(side.values)), initial=0)) for side in (left, right))
    if largest > MAX_RESULT_SIZE:
        raise NotColumnar("a text may be too long")
    wide = pa.large_string() if kind is _K.STRING else pa.large_binary()
    parts = [pc.cast(side.values, wide) for side in (left, right)]
    empty = pa.scalar("" if kind is _K.STRING else b"", wide)
    return Vector(pc.binary_join_element_wise(*parts, empty), require_values(left, right))


def _to_integers(values: Any) -> Any:
    if isinstance(values, pa.Scalar):
        return np.int64(values.as_py() or 0)
    return np.asarray(pc.fill_null(values, 0)).astype(np.int64)


def _int_to_double(values: Any) -> tuple[Any, Any]:
    return np.asarray(values).astype(np.float64), None


def _double_to_int(values: Any) -> tuple[Any, Any]:
    outside = ~((values >= -_MAX_EXACT) & (values < _MAX_EXACT))
    return np.where(outside, 0.0, values).astype(np.int64), outside


def _timestamp_to_int(values: Any) -> tuple[Any, Any]:
    return values // _MICROSECONDS, None


CONVERSIONS: Final[Mapping[tuple[str, ValueKind], Callable[[Any], tuple[Any, Any]]]] = {
    ("int", _K.INT): lambda values: (values, None),
    ("int", _K.DOUBLE): _double_to_int,
    ("int", _K.TIMESTAMP): _timestamp_to_int,
    ("double", _K.DOUBLE): lambda values: (values, None),
    ("double", _K.INT): _int_to_double,
}
"""Conversions by function and kind; each returns the values and which of them are out of range, or None."""


def convert(name: str, operand: Vector, kind: ValueKind) -> Vector:
    """Return ``int(a)`` or ``double(a)``."""
    with np.errstate(invalid="ignore"):
        values, errors = CONVERSIONS[name, kind](operand.values)
    return Vector(values, join_masks(require_values(operand), errors))
