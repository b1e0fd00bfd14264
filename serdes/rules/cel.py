"""Executors of rules of the types CEL and CEL_FIELD, and of inline constraints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.rules.compiled_rules import CompiledRule, compile_rule
from contractlog.contracts.rules.evaluation.function_generator import compile_typed
from contractlog.contracts.rules.language.parser import parse_rule
from contractlog.contracts.rules.language.type_checker import infer_types
from contractlog.contracts.rules.language.value_types import DYN, TIMESTAMP
from contractlog.contracts.rules.rule_errors import RuleExpressionError
from contractlog.serdes.errors import RuleError
from contractlog.serdes.rules.context import FieldContext, RuleContext
from contractlog.serdes.rules.executors import FieldRuleExecutor, FieldTransform, RuleExecutor
from contractlog.serdes.rules.inline_rules import ValidationRule

__all__ = ["CelExecutor", "CelFieldExecutor", "CelValidator"]

_MAX_COMPILED: Final = 1_000  #: cached rules


class _CompiledRules:
    """Rules compiled for the schema that they belong to."""

    def __init__(self) -> None:
        self._compiled: BoundedCache[int, tuple[Any, CompiledRule]] = BoundedCache(_MAX_COMPILED)

    def compile(self, rule: Rule, parsed: ParsedSchema | None) -> CompiledRule:
        """Compile a stored rule.

        Raises:
            RuleError: it is not valid.
        """
        if not rule.expr:
            raise RuleError(f"the rule {rule.name} has no expression")
        try:
            return compile_rule(rule, parsed)
        except RuleExpressionError as error:
            raise RuleError(f"its expression is not valid: {error}") from error

    def find(self, ctx: RuleContext, parsed: ParsedSchema | None) -> CompiledRule:
        """Return the rule of a context, which is compiled when it first runs."""
        entry = self._compiled.get(id(ctx.rule))
        if entry is None or entry[0] is not ctx.rule:
            compiled = self.compile(Rule.from_body(ctx.rule.to_dict()), parsed)
            entry = self._compiled.put(id(ctx.rule), (ctx.rule, compiled))
        return entry[1]


class CelExecutor(RuleExecutor):
    """Runs rules of type CEL, whose expressions are about the whole message."""

    def __init__(self) -> None:
        self._rules = _CompiledRules()

    def type(self) -> str:
        """Return ``CEL``."""
        return "CEL"

    def prepare_rule(self, rule: Rule, parsed: ParsedSchema | None) -> None:
        """Check that a rule can be run on the values of a schema.

        Raises:
            RuleError: its expression is not valid.
        """
        self._rules.compile(rule, parsed)

    def transform(self, ctx: RuleContext, message: Any) -> Any:
        """Return the new message; for a condition, whether it is satisfied."""
        compiled = self._rules.find(ctx, getattr(ctx, "parsed_target", None))  # confluent-kafka's contexts have none
        variables = {"message": message}
        is_condition = ctx.rule.kind == "CONDITION"
        if not compiled.passes_guard(variables):
            return True if is_condition else message
        return compiled.is_satisfied(variables) if is_condition else compiled.evaluate(variables)


class CelFieldExecutor(FieldRuleExecutor):
    """Runs rules of type CEL_FIELD, whose expressions are about a field of a primitive type.

    Their variables have no type before they run: ``message`` is the record that has the field, which may be any.
    """

    def __init__(self) -> None:
        self._rules = _CompiledRules()

    def type(self) -> str:
        """Return ``CEL_FIELD``."""
        return "CEL_FIELD"

    def prepare_rule(self, rule: Rule, parsed: ParsedSchema | None) -> None:  # noqa: ARG002 -- the interface's
        """Check that a rule can be run; see ``CelExecutor``."""
        self._rules.compile(rule, None)

    def new_transform(self, ctx: RuleContext) -> FieldTransform:
        """Return the function that evaluates the rule for a field."""
        compiled = self._rules.find(ctx, None)
        is_condition = ctx.rule.kind == "CONDITION"
        run = compiled.is_satisfied if is_condition else compiled.evaluate
        makers = [(name, _FIELD_VARIABLE_VALUES[name]) for name in _FIELD_VARIABLE_VALUES if name in compiled.variables]
        uses_value = "value" in compiled.variables

        def evaluate(_: RuleContext, field: FieldContext, value: Any) -> Any:
            unchanged = True if is_condition else value
            if not field.is_primitive():
                return unchanged
            variables = {name: make(field) for name, make in makers}
            if uses_value:
                variables["value"] = value
            return run(variables) if compiled.passes_guard(variables) else unchanged

        return evaluate


_FIELD_VARIABLE_VALUES: Final[Mapping[str, Callable[[FieldContext], Any]]] = {
    "fullName": lambda field: field.full_name,
    "name": lambda field: field.name,
    "typeName": FieldContext.type_name,
    "tags": lambda field: sorted(field.tags),
    "message": lambda field: field.containing_message,
}


class CelValidator:
    """Evaluates inline constraints, whose expressions are about ``this``."""

    def __init__(self) -> None:
        self._compiled: BoundedCache[str, Callable[[Mapping[str, Any]], Any]] = BoundedCache(_MAX_COMPILED)

    def execute(self, rule: ValidationRule, schema: Any, message: Any) -> bool | str:  # noqa: ARG002 -- the interface's
        """Return true or an empty string if a value satisfies a constraint; else false, or the reason.

        Raises:
            RuleError: the constraint cannot be evaluated.
        """
        if not rule.expr:
            raise RuleError(f"the constraint {rule.name or 'unnamed'} has no expression")
        evaluate = self._compiled.get(rule.expr)
        if evaluate is None:
            evaluate = self._compiled.put(rule.expr, _compile_constraint(rule.expr))
        result = evaluate({"this": message, "now": datetime.now(UTC)})
        if not isinstance(result, (bool, str)):
            raise RuleError(f"it gave {type(result).__name__}, neither a bool nor a string")
        return result


def _compile_constraint(text: str) -> Callable[[Mapping[str, Any]], Any]:
    try:
        _, body = parse_rule(text, with_guard=False)
        return compile_typed(infer_types(body, {"this": DYN, "now": TIMESTAMP}))
    except RuleExpressionError as error:
        raise RuleError(f"the expression is not valid: {error}") from error
