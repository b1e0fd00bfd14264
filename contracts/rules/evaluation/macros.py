"""Logical operators and macros of rule expressions, as functions over functions.

The fast forms stop at the first error. The careful forms absorb errors as CEL's standard says: a false operand decides
``&&`` and ``all``, a true one ``||`` and ``exists``, on either side of an operand that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from contractlog.contracts.rules.evaluation.runtime_values import EVALUATION_ERRORS, EvaluationBudget, import_value
from contractlog.contracts.rules.functions.operators import describe_kind, to_bool
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleLimitExceeded

__all__ = ["CAREFUL_MACROS", "FAST_MACROS", "absorb_and", "absorb_or"]

_Test = Callable[[Any], Any]


def absorb_and(*operands: Callable[[], Any]) -> bool:
    """Return false if any operand is false, else raise the first error, else return true."""
    return _decide(operands, deciding=False)


def absorb_or(*operands: Callable[[], Any]) -> bool:
    """Return true if any operand is true, else raise the first error, else return false."""
    return _decide(operands, deciding=True)


def _decide(operands: Iterable[Callable[[], Any]], *, deciding: bool) -> bool:
    """Return ``deciding`` if any operand has this value, else raise or return the other bool."""
    failure: Exception | None = None
    for operand in operands:
        try:
            if to_bool(operand()) is deciding:
                return deciding
        except RuleLimitExceeded:
            raise
        except EVALUATION_ERRORS as error:
            failure = failure or error
    if failure is not None:
        raise failure
    return not deciding


def _elements(budget: EvaluationBudget, steps: int, operand: Any) -> Any:
    """Return the items of a list or the keys of a map, and charge the steps for each."""
    if not isinstance(operand, (list, tuple, Mapping)):
        raise RuleEvaluationError(f"A macro needs a list or a map, not {describe_kind(operand)}.")
    budget.charge(len(operand) * steps)
    return operand


def _all(budget: EvaluationBudget, steps: int, operand: Any, test: _Test) -> bool:
    return all(map(test, _elements(budget, steps, operand)))


def _exists(budget: EvaluationBudget, steps: int, operand: Any, test: _Test) -> bool:
    return any(map(test, _elements(budget, steps, operand)))


def _exists_one(budget: EvaluationBudget, steps: int, operand: Any, test: _Test) -> bool:
    return bool(sum(map(test, _elements(budget, steps, operand))) == 1)


def _filter(budget: EvaluationBudget, steps: int, operand: Any, test: _Test) -> list[Any]:
    return [item for item in map(import_value, _elements(budget, steps, operand)) if test(item)]


def _map(budget: EvaluationBudget, steps: int, operand: Any, test: _Test | None, make: _Test) -> list[Any]:
    items = _elements(budget, steps, operand)
    return list(map(make, items if test is None else filter(test, items)))


def _careful_all(budget: EvaluationBudget, steps: int, operand: Any, test: _Test) -> bool:
    return _decide((partial(test, item) for item in _elements(budget, steps, operand)), deciding=False)


def _careful_exists(budget: EvaluationBudget, steps: int, operand: Any, test: _Test) -> bool:
    return _decide((partial(test, item) for item in _elements(budget, steps, operand)), deciding=True)


FAST_MACROS: Final[Mapping[str, Callable[..., Any]]] = {
    "all": _all, "exists": _exists, "exists_one": _exists_one, "filter": _filter, "map": _map,
}  # fmt: skip
CAREFUL_MACROS: Final[Mapping[str, Callable[..., Any]]] = {"all": _careful_all, "exists": _careful_exists}
