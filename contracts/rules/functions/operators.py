"""Operators of rule expressions: types of operands and results, and their Python implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any, Final

from contractlog.contracts.rules.evaluation.runtime_values import (
    EvaluationBudget,
    bound_size,
    equal_scalars,
    equal_values,
    import_value,
    kind_of,
)
from contractlog.contracts.rules.language.expressions import UnsignedInt
from contractlog.contracts.rules.language.tokens import MAX_INT, MAX_UINT, MIN_INT
from contractlog.contracts.rules.language.value_types import NUMBERS, ValueKind
from contractlog.contracts.rules.rule_errors import RuleEvaluationError

__all__ = [
    "ARITHMETIC",
    "BINARY_IMPLEMENTATIONS",
    "BUDGETED_IMPLEMENTATIONS",
    "COMPARISONS",
    "KEY_KINDS",
    "NEGATABLE_KINDS",
    "are_ordered",
    "bound_int",
    "contains_value",
    "describe_kind",
    "describe_length",
    "describe_missing_operator",
    "divide_doubles",
    "divide_ints",
    "index_value",
    "make_map",
    "negate",
    "overflow",
    "remainder_ints",
    "select_field",
    "test_field",
    "to_bool",
]

_K = ValueKind
_TIMES: Final = {
    ("+", _K.TIMESTAMP, _K.DURATION): _K.TIMESTAMP,
    ("+", _K.DURATION, _K.TIMESTAMP): _K.TIMESTAMP,
    ("+", _K.DURATION, _K.DURATION): _K.DURATION,
    ("-", _K.TIMESTAMP, _K.TIMESTAMP): _K.DURATION,
    ("-", _K.TIMESTAMP, _K.DURATION): _K.TIMESTAMP,
    ("-", _K.DURATION, _K.DURATION): _K.DURATION,
}
_SAME_KIND: Final = {
    "+": (_K.INT, _K.UINT, _K.DOUBLE, _K.STRING, _K.BYTES, _K.LIST),
    "-": (_K.INT, _K.UINT, _K.DOUBLE),
    "*": (_K.INT, _K.UINT, _K.DOUBLE),
    "/": (_K.INT, _K.UINT, _K.DOUBLE),
    "%": (_K.INT, _K.UINT),
}
ARITHMETIC: Final[Mapping[tuple[str, ValueKind, ValueKind], ValueKind]] = _TIMES | {
    (operator, kind, kind): kind for operator, kinds in _SAME_KIND.items() for kind in kinds
}
"""Kind of the result by operator and kinds of the operands; int and double do not mix."""

COMPARISONS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
KEY_KINDS: Final = frozenset({_K.STRING, _K.INT, _K.UINT, _K.BOOL})
"""Kinds of the keys of maps."""

NEGATABLE_KINDS: Final = frozenset({_K.INT, _K.DOUBLE, _K.DURATION})
"""Kinds of the operand of ``-x``."""

_ORDERED_KINDS: Final = frozenset({_K.BOOL, _K.STRING, _K.BYTES, _K.TIMESTAMP, _K.DURATION})
_SIZED: Final = frozenset({_K.STRING, _K.BYTES, _K.LIST})


def describe_missing_operator(left: object, operator: str, right: object) -> str:
    """Return the message that an operator is not defined for operands of two types."""
    return f"There is no {left} {operator} {right}."


def are_ordered(left: ValueKind, right: ValueKind) -> bool:
    """Return true if ``<`` and the like are defined: for two numbers, or two values of one ordered kind."""
    return (left in NUMBERS and right in NUMBERS) or (left is right and left in _ORDERED_KINDS)


def overflow(*_: Any) -> Any:
    """Raise the error of a number that is out of range."""
    raise RuleEvaluationError("The result is out of the range of its type.")


def bound_int(number: int, kind: ValueKind = _K.INT) -> int:
    """Return a number that is in the range of int or uint."""
    if kind is _K.UINT:
        return UnsignedInt(number) if 0 <= number <= MAX_UINT else overflow()
    return number if MIN_INT <= number <= MAX_INT else overflow()


def divide_ints(left: int, right: int) -> int:
    """Divide with truncation toward zero."""
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) is (right < 0) else -quotient


def remainder_ints(left: int, right: int) -> int:
    """Return the remainder, which has the sign of ``left``."""
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def divide_doubles(left: float, right: float) -> float:
    """Divide as IEEE 754 says: by zero, the result is an infinity or not a number."""
    if right:
        return left / right
    sign = str(float(right)).startswith("-")
    if left == 0 or left != left:  # noqa: PLR0124 -- not a number
        return float("nan")
    return float("-inf") if (left < 0) is not sign else float("inf")


def to_bool(value: Any) -> bool:
    """Return a value that must be a bool."""
    if value is True or value is False:
        return value
    raise RuleEvaluationError(f"Expected a bool, not {describe_kind(value)}.")


def negate(value: Any) -> Any:
    """Return the negative of a number or duration."""
    value = import_value(value)
    kind = kind_of(value)
    if kind not in NEGATABLE_KINDS:
        raise RuleEvaluationError(f"There is no -{kind.label}.")
    return bound_int(-value) if kind is _K.INT else -value


def describe_kind(value: Any) -> str:
    """Return the name of a value's type for messages."""
    return kind_of(value).label


def describe_length(value: Any) -> str:
    """Return the type of a value, and the length of a text, for messages without data of records."""
    kind = describe_kind(value)
    return f"a {kind} of {len(value)} characters" if isinstance(value, str) else f"of type {kind}"


def select_field(operand: Any, field: str) -> Any:
    """Return an entry of a map."""
    if not isinstance(operand, Mapping):
        raise RuleEvaluationError(f"A value of type {describe_kind(operand)} has no field '{field}'.")
    return import_value(operand[field])


def test_field(operand: Any, field: str) -> bool:
    """Return true if a map has an entry; its value may be null."""
    if not isinstance(operand, Mapping):
        raise RuleEvaluationError(f"A value of type {describe_kind(operand)} has no fields.")
    return field in operand


def index_value(operand: Any, index: Any) -> Any:
    """Return an item of a list by a number from 0, or an entry of a map by its key."""
    if isinstance(operand, Mapping):
        if index not in operand:
            raise RuleEvaluationError(f"A map has no entry for a key, {describe_length(index)}.")
        return import_value(operand[index])
    kind = kind_of(index)
    if kind_of(operand) is not _K.LIST or kind not in {_K.INT, _K.UINT}:
        raise RuleEvaluationError(f"There is no {describe_kind(operand)}[{describe_kind(index)}].")
    if index < 0:
        raise RuleEvaluationError("The index of an item is negative; the first item is 0.")
    return import_value(operand[index])


def contains_value(budget: EvaluationBudget, value: Any, container: Any) -> bool:
    """Return true if a list has an equal item, or a map the key."""
    if isinstance(container, Mapping):
        return value in container
    if kind_of(container) is not _K.LIST:
        raise RuleEvaluationError(f"There is no 'in' for {describe_kind(container)}; it needs a list or a map.")
    budget.charge(len(container))
    return any(equal_values(budget, value, item) for item in container)


def make_map(*entries: tuple[Any, Any]) -> dict[Any, Any]:
    """Return a map of keys and values; no key may occur twice."""
    result: dict[Any, Any] = {}
    for key, value in entries:
        if kind_of(key) not in KEY_KINDS:
            raise RuleEvaluationError(f"A key is a string, int, uint or bool, not {describe_kind(key)}.")
        if key in result:
            raise RuleEvaluationError(f"A key, {describe_length(key)}, occurs twice in a map.")
        result[key] = value
    return result


def _calculate(operator: str, apply: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def calculate(left: Any, right: Any) -> Any:
        left, right = import_value(left), import_value(right)
        left_kind, right_kind = kind_of(left), kind_of(right)
        kind = ARITHMETIC.get((operator, left_kind, right_kind))
        if kind is None:
            raise RuleEvaluationError(describe_missing_operator(describe_kind(left), operator, describe_kind(right)))
        if kind in {_K.INT, _K.UINT}:
            return bound_int(apply(int(left), int(right)), kind)
        if kind is _K.DOUBLE:
            return divide_doubles(left, right) if operator == "/" else apply(left, right)
        result = apply(left, right)
        return bound_size(result) if kind in _SIZED else result

    return calculate


def _compare(operator: str, apply: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def compare(left: Any, right: Any) -> bool:
        left, right = import_value(left), import_value(right)
        if are_ordered(kind_of(left), kind_of(right)):
            return apply(left, right)
        raise RuleEvaluationError(describe_missing_operator(describe_kind(left), operator, describe_kind(right)))

    return compare


def _add(left: Any, right: Any) -> Any:
    return left + right


def _subtract(left: Any, right: Any) -> Any:
    return left - right


def _multiply(left: Any, right: Any) -> Any:
    return left * right


BINARY_IMPLEMENTATIONS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "+": _calculate("+", _add),
    "-": _calculate("-", _subtract),
    "*": _calculate("*", _multiply),
    "/": _calculate("/", divide_ints),
    "%": _calculate("%", remainder_ints),
    "==": equal_scalars,
    "!=": lambda left, right: not equal_scalars(left, right),
    **{operator: _compare(operator, apply) for operator, apply in COMPARISONS.items()},
}
"""Implementation of operators for operands of any type, but ``==`` and ``!=`` for at most one list or map."""

BUDGETED_IMPLEMENTATIONS: Final[Mapping[str, Callable[[EvaluationBudget, Any, Any], bool]]] = {
    "==": equal_values,
    "!=": lambda budget, left, right: not equal_values(budget, left, right),
    "in": contains_value,
}
"""Implementation of the operators that take steps for each item of lists and maps."""
