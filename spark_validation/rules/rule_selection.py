"""Selection of the rules of a schema that audits evaluate, with the reasons against the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaType
from contractlog.compatibility.terminal_text import escape_line
from contractlog.contracts.audit.rule_counts import RuleDescription
from contractlog.contracts.rules.compiled_rules import RULE_TYPES, CompiledRule, compile_rule
from contractlog.contracts.rules.language.schema_types import record_type
from contractlog.contracts.rules.rule_errors import RuleExpressionError
from contractlog.serdes.json_schema.schema_preparation import shorten_message
from contractlog.serdes.rules.tags import TagPaths
from contractlog.spark_validation.expectations import ExpectedSchema
from contractlog.spark_validation.rules.changed_fields import find_changed_fields, find_read_fields
from contractlog.spark_validation.rules.condition import FieldCondition, RecordCondition, infer_rule_types
from contractlog.spark_validation.rules.field_targets import TargetsUnclear, find_targets

__all__ = ["Condition", "SchemaRules", "select_rules"]

MAX_RULES: Final = 100  #: of a schema that are evaluated
_CLIENT_SIDE: Final = frozenset({None, "ALL", "CLIENT"})
_WRITING: Final = frozenset({"WRITE", "WRITEREAD"})
_MODES: Final = _WRITING | {"READ", "UPGRADE", "DOWNGRADE", "UPDOWN"}
Condition: TypeAlias = RecordCondition | FieldCondition


class _NotEvaluated(Exception):
    """A rule that is not evaluated; the message says why."""


@dataclass(frozen=True, slots=True)
class SchemaRules:
    """The rules of a schema that writers have to run."""

    described: tuple[RuleDescription, ...] = ()
    conditions: tuple[tuple[RuleDescription, Condition], ...] = ()  #: those that are evaluated, in order
    parsed: ParsedSchema | None = None  #: None if there are no conditions


def select_rules(expected: ExpectedSchema) -> SchemaRules:
    """Return the rules of a schema that are enabled on clients and run when records are written."""
    rule_set = expected.schema.rule_set
    if rule_set is None or rule_set.enable_at not in _CLIENT_SIDE:
        return SchemaRules()
    due = list(_list_due_rules(rule_set))
    if not due:
        return SchemaRules()
    parsed = None if expected.fault else _parse(expected)
    metadata = expected.schema.metadata
    tag_paths = TagPaths({} if metadata is None else metadata.tags)
    described: list[RuleDescription] = []
    conditions: list[tuple[RuleDescription, Condition]] = []
    for number, (pointer, rule) in enumerate(due):
        name, kind = (escape_line(shorten_message(text or "")) for text in (rule.name, rule.type))
        try:
            if parsed is None:
                raise _NotEvaluated("validators cannot use the schema")  # noqa: TRY301 -- as all reasons
            if len(conditions) >= MAX_RULES:
                raise _NotEvaluated(f"a schema has at most {MAX_RULES} rules that are evaluated")  # noqa: TRY301
            compiled, condition = _make_condition(
                rule, expected, parsed, [later for _, later in due[number + 1 :]], tag_paths
            )
        except _NotEvaluated as reason:
            described.append(RuleDescription(pointer, name, kind, "", escape_line(shorten_message(str(reason)))))
            continue
        description = RuleDescription(pointer, name, kind, escape_line(compiled.sentence))
        described.append(description)
        conditions.append((description, condition))
    return SchemaRules(tuple(described), tuple(conditions), parsed if conditions else None)


def _parse(expected: ExpectedSchema) -> ParsedSchema | None:
    try:
        return parse_schema(expected.schema.draft, expected.referenced, strict=False)
    except InvalidSchema:
        return None


def _list_due_rules(rule_set: RuleSet) -> Iterator[tuple[str, Rule]]:
    """Yield the rules that writers have to run, in order, each with its JSON Pointer."""
    for phase, rules in (("domainRules", rule_set.domain_rules), ("encodingRules", rule_set.encoding_rules)):
        for number, rule in enumerate(rules):
            if not rule.disabled and (rule.mode in _WRITING or rule.mode not in _MODES):
                yield f"/ruleSet/{phase}/{number}", rule


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
    if rule.kind != "CONDITION" or rule.mode not in _WRITING:
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
