"""Selection of the rules of a schema that audits evaluate, with the reasons against the others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from contractlog.compatibility.data_contract import Rule
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaType
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.rule_counts import RuleDescription
from contractlog.contracts.rules.compiled_rules import RULE_TYPES, CompiledRule, compile_rule
from contractlog.contracts.rules.language.schema_types import record_type
from contractlog.contracts.rules.rule_errors import RuleExpressionError
from contractlog.serdes.json_schema.schema_preparation import shorten_message
from contractlog.serdes.rules.tags import TagPaths
from contractlog.spark_validation.expectations.audit_expectations import ExpectedSchema
from contractlog.spark_validation.rules.changed_fields import find_changed_fields, find_read_fields
from contractlog.spark_validation.rules.condition import FieldCondition, RecordCondition, infer_rule_types
from contractlog.spark_validation.rules.encrypted_values import EncryptedFields
from contractlog.spark_validation.rules.encryption_keys import RuleKeys, is_encryption
from contractlog.spark_validation.rules.field_targets import TargetsUnclear, find_targets
from contractlog.spark_validation.rules.writer_rules import WRITING_MODES, list_writer_rules

__all__ = ["Condition", "SchemaRules", "select_rules"]

MAX_RULES: Final = 100  #: conditions of a schema that are evaluated
_PAYLOAD: Final = "ENCRYPT_PAYLOAD"
_ENCRYPTED_BODY: Final = "the body of the records is encrypted"
Condition: TypeAlias = RecordCondition | FieldCondition


class _NotEvaluated(Exception):
    """A rule that is not evaluated; the message says why."""


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """The rules of a schema that writers have to run."""

    described: tuple[RuleDescription, ...] = ()
    conditions: tuple[tuple[RuleDescription, Condition], ...] = ()  #: those that are evaluated, in order
    encrypted_fields: tuple[EncryptedFields, ...] = ()  #: of the rules whose keys are known
    encrypted_body: tuple[RuleDescription, RuleKeys | None] | None = None  #: keys are None if they are unknown
    parsed: ParsedSchema | None = None  #: None if the schema cannot be used

    @property
    def evaluated(self) -> bool:
        """True if records are checked against a rule."""
        return bool(self.conditions or self.encrypted_fields or self.encrypted_body)


def select_rules(expected: ExpectedSchema) -> SchemaRules:
    """Return the rules of a schema that are enabled on clients and run when records are written."""
    due = list(list_writer_rules(expected.schema.rule_set))
    if not due:
        return SchemaRules()
    return _RuleSelection(expected, due).select()


class _RuleSelection:
    """The selection among the rules that writers of a schema have to run."""

    def __init__(self, expected: ExpectedSchema, due: list[tuple[str, Rule]]) -> None:
        self._expected = expected
        self._due = due
        self._parsed = None if expected.fault else _parse(expected)
        metadata = expected.schema.metadata
        self._tag_paths = TagPaths({} if metadata is None else metadata.tags)
        self._body_encrypted = any(rule.type == _PAYLOAD and is_encryption(rule) for _, rule in due)
        self._conditions: list[tuple[RuleDescription, Condition]] = []
        self._fields: list[EncryptedFields] = []
        self._body: tuple[RuleDescription, RuleKeys | None] | None = None

    def select(self) -> SchemaRules:
        """Return the rules, with the reasons why some are not evaluated."""
        described: list[RuleDescription] = []
        for number, (pointer, rule) in enumerate(self._due):
            name, kind = (escape_line(shorten_message(text or "")) for text in (rule.name, rule.type))
            description = RuleDescription(pointer, name, kind, "")
            try:
                described.append(self._add(description, rule, [later for _, later in self._due[number + 1 :]]))
            except _NotEvaluated as reason:
                described.append(replace(description, reason=escape_line(shorten_message(str(reason)))))
        return SchemaRules(tuple(described), tuple(self._conditions), tuple(self._fields), self._body, self._parsed)

    def _add(self, description: RuleDescription, rule: Rule, later: list[Rule]) -> RuleDescription:
        """Add a rule, and return its description with a sentence.

        Raises:
            _NotEvaluated: the rule is not evaluated.
        """
        if self._parsed is None:
            raise _NotEvaluated("validators cannot use the schema")
        if is_encryption(rule) and (self._body_encrypted or description.pointer in self._expected.keys):
            return self._add_encryption(description, rule)
        if self._body_encrypted:
            raise _NotEvaluated(_ENCRYPTED_BODY)
        if len(self._conditions) >= MAX_RULES:
            raise _NotEvaluated(f"a schema has at most {MAX_RULES} rules that are evaluated")
        compiled, condition = _make_condition(rule, self._expected, self._parsed, later, self._tag_paths)
        complete = replace(description, sentence=escape_line(compiled.sentence))
        self._conditions.append((complete, condition))
        return complete

    def _add_encryption(self, description: RuleDescription, rule: Rule) -> RuleDescription:
        keys = self._expected.keys.get(description.pointer)
        complete = replace(description, sentence=escape_line(shorten_message(_describe_encryption(rule, keys))))
        is_body = rule.type == _PAYLOAD
        if is_body and self._body is None:
            self._body = complete, None if keys is None or keys.reason else keys
        if keys is None or keys.reason:
            raise _NotEvaluated(keys.reason if keys else "its keys are unknown")
        if is_body:
            return complete
        if self._body_encrypted:
            raise _NotEvaluated(_ENCRYPTED_BODY)
        names = find_changed_fields(rule, self._expected.schema, self._expected.referenced)
        self._fields.append(EncryptedFields(complete, keys, names))
        return complete


def _describe_encryption(rule: Rule, keys: RuleKeys | None) -> str:
    tags = ", ".join(f"`{tag}`" for tag in sorted(rule.tags))
    values = "the body" if rule.type == _PAYLOAD else f"fields with the tags {tags}" if tags else "all texts and bytes"
    return f"{values} can be decrypted with a key under the KEK `{keys.kek_name if keys else ''}`"


def _parse(expected: ExpectedSchema) -> ParsedSchema | None:
    try:
        return parse_schema(expected.schema.draft, expected.referenced, strict=False)
    except InvalidSchema:
        return None


def _make_condition(
    rule: Rule, expected: ExpectedSchema, parsed: ParsedSchema, later: list[Rule], tag_paths: TagPaths
) -> tuple[CompiledRule, Condition]:
    """Return the condition of a rule.

    Raises:
        _NotEvaluated: the rule is not evaluated.
    """
    _require_condition(rule)
    try:
        compiled = compile_rule(rule, parsed if rule.type == "CEL" else None)
    except RuleExpressionError as error:
        problem = "uses a construct outside of the subset of CEL" if error.outside_subset else "is not valid"
        raise _NotEvaluated(f"its expression {problem}: {error}") from None
    if "now" in compiled.variables:
        raise _NotEvaluated("it depends on `now`, the time at which the record was written")
    if rule.type == "CEL":
        condition, read = _make_record_condition(compiled, expected.schema, parsed)
    else:
        condition, read = _make_field_condition(rule, compiled, expected.schema, parsed, tag_paths)
    for transform in later:
        if transform.kind == "CONDITION":
            continue
        changed = find_changed_fields(transform, expected.schema, expected.referenced)
        if read is None or changed is None or read & changed:
            raise _NotEvaluated(f"the rule `{transform.name}` changes the record after it")
    return compiled, condition


def _require_condition(rule: Rule) -> None:
    if rule.kind == "TRANSFORM":
        raise _NotEvaluated("it is a transform: the record already is its result")
    if rule.kind != "CONDITION" or rule.mode not in WRITING_MODES:
        raise _NotEvaluated(f"its kind {rule.kind} or mode {rule.mode} is unknown")
    if rule.type not in RULE_TYPES:
        raise _NotEvaluated(f"audits do not evaluate rules of type {rule.type}")
    if not rule.expr:
        raise _NotEvaluated("it has no expression")


def _make_record_condition(
    compiled: CompiledRule, schema: RegisteredSchema, parsed: ParsedSchema
) -> tuple[Condition, frozenset[str] | None]:
    condition = RecordCondition(compiled, parsed, optional=schema.type is SchemaType.JSON)
    return condition, find_read_fields(infer_rule_types(compiled, {"message": record_type(parsed)}))


def _make_field_condition(
    rule: Rule, compiled: CompiledRule, schema: RegisteredSchema, parsed: ParsedSchema, tag_paths: TagPaths
) -> tuple[Condition, frozenset[str] | None]:
    if schema.type is not SchemaType.AVRO:
        raise _NotEvaluated("audits evaluate rules of type CEL_FIELD on Avro records only")
    if "message" in compiled.variables:
        raise _NotEvaluated("audits evaluate no rules of type CEL_FIELD that use `message`")
    try:
        targets = find_targets(rule, parsed, tag_paths)
    except TargetsUnclear as reason:
        raise _NotEvaluated(str(reason)) from None
    return FieldCondition(compiled, targets), frozenset(target.name for target in targets)
