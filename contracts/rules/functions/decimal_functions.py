"""Functions of rule expressions for decimals: ``decimal()`` and ``decimals.*``.

Calculation is exact within a bound of digits. Results have the digits and scales of Java's ``BigDecimal``, with which
Confluent's Java client implements them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    Inexact,
    InvalidOperation,
    Overflow,
)
from math import isfinite
from operator import eq, ge, gt, le, lt
from typing import Any, Final

from contractlog.contracts.rules.evaluation.runtime_values import EvaluationBudget, import_value
from contractlog.contracts.rules.functions.operators import describe_kind, describe_length
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleLimitExceeded

__all__ = [
    "COMPARISONS_OF_DECIMALS",
    "MAX_DIGITS",
    "absolute",
    "add",
    "ceil",
    "divide",
    "floor",
    "greatest",
    "least",
    "multiply",
    "negative",
    "remainder",
    "round_half_up",
    "sign",
    "square_root",
    "subtract",
    "to_decimal",
    "truncate",
]

MAX_DIGITS: Final = 1_000  #: of a decimal that a rule makes
MAX_SCALE: Final = 2**31 - 1
_MAX_BYTES: Final = 415  #: of a number of ``MAX_DIGITS`` digits
_STEPS: Final = 4  #: of the budget, for one calculation
_TRAPS: Final = [InvalidOperation, Overflow]
_EXACT: Final = Context(prec=MAX_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[*_TRAPS, Inexact])
_SCALED: Final = Context(prec=MAX_DIGITS, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=_TRAPS)
_ROUNDED: Final = Context(prec=38, rounding=ROUND_HALF_UP, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=_TRAPS)
_TEXT: Final = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,10})?")


def to_decimal(value: Any, scale: int | None = None) -> Decimal:
    """Return a number or a text as decimal, or the two's complement of an unscaled number with its scale."""
    value = import_value(value)
    if scale is not None:
        return _from_unscaled(value, scale)
    if isinstance(value, Decimal) and value.is_finite():
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return Decimal(int(value))
    if isinstance(value, float) and isfinite(value):
        return _from_text(repr(value))
    if isinstance(value, str) and _TEXT.fullmatch(value):
        return _from_text(value)
    hint = " Give bytes with their scale: decimal(bytes, scale)." if isinstance(value, bytes) else ""
    raise RuleEvaluationError(f"decimal() has no result for a value, {describe_length(value)}.{hint}")


def _from_text(text: str) -> Decimal:
    number = _limit_digits(_EXACT.create_decimal, text)
    if abs(_exponent(number)) > MAX_SCALE:
        raise RuleEvaluationError("The exponent of a decimal is out of range.")
    return _EXACT.plus(number)  # without the sign of zero


def _from_unscaled(unscaled: Any, scale: int) -> Decimal:
    if not isinstance(unscaled, bytes):
        raise RuleEvaluationError(f"decimal(bytes, scale) needs bytes, not a value of type {describe_kind(unscaled)}.")
    if len(unscaled) > _MAX_BYTES:
        raise _too_long()
    number = Decimal(int.from_bytes(unscaled, "big", signed=True))
    return number.scaleb(-_check_scale(scale), _EXACT)


def _check_scale(scale: Any) -> int:
    if not isinstance(scale, int) or isinstance(scale, bool) or abs(scale) > MAX_SCALE:
        raise RuleEvaluationError("The scale of a decimal is an int of 32 bits.")
    return int(scale)


def _too_long() -> RuleLimitExceeded:
    return RuleLimitExceeded(f"A rule may not make a decimal of more than {MAX_DIGITS:,} digits.")


def _limit_digits(calculate: Callable[..., Decimal], *arguments: Any) -> Decimal:
    """Calculate in ``_EXACT`` or ``_SCALED``, whose results have at most ``MAX_DIGITS`` digits."""
    try:
        return calculate(*arguments)
    except (Inexact, InvalidOperation):
        raise _too_long() from None
    except Overflow:
        raise RuleEvaluationError("The exponent of a decimal is out of range.") from None


def _exponent(number: Decimal) -> int:
    return int(number.as_tuple().exponent)


def _calculation(calculate: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of values that become decimals; it charges the budget."""

    def function(*values: Any, budget: EvaluationBudget) -> Any:
        budget.charge(_STEPS)
        return calculate(*map(to_decimal, values))

    return function


def _rounding(calculate: Callable[[Decimal, int], Decimal]) -> Callable[..., Decimal]:
    def function(value: Any, scale: Any = 0, *, budget: EvaluationBudget) -> Decimal:
        budget.charge(_STEPS)
        return calculate(to_decimal(value), _check_scale(scale))

    return function


def _set_scale(number: Decimal, scale: int, rounding: str) -> Decimal:
    return _limit_digits(number.quantize, Decimal((0, (1,), -scale)), rounding, _SCALED)


def _truncate(number: Decimal, scale: int) -> Decimal:
    return number if scale >= -_exponent(number) else _set_scale(number, scale, ROUND_DOWN)


def _divide(left: Decimal, right: Decimal) -> Decimal:
    _check_divisor(right)
    return _ROUNDED.divide(left, right)


def _remainder(left: Decimal, right: Decimal) -> Decimal:
    _check_divisor(right)
    return _limit_digits(_EXACT.remainder, left, right)


def _check_divisor(number: Decimal) -> None:
    if not number:
        raise RuleEvaluationError("Division by zero.")


def _square_root(number: Decimal) -> Decimal:
    if number < 0:
        raise RuleEvaluationError("A negative number has no square root.")
    root = _ROUNDED.sqrt(number)
    if Context(prec=2 * _ROUNDED.prec, Emax=MAX_EMAX, Emin=MIN_EMIN).multiply(root, root) != number:
        return root
    scale = -_exponent(number)
    return _prefer_scale(root, abs(scale) // 2 * (1 if scale > 0 else -1))


def _prefer_scale(number: Decimal, scale: int) -> Decimal:
    """Return an exact result with a scale, or the nearest one that its digits allow."""
    if not number:
        return Decimal((0, (0,), -scale))
    shortest = number.normalize(_ROUNDED)
    needed = -_exponent(shortest)
    longest = needed + _ROUNDED.prec - len(shortest.as_tuple().digits)
    return _set_scale(shortest, max(needed, min(scale, longest)), ROUND_DOWN)


def _sign(number: Decimal) -> int:
    return (number > 0) - (number < 0)


add: Final = _calculation(lambda left, right: _limit_digits(_EXACT.add, left, right))
subtract: Final = _calculation(lambda left, right: _limit_digits(_EXACT.subtract, left, right))
multiply: Final = _calculation(lambda left, right: _limit_digits(_EXACT.multiply, left, right))
divide: Final = _calculation(_divide)
remainder: Final = _calculation(_remainder)
greatest: Final = _calculation(max)
least: Final = _calculation(min)
square_root: Final = _calculation(_square_root)
negative: Final = _calculation(lambda number: _limit_digits(_EXACT.minus, number))
absolute: Final = _calculation(Decimal.copy_abs)
sign: Final = _calculation(_sign)
round_half_up: Final = _rounding(lambda number, scale: _set_scale(number, scale, ROUND_HALF_UP))
truncate: Final = _rounding(_truncate)
floor: Final = _calculation(lambda number: _set_scale(number, 0, ROUND_FLOOR))
ceil: Final = _calculation(lambda number: _set_scale(number, 0, ROUND_CEILING))

COMPARISONS_OF_DECIMALS: Final = {
    name: _calculation(compare) for name, compare in (("eq", eq), ("lt", lt), ("le", le), ("gt", gt), ("ge", ge))
}
"""Comparisons, by the name of their function in ``decimals``."""
