"""Rules of data contracts, compiled against a schema: what executors run and what registration checks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.rules.expressions import Expression
from contractlog.contracts.rules.value_types import ValueType

__all__ = ["GUARD_PARAMETER", "CompiledRule", "RuleProblem", "check_rule_set", "compile_rule"]

GUARD_PARAMETER: Final = "cel.ignore.guard.separator"
"""Rule parameter: if ``true``, a semicolon does not separate a guard from the body."""


@dataclass(frozen=True, slots=True)
class CompiledRule:
    """A rule of type CEL or CEL_FIELD, ready to run. It has no state and may be used by many threads.

    Variables of CEL: ``message``, ``now``. Variables of CEL_FIELD: ``value``, ``fullName``, ``name``, ``typeName``,
    ``tags`` (a list), ``message``, ``now``. Only those in ``variables`` need to be passed; ``now`` is the time of the
    evaluation if it is not passed.
    """

    text: str
    guard: Expression | None
    body: Expression
    type: ValueType  #: of the body
    sentence: str  #: the rule in English
    variables: frozenset[str]  #: the variables that guard and body use
    run_guard: Callable[[Mapping[str, Any]], Any] | None = field(repr=False)
    run_body: Callable[[Mapping[str, Any]], Any] = field(repr=False)

    def passes_guard(self, variables: Mapping[str, Any]) -> bool:
        """Return true if the rule applies: it has no guard, or the guard is true.

        Raises:
            RuleEvaluationError: the guard cannot be evaluated.
        """
        raise NotImplementedError

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """Return the value of the body, without a look at the guard: a bool for a condition.

        Raises:
            RuleEvaluationError: the body cannot be evaluated.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A problem of a rule, seen before it runs."""

    rule: str  #: name of the rule
    message: str
    line: int
    column: int
    severity: Literal["error", "warning"]  #: a warning if the construct is outside of the subset of CEL


def compile_rule(rule: Rule, schema: ParsedSchema | None) -> CompiledRule:
    """Compile a rule of type CEL or CEL_FIELD; without a schema, types are known only when it runs.

    Raises:
        RuleExpressionError: the expression is not valid, or a construct is outside of the subset.
    """
    raise NotImplementedError


def check_rule_set(rule_set: RuleSet, schema: ParsedSchema) -> list[RuleProblem]:
    """Check every enabled CEL and CEL_FIELD rule against the schema; other types of rules are not looked at."""
    raise NotImplementedError
