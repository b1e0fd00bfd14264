"""Values while a rule runs: kinds, conversion, equality, and bounds on sizes and steps.

A value is what our serdes return: dict, list, str, int, float, bool, bytes, None, Decimal, datetime, timedelta; a date
is read as the number of days since 1970, and a UUID as its text, as in confluent-kafka.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import repeat
from typing import Any, Final
from uuid import UUID

from contractlog.contracts.rules.language.expressions import UnsignedInt
from contractlog.contracts.rules.language.value_types import NUMBERS, ValueKind
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleLimitExceeded

__all__ = [
    "EVALUATION_ERRORS",
    "MAX_RESULT_SIZE",
    "MAX_STEPS",
    "EvaluationBudget",
    "TypeValue",
    "bound_size",
    "charge_value",
    "convert_date",
    "convert_uuid",
    "equal_scalars",
    "equal_values",
    "export_value",
    "import_value",
    "kind_of",
]

MAX_STEPS: Final = (
    100_000  #: steps of one evaluation, such as elements that its macros visit and items that it compares
)
MAX_RESULT_SIZE: Final = 1_000_000  #: characters, bytes or items of a value that a rule makes
STEP_SIZE: Final = 256  #: characters that one step may read or make
STEP_ITEMS: Final = 10  #: items of a list or entries of a map that one step may copy

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
_COMPARED_IN_STEPS: Final = frozenset({ValueKind.STRING, ValueKind.BYTES, ValueKind.LIST, ValueKind.MAP})


class EvaluationBudget:
    """The steps that are left for one evaluation."""

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_STEPS) -> None:
        self.left = left

    def charge(self, steps: int) -> None:
        """Charge steps, before they are taken.

        Raises:
            RuleLimitExceeded: more steps than are left.
        """
        self.left -= steps
        if self.left < 0:
            raise RuleLimitExceeded(f"An evaluation may take at most {MAX_STEPS:,} steps.")


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


def export_value(budget: EvaluationBudget, value: Any) -> Any:
    """Return a result as a plain Python value: no ``uint``, no type values."""
    if isinstance(value, UnsignedInt):
        return int(value)
    if isinstance(value, TypeValue):
        return value.name
    if isinstance(value, list):
        budget.charge(1 + len(value) // STEP_ITEMS)
        return [export_value(budget, item) for item in value]
    if isinstance(value, dict):
        budget.charge(1 + len(value) // STEP_ITEMS)
        return {export_value(budget, key): export_value(budget, item) for key, item in value.items()}
    return value


def equal_values(budget: EvaluationBudget, left: Any, right: Any) -> bool:
    """Compare as CEL does: numbers by value, lists and maps deeply, other values by type and value.

    Each item of lists and each entry of maps is a step, also where a value is contained several times.
    """
    left, right = import_value(left), import_value(right)
    kind = kind_of(left)
    if kind not in _COMPARED_IN_STEPS or kind is not kind_of(right):
        return equal_scalars(left, right)
    if len(left) != len(right):
        return False
    if kind is ValueKind.LIST:
        budget.charge(1 + len(left))
        return all(map(equal_values, repeat(budget), left, right))
    if kind is ValueKind.MAP:
        budget.charge(1 + len(left))
        return all(key in right and equal_values(budget, item, right[key]) for key, item in left.items())
    budget.charge(len(left) // STEP_SIZE)
    return bool(left == right)


def equal_scalars(left: Any, right: Any) -> bool:
    """Compare values of which at most one is a list or map, in constant time but for texts."""
    left, right = import_value(left), import_value(right)
    left_kind, right_kind = kind_of(left), kind_of(right)
    if left_kind in NUMBERS:
        return right_kind in NUMBERS and bool(left == right)
    return left_kind is right_kind and bool(left == right)


def bound_size(value: Any) -> Any:
    """Return a text, bytes or list that a rule made.

    Raises:
        RuleLimitExceeded: it is larger than ``MAX_RESULT_SIZE``.
    """
    if len(value) > MAX_RESULT_SIZE:
        raise RuleLimitExceeded(f"A rule may not make a value of more than {MAX_RESULT_SIZE:,} characters or items.")
    return value


def charge_value(budget: EvaluationBudget, value: Any) -> Any:
    """Charge the steps for reading or copying a whole value, and return the value."""
    if isinstance(value, (str, bytes)):
        budget.charge(len(value) // STEP_SIZE)
    elif isinstance(value, (list, dict)):
        budget.charge(len(value) // STEP_ITEMS)
    return value
