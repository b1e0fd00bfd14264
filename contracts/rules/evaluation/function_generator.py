"""Compilation of rule expressions to Python: one generated function for each rule.

The generated function is the fast form of the rule, which stops at the first error. If the rule has operators that
absorb errors (``&&``, ``||``, ``all``, ``exists``), the careful form runs after the fast one failed: there, these
evaluate every operand.
Values of a type known from the schema are read and compared by Python's own operators; others by the functions of
``operators.py``. No text of the rule becomes a part of the source: names are numbered, constants are passed as values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.contracts.rules.evaluation.macros import CAREFUL_MACROS
from contractlog.contracts.rules.evaluation.runtime_values import EVALUATION_ERRORS
from contractlog.contracts.rules.evaluation.source_writer import SourceWriter
from contractlog.contracts.rules.language.expressions import (
    Expression,
    FunctionCall,
    Identifier,
    Macro,
    walk_expression,
)
from contractlog.contracts.rules.language.type_checker import TypedExpression, infer_types
from contractlog.contracts.rules.language.value_types import ValueKind, ValueType
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleLimitExceeded

__all__ = ["compile_expression", "compile_typed", "list_variables"]

_ABSORBING: Final = frozenset({"_&&_", "_||_"})
_PLAIN_KINDS: Final = frozenset({ValueKind.BOOL, ValueKind.STRING, ValueKind.INT, ValueKind.DOUBLE, ValueKind.BYTES})


def compile_expression(
    expression: Expression, variables: Mapping[str, ValueType] | None
) -> Callable[[Mapping[str, Any]], Any]:
    """Compile an expression; the result takes the variables' values and returns that of the expression.

    Args:
        expression: the tree.
        variables: the type of each variable; None if they are unknown.

    Raises:
        RuleExpressionError: the types do not fit. The result raises RuleEvaluationError if it fails.
    """
    return compile_typed(infer_types(expression, variables))


def compile_typed(typed: TypedExpression) -> Callable[[Mapping[str, Any]], Any]:
    """Compile an expression whose types are inferred; see ``compile_expression``."""
    names = list_variables(typed.root)
    export = typed.type.kind not in _PLAIN_KINDS
    fast = SourceWriter(typed, names, export=export).compile()
    if any(_absorbs(node) for node in walk_expression(typed.root)):
        return _handle_errors(fast, SourceWriter(typed, names, careful=True, export=export).compile())
    return _handle_errors(fast, None)


def list_variables(expression: Expression) -> frozenset[str]:
    """Return the free names of an expression, those of types included."""
    if isinstance(expression, Identifier):
        return frozenset({expression.name})
    if isinstance(expression, Macro):
        operand, *parts = expression.children
        inner = frozenset[str]().union(*map(list_variables, parts)) - {expression.variable}
        return inner | list_variables(operand)
    return frozenset[str]().union(*map(list_variables, expression.children))


def _absorbs(node: Expression) -> bool:
    if isinstance(node, FunctionCall):
        return node.function in _ABSORBING
    return isinstance(node, Macro) and node.name in CAREFUL_MACROS


def _handle_errors(
    fast: Callable[[Mapping[str, Any]], Any], careful: Callable[[Mapping[str, Any]], Any] | None
) -> Callable[[Mapping[str, Any]], Any]:
    """Return the fast form, with the careful form for errors."""

    def evaluate(variables: Mapping[str, Any]) -> Any:
        try:
            return fast(variables)
        except RuleLimitExceeded:
            raise
        except EVALUATION_ERRORS as error:
            if careful is None:
                raise _evaluation_error(error) from None
        try:
            return careful(variables)
        except EVALUATION_ERRORS as error:
            raise _evaluation_error(error) from None

    return evaluate


def _evaluation_error(error: Exception) -> RuleEvaluationError:
    """Return an error whose message has no data of records.

    Messages of Python's errors may have them, but for those about types and indexes.
    """
    if isinstance(error, RuleEvaluationError):
        return error
    if isinstance(error, KeyError):  # of a name in the expression
        return RuleEvaluationError(f"There is no {error}.")
    if isinstance(error, ZeroDivisionError):
        return RuleEvaluationError("Division by zero.")
    if isinstance(error, (TypeError, AttributeError, IndexError)):
        return RuleEvaluationError(f"{type(error).__name__}: {str(error)[:500]}")
    if isinstance(error, RecursionError):
        return RuleEvaluationError("A value is nested too deeply.")
    return RuleEvaluationError(f"A value is not valid, or out of the range of its type ({type(error).__name__}).")
