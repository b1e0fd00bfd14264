"""Errors of rule expressions: before they run, with line and column, and while they run."""

from __future__ import annotations

from typing import Any

from contractlog.compatibility.errors import ContractlogError

__all__ = ["RuleEvaluationError", "RuleExpressionError", "RuleLimitExceeded"]


class RuleExpressionError(ContractlogError):
    """An expression has a syntax error, a type error, or a construct outside of the subset of CEL.

    Attributes:
        line: line of the expression, from 1.
        column: column in the line, in characters from 1.
        outside_subset: true if the construct may be valid elsewhere, but is not implemented here.
    """

    def __init__(self, message: str, line: int = 1, column: int = 1, *, outside_subset: bool = False) -> None:
        super().__init__(message, line=line, column=column, outside_subset=outside_subset)

    def __str__(self) -> str:
        return f"{self.message} (line {self.facts['line']}, column {self.facts['column']})"


class RuleEvaluationError(ContractlogError):
    """The evaluation of an expression failed: a missing key, an overflow, an operand of the wrong type."""

    def __init__(self, message: str, /, **facts: Any) -> None:
        super().__init__(message, **facts)


class RuleLimitExceeded(RuleEvaluationError):
    """The evaluation needed more steps or memory than it may use; no operator absorbs this error."""
