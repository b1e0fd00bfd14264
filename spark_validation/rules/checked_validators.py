"""Validators that also check the conforming records against the rules of their schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.schema import ParsedSchema, SchemaType
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.rule_counts import RuleCounts, RuleDescription, RuleKey
from contractlog.serdes.avro.readers_and_writers import AvroReader
from contractlog.serdes.json_schema.exact_json import read_document
from contractlog.spark_validation.columnar.arrow import from_numpy
from contractlog.spark_validation.columnar.record_text import RenderedBody
from contractlog.spark_validation.columnar.validator_results import ColumnPiece, RecordOutcomes, Validator
from contractlog.spark_validation.expectations.audit_expectations import ExpectedSchema, ValidatorCache
from contractlog.spark_validation.rules.encrypted_values import EncryptedBodyValidator, describe_missing_key
from contractlog.spark_validation.rules.rule_batch import RuleBatch, RuleResult
from contractlog.spark_validation.rules.rule_selection import SchemaRules, select_rules
from contractlog.spark_validation.rules.vectors import Mask

__all__ = ["RuleCheckedValidators", "describe_rules"]


def describe_rules(
    schemas: Mapping[int, ExpectedSchema], schema_ids: Iterable[int]
) -> dict[int, tuple[RuleDescription, ...]]:
    """Return the rules of those of these schemas that have any, by schema id."""
    described = {
        schema_id: select_rules(schemas[schema_id]).described for schema_id in schema_ids if schema_id in schemas
    }
    return {schema_id: rules for schema_id, rules in described.items() if rules}


class RuleCheckedValidators(Mapping[int, Validator]):
    """Validators of the registry's ids; those of schemas with conditions evaluate and count these.

    Args:
        validators: the validators of schemas alone.
        schemas: the schemas, with their rules.
        subjects_of: returns the subjects with which records were written under an id.
    """

    def __init__(
        self,
        validators: ValidatorCache,
        schemas: Mapping[int, ExpectedSchema],
        subjects_of: Callable[[int], Collection[str]],
    ) -> None:
        self._validators = validators
        self._schemas = schemas
        self._subjects_of = subjects_of
        self._checked: dict[int, Validator] = {}

    def __getitem__(self, schema_id: int) -> Validator:
        if schema_id not in self._checked:
            self._checked[schema_id] = self._make_validator(schema_id)
        return self._checked[schema_id]

    def _make_validator(self, schema_id: int) -> Validator:
        rules = select_rules(self._schemas[schema_id])
        if not rules.evaluated:
            return self._validators[schema_id]
        subjects = self._subjects_of(schema_id)
        if rules.encrypted_body is not None:
            return EncryptedBodyValidator(*rules.encrypted_body, subjects)
        return _RuleCheckedValidator(self._validators[schema_id], rules, subjects)

    def __contains__(self, schema_id: object) -> bool:
        return schema_id in self._validators

    def __iter__(self) -> Iterator[int]:
        return iter(self._validators)

    def __len__(self) -> int:
        return len(self._validators)

    def count_rules(self, topic: str, part: str) -> dict[RuleKey, RuleCounts]:
        """Return the counts of all records that were validated so far."""
        return {
            RuleKey(topic, part, schema_id, pointer): counts
            for schema_id, validator in self._checked.items()
            if isinstance(validator, _RuleCheckedValidator | EncryptedBodyValidator)
            for pointer, counts in validator.counts.items()
        }


@dataclass
class _RuleCheckedValidator:
    """A validator of a schema with its rules."""

    validator: Validator
    rules: SchemaRules
    subjects: Collection[str]  #: with which records were written
    counts: dict[str, RuleCounts] = field(default_factory=dict)  #: by pointer of the rule

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate records, then give outcomes to those that conform and cannot be decrypted, or break a rule."""
        by_columns = any(condition.reads_columns for _, condition in self.rules.conditions)
        by_columns = by_columns or bool(self.rules.encrypted_fields)
        outcomes = self.validator.validate(data, starts, ends, columns=columns or by_columns)
        conforming = outcomes.codes == Outcome.CONFORMS
        if not conforming.any():
            return outcomes
        decode, optional = self._decoder
        batch = RuleBatch(conforming, outcomes.pieces, data, starts, ends, decode, optional)
        for fields in self.rules.encrypted_fields:
            result = fields.evaluate(batch, self.subjects)
            self._count(fields.rule, result, int(conforming.sum()))
            detail = describe_missing_key(fields.rule, fields.keys)
            _add_broken(outcomes, fields.rule, result, Outcome.UNDECRYPTABLE, detail)
        for rule, condition in self.rules.conditions:
            result = condition.evaluate(batch)
            self._count(rule, result, int(conforming.sum()))
            _add_broken(outcomes, rule, result, Outcome.RULE_BROKEN, f"rule `{rule.name}`: {rule.sentence}")
        if not columns:
            outcomes.pieces.clear()
        elif (broken := conforming & (outcomes.codes != Outcome.CONFORMS)).any():
            outcomes.pieces[:] = [_select_values(piece, broken) for piece in outcomes.pieces]
        return outcomes

    def render(self, body: bytes, *, show: bool) -> RenderedBody:
        """Return the text of a body, with masked values unless they may be shown."""
        return self.validator.render(body, show=show)

    @cached_property
    def _decoder(self) -> tuple[Callable[[bytes], Any], bool]:
        """The function that decodes a body, and whether records may lack fields."""
        parsed = self.rules.parsed
        if not isinstance(parsed, ParsedSchema) or parsed.type is SchemaType.JSON:
            return read_document, True
        return AvroReader(parsed).decode, False

    def _count(self, rule: RuleDescription, result: RuleResult, records: int) -> None:
        counts = RuleCounts(
            records - result.undecoded,
            int(result.broken.sum()),
            int(result.failed.sum()),
            result.per_record,
            result.undecoded,
        )
        self.counts[rule.pointer] = self.counts.get(rule.pointer, RuleCounts()).merge(counts)


def _add_broken(
    outcomes: RecordOutcomes, rule: RuleDescription, result: RuleResult, outcome: Outcome, detail: str
) -> None:
    """Set the outcome of the records that break a rule and none before, with one text for all."""
    paths: dict[str, int] = {}
    for row in np.flatnonzero(result.broken & (outcomes.codes == Outcome.CONFORMS)).tolist():
        path = result.fields.get(row, "")
        if path not in paths:
            paths[path] = len(outcomes.table)
            outcomes.table.append((rule.pointer, path))
        outcomes.codes[row] = outcome
        outcomes.paths[row] = paths[path]
        outcomes.details[row] = detail


def _select_values(piece: ColumnPiece, broken: Mask) -> ColumnPiece:
    """Return the values of records that break no rule."""
    valid = ~broken[piece.rows]
    if valid.all():
        return piece
    values = piece.values.filter(from_numpy(valid))
    return ColumnPiece(piece.field, piece.rows[valid], piece.order[valid], values)
