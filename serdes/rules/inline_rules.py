"""Inline constraints of a schema: ``confluent:rules`` of its records and fields, checked on writing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Protocol

from contractlog.serdes.errors import RuleError, RuleFailed

if TYPE_CHECKING:
    from contractlog.serdes.rules.original_record import OriginalRecord
    from contractlog.serdes.rules.work import Work

__all__ = [
    "InlineRuleSettings",
    "InlineRules",
    "ValidationRule",
    "ValidationRuleError",
    "ValidationRulesExecution",
    "Violations",
    "read_validation_rules",
]

_KEYWORD: Final = "confluent:rules"
_MAX_VIOLATIONS: Final = 100  #: that an error lists


class ValidationRulesExecution(StrEnum):
    """Time at which inline constraints are checked, as in confluent-kafka."""

    DISABLED = "DISABLED"
    BEFORE_DOMAIN_RULES = "BEFORE_DOMAIN_RULES"
    AFTER_DOMAIN_RULES = "AFTER_DOMAIN_RULES"


@dataclass(frozen=True, slots=True)
class ValidationRule:
    """An inline constraint, with confluent-kafka's attributes."""

    name: str | None = None
    doc: str | None = None
    expr: str | None = None
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class ValidationRuleError:
    """A violation of an inline constraint, with confluent-kafka's attributes and text."""

    rule: ValidationRule
    field_path: str = ""
    message: str | None = None  #: that the constraint itself gave
    cause: Exception | None = None

    def __str__(self) -> str:
        detail = self.message or self.rule.doc or self.rule.sql or self.rule.expr
        cause = "" if self.cause is None else f" (caused by: {self.cause})"
        return f"{self.field_path or '<root>'}: {self.rule.name or 'unnamed'}: {detail}{cause}"


class ValidationRuleExecutor(Protocol):
    """Evaluation of inline constraints; confluent-kafka's executors are accepted."""

    def execute(self, rule: ValidationRule, schema: Any, message: Any) -> bool | str:
        """Return true or an empty string if a value satisfies a constraint; else false, or the reason."""


@dataclass(frozen=True, slots=True)
class InlineRuleSettings:
    """Settings of inline constraints."""

    execution: ValidationRulesExecution = ValidationRulesExecution.DISABLED
    fail_fast: bool = False  #: stop at the first violation
    executor: Any | None = None  #: None: CEL


#: Yields each constraint that applies to a value, with the schema and value that it is about, and the path.
Constraints = Callable[[Any], Iterator[tuple[ValidationRule, Any, Any, str]]]


class Violations:
    """Evaluation of constraints."""

    def __init__(self, executor: ValidationRuleExecutor, *, fail_fast: bool) -> None:
        self._executor = executor
        self._fail_fast = fail_fast

    def list(self, constraints: Iterator[tuple[ValidationRule, Any, Any, str]]) -> list[ValidationRuleError]:
        """Return the violations, at most as many as an error lists."""
        violations: list[ValidationRuleError] = []
        for rule, schema, value, path in constraints:
            violation = self._evaluate(rule, schema, value, path)
            if violation is not None:
                violations.append(violation)
                if self._fail_fast or len(violations) == _MAX_VIOLATIONS:
                    break
        return violations

    def _evaluate(self, rule: ValidationRule, schema: Any, value: Any, path: str) -> ValidationRuleError | None:
        try:
            result: Any = self._executor.execute(rule, schema, value)
        except Exception as error:  # noqa: BLE001 -- a constraint that cannot be evaluated is violated
            return ValidationRuleError(rule, path, None, error)
        if isinstance(result, bool):
            return None if result else ValidationRuleError(rule, path)
        if isinstance(result, str):
            return ValidationRuleError(rule, path, result) if result else None
        return ValidationRuleError(rule, path, None, RuleError(f"it gave {type(result).__name__}, no bool or string"))


@dataclass(frozen=True, slots=True)
class InlineRules:
    """The inline constraints of a schema, as a step of serialization."""

    constraints: Constraints
    violations: Violations

    def run(self, message: Any, original: OriginalRecord) -> Work[Any]:  # noqa: ARG002 -- the interface's
        """Check a value, and return it.

        Raises:
            RuleFailed: it violates constraints; ``violations`` lists them.
        """
        violations = self.violations.list(self.constraints(message))
        if violations:
            count = len(violations)
            lines = "".join(f"\n  - {violation}" for violation in violations)
            raise RuleFailed(
                reason=f"Validation rule failed ({count} violation{'' if count == 1 else 's'}):{lines}",
                rule=violations[0].rule.name,
                mode="WRITE",
                violations=tuple(map(str, violations)),
            )
        yield from ()
        return message


def read_validation_rules(element: Mapping[str, Any]) -> list[ValidationRule]:
    """Return the inline constraints of an element; malformed ones are ignored, as in the reference."""
    entries = element.get(_KEYWORD)
    if not isinstance(entries, list):
        return []
    members = ("name", "doc", "expr", "sql")
    return [
        ValidationRule(*(entry.get(name) if isinstance(entry.get(name), str) else None for name in members))
        for entry in entries
        if isinstance(entry, dict)
    ]
