"""Conditions over the records of a batch: by kernels, or per record where columns lack the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa

from contractlog.compatibility.schema import ParsedSchema
from contractlog.contracts.rules.compiled_rules import CompiledRule
from contractlog.contracts.rules.evaluation.function_generator import list_variables
from contractlog.contracts.rules.language.schema_types import record_type
from contractlog.contracts.rules.language.type_checker import TypedExpression, infer_types
from contractlog.contracts.rules.language.value_types import STRING, ValueType, list_of
from contractlog.contracts.rules.rule_errors import RuleEvaluationError, RuleExpressionError
from contractlog.spark_validation.columnar.validator_results import ColumnPiece
from contractlog.spark_validation.rules.field_targets import FieldTarget
from contractlog.spark_validation.rules.kernel import Kernel, compile_kernel
from contractlog.spark_validation.rules.record_columns import RecordColumns, make_element_columns
from contractlog.spark_validation.rules.rule_batch import RuleBatch, RuleResult
from contractlog.spark_validation.rules.vectors import Mask, NotColumnar

__all__ = ["FieldCondition", "RecordCondition", "infer_rule_types"]

_NO_CONSTANTS: Final[Mapping[str, Any]] = {}


def infer_rule_types(rule: CompiledRule, variables: Mapping[str, ValueType]) -> list[TypedExpression]:
    """Return the guard, if any, and the body of a rule with their types."""
    return [infer_types(part, variables) for part in (rule.guard, rule.body) if part is not None]


@dataclass(frozen=True, slots=True)
class _Kernels:
    """The kernels of a condition: of the guard, if any, and of the body."""

    parts: Sequence[Kernel]

    @classmethod
    def compile(
        cls, typed: Sequence[TypedExpression], root: str, constants: Mapping[str, Any], *, optional: bool
    ) -> _Kernels | None:
        """Compile the parts of a condition; None if kernels do not have an operation of it."""
        try:
            return cls([compile_kernel(part, root=root, constants=constants, optional=optional) for part in typed])
        except NotColumnar:
            return None

    def evaluate(self, columns: RecordColumns) -> tuple[Mask, Mask]:
        """Return the records that satisfy the condition, and those on which it fails.

        Raises:
            NotColumnar: these columns cannot have the result.
        """
        *guards, body = [kernel.evaluate(columns) for kernel in self.parts]
        true, failed = body
        for applies, guard_failed in guards:
            failed = guard_failed | (applies & failed)
            true = ~failed & (~applies | true)
        return true, failed


def _satisfies(rule: CompiledRule, variables: Mapping[str, Any]) -> bool | None:
    """Return whether a rule is satisfied; None if its evaluation fails."""
    try:
        return not rule.passes_guard(variables) or rule.is_satisfied(variables)
    except RuleEvaluationError:
        return None


class RecordCondition:
    """A rule of type CEL.

    Args:
        rule: the compiled rule.
        schema: the schema of its records.
        optional: whether records may lack fields, as in JSON.
    """

    def __init__(self, rule: CompiledRule, schema: ParsedSchema, *, optional: bool) -> None:
        self._rule = rule
        typed = infer_rule_types(rule, {"message": record_type(schema)})
        self._kernels = _Kernels.compile(typed, "message", _NO_CONSTANTS, optional=optional)

    @property
    def reads_columns(self) -> bool:
        """True if the condition may be evaluated by columns."""
        return self._kernels is not None

    def evaluate(self, batch: RuleBatch) -> RuleResult:
        """Evaluate the condition on the conforming records of a batch."""
        if self._kernels is not None:
            try:
                true, failed = self._kernels.evaluate(batch.columns)
            except NotColumnar:
                pass
            else:
                return RuleResult(batch.conforming & ~true, batch.conforming & failed)
        return self._evaluate_each(batch)

    def _evaluate_each(self, batch: RuleBatch) -> RuleResult:
        result = RuleResult(np.zeros(batch.size, np.bool_), np.zeros(batch.size, np.bool_))
        for row, value in batch.decode_records():
            if isinstance(value, Exception):
                result.undecoded += 1
                continue
            result.per_record += 1
            satisfied = _satisfies(self._rule, {"message": value})
            result.broken[row] = satisfied is not True
            result.failed[row] = satisfied is None
        return result


class _TargetCondition:
    """A rule of type CEL_FIELD for one field."""

    def __init__(self, rule: CompiledRule, target: FieldTarget) -> None:
        self.target = target
        self._rule = rule
        self._constants = {
            "name": target.name,
            "fullName": target.full_name,
            "typeName": target.type_name,
            "tags": sorted(target.tags),
        }
        self.applies = _may_apply(rule, self._constants)
        types = {"name": STRING, "fullName": STRING, "typeName": STRING, "tags": list_of(STRING), "value": target.type}
        try:
            typed = infer_rule_types(rule, types)
        except RuleExpressionError:  # the rule does not fit the type: its evaluation may fail for each value
            self.kernels = None
        else:
            self.kernels = _Kernels.compile(typed, "value", self._constants, optional=False)

    def evaluate(self, values: pa.Array[Any]) -> tuple[Mask, Mask, bool]:
        """Return values that satisfy the rule, those on which it fails, and whether by columns."""
        if self.kernels is not None:
            try:
                return *self.kernels.evaluate(make_element_columns(values)), True
            except NotColumnar:
                pass
        results = [_satisfies(self._rule, {**self._constants, "value": value}) for value in self.target.decode(values)]
        return np.array([each is True for each in results]), np.array([each is None for each in results]), False


def _may_apply(rule: CompiledRule, constants: Mapping[str, Any]) -> bool:
    """Return false if the guard of a rule is false whatever the value."""
    if rule.guard is None or "value" in list_variables(rule.guard):
        return True
    try:
        return rule.passes_guard(constants)
    except RuleEvaluationError:
        return True


class FieldCondition:
    """A rule of type CEL_FIELD, evaluated on each value of its fields but nulls."""

    reads_columns = True  #: decoded records do not say of which type their values are

    def __init__(self, rule: CompiledRule, targets: Sequence[FieldTarget]) -> None:
        conditions = [_TargetCondition(rule, target) for target in targets]
        self._conditions = [condition for condition in conditions if condition.applies]

    def evaluate(self, batch: RuleBatch) -> RuleResult:
        """Evaluate the condition on the conforming records of a batch."""
        result = RuleResult(np.zeros(batch.size, np.bool_), np.zeros(batch.size, np.bool_))
        one_by_one = np.zeros(batch.size, np.bool_)
        for condition in self._conditions:
            for piece in batch.pieces:
                if piece.field == condition.target.path and condition.target.accepts(piece.values.type):
                    self._add(result, one_by_one, condition, piece)
        result.per_record = int((one_by_one & batch.conforming).sum())
        return result

    @staticmethod
    def _add(result: RuleResult, one_by_one: Mask, condition: _TargetCondition, piece: ColumnPiece) -> None:
        true, failed, by_columns = condition.evaluate(piece.values)
        rows = piece.rows[~true]
        result.broken[rows] = True
        result.failed[piece.rows[failed]] = True
        if not by_columns:
            one_by_one[piece.rows] = True
        for row in np.unique(rows).tolist():
            result.fields.setdefault(row, condition.target.path)
