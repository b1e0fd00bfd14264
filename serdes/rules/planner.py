"""Plans for schemas with rules: the sequences of rules around the codec of a schema."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.rules.due_rules import RuleDirection, RulePhaseName, has_due_rules
from contractlog.serdes.rules.field_rules import FieldRules
from contractlog.serdes.rules.inline_rules import (
    InlineRules,
    InlineRuleSettings,
    ValidationRulesExecution,
    Violations,
)
from contractlog.serdes.rules.migrations import plan_migrations
from contractlog.serdes.rules.pipeline import MessageRules, ReadRules, WriteRules
from contractlog.serdes.source_requests import Steps

if TYPE_CHECKING:
    from contractlog.serdes.read_planner import ReaderFormat
    from contractlog.serdes.rules.rule_sequence import RuleSequence
    from contractlog.serdes.write_planner import WriterFormat

__all__ = ["RuledSchema", "plan_read_rules", "plan_write_rules"]


@dataclass(frozen=True, slots=True)
class RuledSchema:
    """A schema whose rules apply to values."""

    draft: SchemaDraft
    parsed: ParsedSchema
    subject: str | None
    registered: RegisteredSchema | None = None  #: if it was requested from the registry

    def inherit_rules(self, writer: RuledSchema, form: ReaderFormat) -> RuledSchema:
        """Return the schema with the rules and tags of the writer schema, unless it has rules of its own.

        Inline tags become tags by path, so that fields are found whose tags a reader schema leaves out.
        """
        rule_set = writer.draft.rule_set
        if self.draft.rule_set is not None or rule_set is None:
            return self
        metadata = self.draft.metadata or writer.draft.metadata or Metadata()
        inline = form.field_rules(writer.parsed, None).inline_tags or {}
        tags = {path: (*metadata.tags.get(path, ()), *inline.get(path, ())) for path in {*metadata.tags, *inline}}
        draft = replace(self.draft, rule_set=rule_set, metadata=replace(metadata, tags=tags))
        return replace(self, draft=draft)


def plan_write_rules(
    schema: RuledSchema,
    components: RuleComponents,
    inline: InlineRuleSettings,
    form: WriterFormat,
    encode: Callable[[Any, bytes], bytes],
) -> WriteRules | None:
    """Return the encoding of values with the rules of a schema; None if no rules have to run.

    Raises:
        RuleNotRun: a rule cannot be executed.
    """
    domain = _list_sequences(schema, components, "domain", "WRITE", form.field_rules)
    encoding = _list_sequences(schema, components, "encoding", "WRITE", None)
    constraints = _list_inline_rules(schema.parsed, inline, form)
    if inline.execution is ValidationRulesExecution.BEFORE_DOMAIN_RULES:
        before: list[MessageRules] = [*constraints, *domain]
    else:
        before = [*domain, *constraints]
    return WriteRules(encode, before, encoding) if before or encoding else None


def plan_read_rules(
    written: RuledSchema,
    read_as: RuledSchema | None,
    components: RuleComponents,
    form: ReaderFormat,
    find_decoder: Callable[[ParsedSchema | None], Callable[[bytes, int], Any]],
) -> Steps[ReadRules | None]:
    """Return the decoding of records with the rules of their schemas; None if no rules have to run.

    The encoding rules are those of the schema that records were written with. The domain rules are those of the schema
    that they are read as; a schema without rules of its own, unless it is a version, inherits those of the writer.

    Args:
        written: the schema that records were written with.
        read_as: the schema that they are read as; None: as they were written.
        components: executors and actions.
        form: the format.
        find_decoder: returns the function that decodes a body and resolves it to a schema, if there is one.

    Raises:
        RuleNotRun: a rule cannot be executed.
    """
    migrations: list[RuleSequence] = []
    if read_as is not None and read_as.registered is not None and written.registered is not None:
        migrations = yield from plan_migrations(
            written.registered, read_as.registered, str(read_as.subject), components
        )
    read = written
    if read_as is not None:
        read = read_as if read_as.registered is not None else read_as.inherit_rules(written, form)
    encoding = _list_sequences(written, components, "encoding", "READ", None)
    domain = _list_sequences(read, components, "domain", "READ", form.field_rules)
    if not (encoding or migrations or domain):
        return None
    check = form.checker(read.parsed) if migrations or domain else None
    resolves = read_as is not None and check is None and not migrations
    decode = find_decoder(read_as.parsed if read_as is not None and resolves else None)
    return ReadRules(decode, encoding, [*migrations, *domain], check, has_migrations=bool(migrations))


def _list_sequences(
    schema: RuledSchema,
    components: RuleComponents,
    phase: RulePhaseName,
    direction: RuleDirection,
    make_fields: Callable[[ParsedSchema, Metadata | None], FieldRules] | None,
) -> list[RuleSequence]:
    """Return the rules of a phase, if any have to run."""
    if not has_due_rules(schema.draft.rule_set, phase, direction, components):
        return []
    from contractlog.serdes.rules.rule_sequence import RuleSequence  # noqa: PLC0415 -- slow to load

    fields = None if make_fields is None else make_fields(schema.parsed, schema.draft.metadata)
    return [
        RuleSequence(
            components,
            phase,
            direction,
            owner=schema.draft,
            subject=schema.subject,
            parsed=schema.parsed,
            fields=fields,
        )
    ]


def _list_inline_rules(parsed: ParsedSchema, inline: InlineRuleSettings, form: WriterFormat) -> list[InlineRules]:
    """Return the inline constraints of a schema, if it has any and they are to be checked."""
    if inline.execution is ValidationRulesExecution.DISABLED:
        return []
    constraints = form.inline_constraints(parsed)
    if constraints is None:
        return []
    executor = inline.executor
    if executor is None:
        from contractlog.serdes.rules.cel import CelValidator  # noqa: PLC0415 -- only if needed

        executor = CelValidator()
    return [InlineRules(constraints, Violations(executor, fail_fast=inline.fail_fast))]
