"""Values while a rule runs: kinds, conversion, equality, and bounds on sizes and steps.

A value is what our serdes return: dict, list, str, int, float, bool, bytes, None, Decimal, datetime, timedelta; a date
is read as the number of days since 1970, and a UUID as its text, as by the reference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from contractlog.compatibility.step_budget import StepBudget, StepBudgetExceeded
from contractlog.contracts.rules.expressions import UnsignedInt
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleLimitExceeded
from contractlog.contracts.rules.value_types import NUMBERS, ValueKind

__all__ = [
    "EVALUATION_ERRORS",
    "MAX_RESULT_SIZE",
    "MAX_STEPS",
    "TypeValue",
    "bound_size",
    "charge",
    "charge_value",
    "convert_date",
    "convert_uuid",
    "equal_values",
    "export_value",
    "import_value",
    "kind_of",
    "new_budget",
]

MAX_STEPS: Final = 100_000  #: elements that the macros of one evaluation may visit
MAX_RESULT_SIZE: Final = 1_000_000  #: characters, bytes or items of a value that a rule makes
STEP_SIZE: Final = 256  #: characters that one step of a function may read

#: Python's errors that a value of the wrong type or out of range leads to; ``&&`` and ``||`` absorb them.
EVALUATION_ERRORS: Final = (
    RuleEvaluationError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError,
)  # fmt: skip

_EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
_KINDS: Final[dict[type, ValueKind]] = {
    type(None): ValueKind.NULL,
    bool: ValueKind.BOOL,
    UnsignedInt: ValueKind.UINT,
    int: ValueKind.INT,
    float: ValueKind.DOUBLE,
    Decimal: ValueKind.DECIMAL,
    str: ValueKind.STRING,
    UUID: ValueKind.STRING,
    bytes: ValueKind.BYTES,
    bytearray: ValueKind.BYTES,
    datetime: ValueKind.TIMESTAMP,
    date: ValueKind.INT,
    timedelta: ValueKind.DURATION,
    list: ValueKind.LIST,
    tuple: ValueKind.LIST,
    dict: ValueKind.MAP,
    Mapping: ValueKind.MAP,
}


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: ``type(1)`` and ``int`` are equal."""

    name: str

    def __str__(self) -> str:
        return self.name


def kind_of(value: Any) -> ValueKind:
    """Return the kind of a value; those that CEL does not have, such as a time of day, are ``dyn``."""
    kind = _KINDS.get(value.__class__)
    if kind is not None:
        return kind
    if isinstance(value, TypeValue):
        return ValueKind.TYPE
    return next((kind for base, kind in _KINDS.items() if isinstance(value, base)), ValueKind.DYN)


def convert_date(value: Any) -> Any:
    """Return a date as days since 1970, and any other value unchanged."""
    return value.toordinal() - _EPOCH_DAY if isinstance(value, date) and not isinstance(value, datetime) else value


def convert_uuid(value: Any) -> Any:
    """Return a UUID as text, and any other value unchanged."""
    return str(value) if isinstance(value, UUID) else value


def import_value(value: Any) -> Any:
    """Return a value of unknown type as CEL reads it; lists and maps are returned unchanged."""
    cls = value.__class__
    if cls is date:
        return value.toordinal() - _EPOCH_DAY
    return str(value) if cls is UUID else value


def export_value(value: Any) -> Any:
    """Return a result as a plain Python value: no ``uint``, no type values."""
    if isinstance(value, UnsignedInt):
        return int(value)
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, list):
        return [export_value(item) for item in value]
    if isinstance(value, dict):
        return {export_value(key): export_value(item) for key, item in value.items()}
    return value


def equal_values(left: Any, right: Any) -> bool:
    """Compare as CEL does: numbers by value, lists and maps deeply, other values by type and value."""
    left, right = import_value(left), import_value(right)
    left_kind, right_kind = kind_of(left), kind_of(right)
    if left_kind in NUMBERS:
        return right_kind in NUMBERS and bool(left == right)
    if left_kind is not right_kind:
        return False
    if left_kind is ValueKind.LIST:
        return len(left) == len(right) and all(map(equal_values, left, right))
    if left_kind is ValueKind.MAP:
        return len(left) == len(right) and all(
            key in right and equal_values(item, right[key]) for key, item in left.items()
        )
    return bool(left == right)


def bound_size(value: Any) -> Any:
    """Return a text, bytes or list that a rule made.

    Raises:
        RuleLimitExceeded: it is larger than ``MAX_RESULT_SIZE``.
    """
    if len(value) > MAX_RESULT_SIZE:
        raise RuleLimitExceeded(f"A rule may not make a value of more than {MAX_RESULT_SIZE:,} characters or items.")
    return value


def new_budget() -> StepBudget:
    """Return the budget of one evaluation."""
    return StepBudget(MAX_STEPS)


def charge(budget: StepBudget, steps: int) -> None:
    """Charge steps to the budget of an evaluation.

    Raises:
        RuleLimitExceeded: more steps than are left.
    """
    try:
        budget.take(steps)
    except StepBudgetExceeded:
        raise RuleLimitExceeded(f"An evaluation may take at most {MAX_STEPS:,} steps.") from None


def charge_value(budget: StepBudget, value: Any) -> Any:
    """Charge the steps for reading a whole value, and return the value."""
    if isinstance(value, (str, bytes)):
        charge(budget, 1 + len(value) // STEP_SIZE)
    elif isinstance(value, (list, dict)):
        charge(budget, 1 + len(value))
    return value
