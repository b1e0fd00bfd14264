"""Rules of data contracts, compiled against a schema: what executors run and what registration checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.rules.evaluation.function_generator import compile_typed, list_variables
from contractlog.contracts.rules.functions.operators import to_bool
from contractlog.contracts.rules.language.expressions import Expression
from contractlog.contracts.rules.language.parser import MAX_TEXT_LENGTH, parse_rule
from contractlog.contracts.rules.language.schema_types import record_type
from contractlog.contracts.rules.language.type_checker import TypedExpression, infer_types
from contractlog.contracts.rules.language.value_types import DYN, STRING, TIMESTAMP, ValueKind, ValueType, list_of
from contractlog.contracts.rules.rule_errors import RuleExpressionError
from contractlog.contracts.rules.sentences import describe_rule

__all__ = [
    "FIELD_VARIABLES",
    "GUARD_PARAMETER",
    "MAX_CHECKED_CHARACTERS",
    "RULE_TYPES",
    "CompiledRule",
    "RuleProblem",
    "check_rule_set",
    "compile_rule",
    "count_rule_characters",
    "find_rule_error",
]

GUARD_PARAMETER: Final = "cel.ignore.guard.separator"
"""Rule parameter: if ``true``, a semicolon does not separate a guard from the body."""

RULE_TYPES: Final = frozenset({"CEL", "CEL_FIELD"})
"""Types of rules whose expressions are of this language."""

FIELD_VARIABLES: Final[Mapping[str, ValueType]] = {
    "fullName": STRING,
    "name": STRING,
    "typeName": STRING,
    "tags": list_of(STRING),
    "now": TIMESTAMP,
}
"""Variables of CEL_FIELD beside ``message`` and ``value``; serializers compute them in ``serdes/rules/cel.py``."""


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
            RuleEvaluationError: the guard cannot be evaluated, or is not a bool.
        """
        return self.run_guard is None or to_bool(self._run(self.run_guard, variables))

    def is_satisfied(self, variables: Mapping[str, Any]) -> bool:
        """Return the value of the body of a condition, without evaluating the guard.

        Raises:
            RuleEvaluationError: the body cannot be evaluated, or is not a bool.
        """
        return to_bool(self._run(self.run_body, variables))

    def evaluate(self, variables: Mapping[str, Any]) -> Any:
        """Return the value of the body, without evaluating the guard; see ``is_satisfied`` for a condition.

        Raises:
            RuleEvaluationError: the body cannot be evaluated.
        """
        return self._run(self.run_body, variables)

    def _run(self, run: Callable[[Mapping[str, Any]], Any], variables: Mapping[str, Any]) -> Any:
        if "now" in self.variables and "now" not in variables:
            variables = {**variables, "now": datetime.now(UTC)}
        return run(variables)


#: Characters of all checked expressions of a rule set: a request must not hold a core for longer than a second.
MAX_CHECKED_CHARACTERS: Final = 100_000


@dataclass(frozen=True, slots=True)
class RuleProblem:
    """A problem of a rule, seen before it runs."""

    rule: str  #: name of the rule
    message: str
    line: int
    column: int
    severity: Literal["error", "warning"]  #: a warning if the construct is outside of the subset of CEL

    def __str__(self) -> str:
        message = self.message.removesuffix(".")
        return f"rule {self.rule}: {message} (line {self.line}, column {self.column})"


def compile_rule(rule: Rule, schema: ParsedSchema | None, *, value: ValueType = DYN) -> CompiledRule:
    """Compile a rule of type CEL or CEL_FIELD; without a schema, types are known only when it runs.

    Args:
        rule: the rule; its type, kind, expression and parameters are used.
        schema: the schema of ``message``.
        value: the type of ``value`` in a rule of type CEL_FIELD, if all fields that it is run for have this type.

    Raises:
        RuleExpressionError: the expression is not valid, or a construct is outside of the subset.
    """
    text = rule.expr or ""
    guard, body = parse_rule(text, with_guard=_has_guard(rule))
    variables = _variable_types(rule, DYN if schema is None else record_type(schema), value)
    typed_guard, typed_body = _infer(rule, guard, body, variables)
    names = list_variables(body) | (frozenset() if guard is None else list_variables(guard))
    return CompiledRule(
        text,
        guard,
        body,
        typed_body.type,
        describe_rule(guard, body),
        names & variables.keys(),
        None if typed_guard is None else compile_typed(typed_guard),
        compile_typed(typed_body),
    )


def check_rule_set(rule_set: RuleSet, schema: ParsedSchema | None) -> list[RuleProblem]:
    """Check the enabled rules of type CEL and CEL_FIELD against the schema.

    Without a schema, report only errors that no schema could avoid.
    The records of migration and encoding rules are not those of the schema, so the types of their fields are unknown.
    The check ends with an error at the rule with which all expressions together are longer than
    ``MAX_CHECKED_CHARACTERS``.
    """
    return list(_find_problems(rule_set, schema, warnings=True))


def find_rule_error(rule_set: RuleSet, schema: ParsedSchema | None) -> RuleProblem | None:
    """Return the first error of ``check_rule_set``; None if there are only warnings."""
    problems = _find_problems(rule_set, schema, warnings=False)
    return next((problem for problem in problems if problem.severity == "error"), None)


def _find_problems(rule_set: RuleSet, schema: ParsedSchema | None, *, warnings: bool) -> Iterator[RuleProblem]:
    others = (*rule_set.migration_rules, *rule_set.encoding_rules)
    messages = [(rule, DYN) for rule in others if _is_checked(rule)]
    domain = list(filter(_is_checked, rule_set.domain_rules))
    if domain:
        message = DYN if schema is None else record_type(schema)
        messages += [(rule, message) for rule in domain]
    left = MAX_CHECKED_CHARACTERS
    for rule, message in messages:
        left -= _count_checked_characters(rule)
        if left < 0:
            problem = f"With this rule, the expressions have more than {MAX_CHECKED_CHARACTERS:,} characters"
            yield RuleProblem(rule.name, problem, 1, 1, "error")
            return
        yield from _check_rule(rule, _variable_types(rule, message), warnings=warnings)


def count_rule_characters(rule_set: RuleSet) -> int:
    """Return the length of all expressions that ``check_rule_set`` parses."""
    rules = (*rule_set.migration_rules, *rule_set.domain_rules, *rule_set.encoding_rules)
    return min(MAX_CHECKED_CHARACTERS, sum(map(_count_checked_characters, filter(_is_checked, rules))))


def _count_checked_characters(rule: Rule) -> int:
    """Return the length of an expression; one that is rejected unread counts nothing."""
    length = len(rule.expr or "")
    return length if length <= MAX_TEXT_LENGTH else 0


def _is_checked(rule: Rule) -> bool:
    return rule.type in RULE_TYPES and not rule.disabled


def _check_rule(rule: Rule, variables: Mapping[str, ValueType], *, warnings: bool) -> Iterator[RuleProblem]:
    if not rule.expr:
        yield RuleProblem(rule.name, "The rule has no expression, so it has no effect.", 1, 1, "warning")
        return
    try:
        guard, body = parse_rule(rule.expr, with_guard=_has_guard(rule))
        typed = _infer(rule, guard, body, variables)
    except RuleExpressionError as error:
        severity: Literal["error", "warning"] = "warning" if error.outside_subset else "error"
        yield RuleProblem(rule.name, error.message, error.line, error.column, severity)
        return
    for part in typed if warnings else ():
        for describe in () if part is None else part.doubts:
            doubt = describe()
            yield RuleProblem(rule.name, doubt.message, doubt.line, doubt.column, "warning")


def _has_guard(rule: Rule) -> bool:
    return rule.params.get(GUARD_PARAMETER, "").lower() != "true"


def _infer(
    rule: Rule, guard: Expression | None, body: Expression, variables: Mapping[str, ValueType]
) -> tuple[TypedExpression | None, TypedExpression]:
    """Infer the types of guard and body; a guard yields a bool, and so does the body of a condition."""
    typed_guard = None if guard is None else infer_types(guard, variables)
    typed_body = infer_types(body, variables)
    conditions = [("A guard", typed_guard)] + ([("A condition", typed_body)] if rule.kind == "CONDITION" else [])
    for subject, part in conditions:
        if part is not None and part.type.kind not in {ValueKind.BOOL, ValueKind.DYN}:
            at = part.root.at
            raise RuleExpressionError(f"{subject} must be a bool, not {part.type}.", at.line, at.column)
    return typed_guard, typed_body


def _variable_types(rule: Rule, message: ValueType, value: ValueType = DYN) -> Mapping[str, ValueType]:
    if rule.type == "CEL_FIELD":
        # ``message`` is the record that contains the field, which may be nested at any depth.
        return {"message": DYN, "value": value, **FIELD_VARIABLES}
    return {"message": message, "now": TIMESTAMP}
