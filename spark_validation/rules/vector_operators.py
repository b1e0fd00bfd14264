"""Operators of rule expressions on vectors, with the results of ``contracts/rules/functions``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.contracts.rules.language.tokens import MIN_INT
from contractlog.contracts.rules.language.value_types import ValueKind
from contractlog.spark_validation.rules.vectors import (
    Mask,
    NotColumnar,
    Vector,
    as_bool,
    join_masks,
    require_values,
    to_mask,
)

__all__ = [
    "ARITHMETIC_KINDS",
    "and_vectors",
    "calculate",
    "choose",
    "compare",
    "equal",
    "is_member",
    "negate",
    "negate_bool",
    "or_vectors",
]

_K = ValueKind
_TEXTS: Final = frozenset({_K.STRING, _K.BYTES})
_EXACT: Final = 2**53  #: every whole number up to this magnitude is exact as a double
_SMALL: Final = 2**31  #: products of numbers below fit into 64 bits
ARITHMETIC_KINDS: Final = frozenset(
    {*(("_+_", kind) for kind in (_K.INT, _K.DOUBLE)), *(("_-_", kind) for kind in (_K.INT, _K.DOUBLE))}
    | {("_*_", _K.INT), ("_*_", _K.DOUBLE), ("_/_", _K.INT), ("_/_", _K.DOUBLE), ("_%_", _K.INT)}
)
"""Operators by kind of both operands that ``calculate`` has."""

_NUMPY_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "_<_": np.less, "_<=_": np.less_equal, "_>_": np.greater, "_>=_": np.greater_equal, "_==_": np.equal,
}  # fmt: skip
_ARROW_COMPARISONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "_<_": pc.less, "_<=_": pc.less_equal, "_>_": pc.greater, "_>=_": pc.greater_equal, "_==_": pc.equal,
}  # fmt: skip


def and_vectors(operands: Sequence[Vector]) -> Vector:
    """Return ``a && b && …``: false if any operand is false, else an error if any fails."""
    return _absorb([as_bool(operand) for operand in operands], decisive=False)


def or_vectors(operands: Sequence[Vector]) -> Vector:
    """Return ``a || b || …``: true if any operand is true, else an error if any fails."""
    return _absorb([as_bool(operand) for operand in operands], decisive=True)


def _absorb(operands: Sequence[tuple[Any, Any]], *, decisive: bool) -> Vector:
    decided: Any = np.False_
    failed: Any = np.False_
    for true, errors in operands:
        decided = decided | (true if decisive else ~(true | errors))
        if errors is not np.False_:
            failed = failed | errors
    values = decided if decisive else ~decided
    return Vector(values, None if failed is np.False_ else failed & ~decided)


def negate_bool(operand: Vector) -> Vector:
    """Return ``!a``."""
    return Vector(np.logical_not(operand.values), require_values(operand))


def choose(condition: Vector, consequence: Vector, alternative: Vector, kind: ValueKind) -> Vector:
    """Return ``a ? b : c``; what is not chosen may fail."""
    true, failed = as_bool(condition)
    masks = [
        _choose_mask(true, left, right)
        for left, right in ((consequence.errors, alternative.errors), (consequence.nulls, alternative.nulls))
    ]
    if kind in _TEXTS:
        values: Any = pc.if_else(_to_arrow(true), consequence.values, alternative.values)
    else:
        values = np.where(true, consequence.values, alternative.values)
    return Vector(values, join_masks(masks[0], None if failed is np.False_ else failed), masks[1])


def _choose_mask(true: Any, left: Mask | None, right: Mask | None) -> Mask | None:
    if left is None and right is None:
        return None
    chosen: Mask = np.where(true, False if left is None else left, False if right is None else right)
    return chosen


def _to_arrow(mask: Any) -> Any:
    return pa.scalar(bool(mask)) if np.ndim(mask) == 0 else pa.array(mask)


def compare(operator: str, left: Vector, right: Vector, kinds: tuple[ValueKind, ValueKind]) -> Vector:
    """Return ``a < b`` and the like; null is an error."""
    return Vector(_compare(operator, left, right, kinds), require_values(left, right))


def equal(left: Vector, right: Vector, kinds: tuple[ValueKind, ValueKind], *, negated: bool) -> Vector:
    """Return ``a == b``, or ``a != b`` if it is negated; null equals null only."""
    values = _compare("_==_", left, right, kinds)
    if left.nulls is not None or right.nulls is not None:
        left_null = np.False_ if left.nulls is None else left.nulls
        right_null = np.False_ if right.nulls is None else right.nulls
        values = np.where(left_null | right_null, left_null & right_null, values)
    return Vector(np.logical_not(values) if negated else values, join_masks(left.errors, right.errors))


def _compare(operator: str, left: Vector, right: Vector, kinds: tuple[ValueKind, ValueKind]) -> Any:
    if kinds[0] in _TEXTS:
        return to_mask(_ARROW_COMPARISONS[operator](left.values, right.values))
    if kinds[0] is not kinds[1]:
        for vector, kind in zip((left, right), kinds, strict=True):
            if kind is _K.INT and (
                np.max(vector.values, initial=0) > _EXACT or np.min(vector.values, initial=0) < -_EXACT
            ):
                raise NotColumnar("a large int is compared with a double")
    with np.errstate(invalid="ignore"):
        return _NUMPY_COMPARISONS[operator](left.values, right.values)


def _is_within(numbers: Any, limit: int) -> bool:
    return bool(np.max(numbers, initial=0) <= limit and np.min(numbers, initial=0) >= -limit)


def is_member(value: Vector, members: Sequence[Any], kind: ValueKind) -> Vector:
    """Return ``a in [1, 2]`` for constants of the same kind; null is in no such list."""
    if kind is _K.STRING:
        if isinstance(value.values, pa.Scalar):
            return Vector(np.bool_(value.values.as_py() in members), value.errors)
        matches = pc.is_in(value.values, pa.array(members, value.values.type))
        inside: Any = to_mask(matches)
    else:
        inside = np.isin(value.values, np.array(members, np.int64))
    return Vector(inside if value.nulls is None else inside & ~value.nulls, value.errors)


def negate(operand: Vector, kind: ValueKind) -> Vector:
    """Return ``-a`` of an int or double."""
    errors = require_values(operand)
    if kind is _K.DOUBLE:
        return Vector(np.negative(operand.values), errors)
    with np.errstate(over="ignore"):
        return Vector(np.negative(operand.values), _with(errors, np.equal(operand.values, MIN_INT)))


def calculate(operator: str, left: Vector, right: Vector, kind: ValueKind) -> Vector:
    """Return the result of an arithmetic operator on two ints or doubles; overflow is an error."""
    errors = require_values(left, right)
    with np.errstate(all="ignore"):
        if kind is _K.DOUBLE:
            return Vector(_DOUBLES[operator](left.values, right.values), errors)
        values, overflow = _INTS[operator](left.values, right.values)
    return Vector(values, _with(errors, overflow))


def _with(errors: Mask | None, more: Any) -> Mask | None:
    return join_masks(errors, more) if np.any(more) else errors


def _add(left: Any, right: Any) -> tuple[Any, Any]:
    total = left + right
    return total, ((left ^ total) & (right ^ total)) < 0


def _subtract(left: Any, right: Any) -> tuple[Any, Any]:
    difference = left - right
    return difference, ((left ^ right) & (left ^ difference)) < 0


def _multiply(left: Any, right: Any) -> tuple[Any, Any]:
    product = left * right
    if _is_within(left, _SMALL) and _is_within(right, _SMALL):
        return product, np.False_
    divisor = np.where((left == 0) | (left == -1), 1, left)
    overflow = np.where(
        left == -1, right == MIN_INT, (left != 0) & ((product // divisor != right) | (product % divisor != 0))
    )
    return product, overflow


def _divide(left: Any, right: Any) -> tuple[Any, Any]:
    zero, overflow = right == 0, (right == -1) & (left == MIN_INT)
    divisor = np.where(zero | overflow, 1, right)
    quotient = left // divisor
    quotient = quotient + ((quotient < 0) & (quotient * divisor != left))  # toward zero, not down
    return quotient, zero | overflow


def _remainder(left: Any, right: Any) -> tuple[Any, Any]:
    zero = right == 0
    divisor = np.where(zero | (right == -1), 1, right)
    return np.fmod(left, divisor), zero


_INTS: Final[Mapping[str, Callable[[Any, Any], tuple[Any, Any]]]] = {
    "_+_": _add, "_-_": _subtract, "_*_": _multiply, "_/_": _divide, "_%_": _remainder,
}  # fmt: skip
_DOUBLES: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "_+_": np.add, "_-_": np.subtract, "_*_": np.multiply, "_/_": np.divide,
}  # fmt: skip
