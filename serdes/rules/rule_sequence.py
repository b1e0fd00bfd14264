"""Rules of a schema that run one after the other: those of a phase and direction."""

from __future__ import annotations

import logging
import sys
from dataclasses import dataclass
from typing import Any, Final

from contractlog.clients.confluent.data_classes import Rule, RuleMode, Schema
from contractlog.compatibility.data_contract import Rule as StoredRule
from contractlog.compatibility.schema import ParsedSchema, SchemaDraft
from contractlog.serdes.context import header
from contractlog.serdes.errors import RuleConditionError, RuleError, RuleFailed, RuleNotRun, SerializationError
from contractlog.serdes.rules.components import RuleComponents
from contractlog.serdes.rules.context import RuleContext
from contractlog.serdes.rules.due_rules import RuleDirection, RulePhaseName, is_due, list_phase_rules, name_actions
from contractlog.serdes.rules.field_rules import FieldRules
from contractlog.serdes.rules.original_record import ORIGINAL_KEYS, OriginalRecord
from contractlog.serdes.rules.tags import TagPaths
from contractlog.serdes.rules.work import Work, call

__all__ = ["RULE_NAME_HEADER", "RuleSequence", "to_confluent_schema"]

_ENCRYPTING_TYPES: Final = frozenset({"ENCRYPT", "ENCRYPT_PAYLOAD"})
RULE_NAME_HEADER: Final = "__rule.name"  #: names the rule that sent a record to a dead letter queue
_LOG: Final = logging.getLogger(__name__)
_CONFLUENT_ERRORS: Final = "confluent_kafka.serialization"


@dataclass(frozen=True, slots=True)
class _DueRule:
    """A rule that runs, with its executor and the names of its actions."""

    rule: Rule
    index: int  #: in all rules of the phase
    executor: Any
    on_success: str
    on_failure: str
    is_applied_to_fields: bool


class RuleSequence:
    """The rules of a phase of a schema in a direction, ready to run.

    Args:
        components: executors and actions.
        phase: the phase.
        direction: the direction.
        owner: the schema that has the rules.
        source: the schema that a migration starts from.
        target: the schema that a migration leads to, and otherwise the owner.
        subject: the subject.
        parsed: the target, parsed; None in migrations, whose values belong to neither schema.
        fields: application of functions to the fields of the target; None if rules cannot be applied to fields.

    Raises:
        RuleNotRun: a rule cannot be executed.
    """

    def __init__(
        self,
        components: RuleComponents,
        phase: RulePhaseName,
        direction: RuleDirection,
        *,
        owner: SchemaDraft,
        source: SchemaDraft | None = None,
        target: SchemaDraft | None = None,
        subject: str | None,
        parsed: ParsedSchema | None = None,
        fields: FieldRules | None = None,
    ) -> None:
        self._components = components
        self._subject = subject
        self._mode = RuleMode(direction)
        rule_set = owner.rule_set
        stored = () if rule_set is None else list_phase_rules(rule_set, phase, direction)
        try:
            self._rules = [_to_confluent_rule(rule) for rule in stored]
            self._source = None if source is None else to_confluent_schema(source)
            self._target = to_confluent_schema(owner if target is None else target)
        except ValueError as error:
            raise RuleNotRun(reason=f"a rule of the schema has an unknown mode or kind: {error}") from None
        self._parsed = parsed
        self._fields = fields
        metadata = (owner if target is None else target).metadata
        self._tag_paths = TagPaths({} if metadata is None else metadata.tags)
        self._enabled_env = None if rule_set is None else rule_set.enable_at
        self._due = [
            self._prepare(stored_rule, rule, index, direction)
            for index, (stored_rule, rule) in enumerate(zip(stored, self._rules, strict=True))
            if rule_set is not None and is_due(stored_rule, rule_set, direction, components)
        ]

    def __bool__(self) -> bool:
        return bool(self._due)

    def run(self, message: Any, original: OriginalRecord) -> Work[Any]:
        """Run the rules on a message, and return the resulting message.

        Raises:
            SerializationError: a rule rejected the message.
        """
        for due in self._due:
            if self._mode != "WRITE" and _is_replayed(original, due.rule):
                continue
            ctx = RuleContext(
                self._enabled_env,
                original.context,
                self._source,
                self._target,
                self._subject,
                self._mode,
                due.rule,
                due.index,
                self._rules,
                None if self._fields is None else self._fields.inline_tags,
                None if self._fields is None else self._fields.transform,
                original.key,
                original.value,
                parsed_target=self._parsed,
                tag_paths=self._tag_paths,
            )
            message = yield from self._run_rule(due, ctx, message)
        return message

    def _run_rule(self, due: _DueRule, ctx: RuleContext, message: Any) -> Work[Any]:
        failure: Exception | None = None
        try:
            result = yield from call(due.executor, due.executor.transform, ctx, message)
            if due.rule.kind == "TRANSFORM":
                message = result
            elif not (due.is_applied_to_fields or result):
                raise RuleConditionError(due.rule)  # noqa: TRY301 -- a failure like any other
        except Exception as error:
            if _is_serialization_error(error):
                raise
            failure = error
        if failure is None and message is not None:
            yield from self._run_success_action(due, ctx, message)
        else:
            yield from self._run_failure_action(due, ctx, message, failure)
        return message

    def _run_success_action(self, due: _DueRule, ctx: RuleContext, message: Any) -> Work[None]:
        if due.on_success == "NONE":
            return
        action = self._find_action(due.on_success, ctx)
        try:
            yield from call(action, action.run, ctx, message, None)
        except Exception as error:
            if _is_serialization_error(error):
                raise
            _LOG.warning("the action %s after the rule %s failed: %s", due.on_success, due.rule.name, error)

    def _run_failure_action(
        self, due: _DueRule, ctx: RuleContext, message: Any, failure: Exception | None
    ) -> Work[None]:
        action = self._find_action(due.on_failure, ctx, failure)
        try:
            yield from call(action, action.run, ctx, message, failure)
        except Exception as error:
            if _is_serialization_error(error):
                raise
            detail = f"; its action {due.on_failure} failed, too: {error}"
            raise RuleFailed.of(due.rule, self._mode, failure, detail=detail) from error

    def _find_action(self, name: str, ctx: RuleContext, failure: Exception | None = None) -> Any:
        action = self._components.find_action(name)
        if action is None:
            detail = f"; its action {name} is not registered: register it with a RuleRegistry"
            raise RuleFailed.of(ctx.rule, self._mode, failure or RuleError("no action"), detail=detail) from failure
        return action

    def _prepare(self, stored: StoredRule, rule: Rule, index: int, direction: RuleDirection) -> _DueRule:
        """Find the executor of a rule, and let it prepare the rule."""
        on_success, on_failure = name_actions(stored, direction, self._components)
        try:
            executor = self._components.find_executor(stored.type) if stored.type else None
            if executor is None:
                raise _not_run(
                    stored, direction, "no executor of its type is registered; pass a RuleRegistry that has one"
                )
            if direction == "WRITE" and stored.type in _ENCRYPTING_TYPES:
                _require_encryption(stored, direction, on_failure)
            prepare = getattr(executor, "prepare_rule", None)
            if prepare is not None:
                prepare(stored, self._parsed)
        except (RuleError, ImportError) as error:
            raise _not_run(stored, direction, str(error)) from error
        if {on_success, on_failure} - {None, "NONE", "ERROR"}:
            ORIGINAL_KEYS.enabled = True
        return _DueRule(
            rule,
            index,
            executor,
            on_success or "NONE",
            on_failure or "ERROR",
            hasattr(executor, "new_transform") and self._fields is not None,
        )


def _require_encryption(rule: StoredRule, direction: RuleDirection, on_failure: str | None) -> None:
    """Require that values are written encrypted, or not at all.

    Raises:
        RuleNotRun: the value would be written in plaintext.
    """
    if rule.kind != "TRANSFORM":
        raise _not_run(rule, direction, "a rule of kind CONDITION changes nothing; set its kind to TRANSFORM")
    if on_failure == "NONE":
        raise _not_run(rule, direction, "with `onFailure` NONE, a value that it cannot encrypt would be written")


def to_confluent_schema(draft: SchemaDraft) -> Schema:
    """Return a schema as the class that executors expect."""
    return Schema.from_dict({"schemaType": draft.type.value} | draft.body())


def _to_confluent_rule(rule: StoredRule) -> Rule:
    return Rule.from_dict(rule.body())


def _not_run(rule: StoredRule, direction: RuleDirection, why: str) -> RuleNotRun:
    way = "writing" if direction == "WRITE" else "reading"
    return RuleNotRun(
        reason=f"the rule {rule.name} ({rule.type or rule.kind}) of the schema has to run on {way}, and cannot: {why}",
        rule=rule.name,
    )


def _is_replayed(original: OriginalRecord, rule: Rule) -> bool:
    """Return true if the record comes from the dead letter queue of this rule."""
    if not getattr(original.context, "headers", None):
        return False
    name = header(original.context, RULE_NAME_HEADER)
    return name is not None and (name.encode() if isinstance(name, str) else bytes(name)) == (rule.name or "").encode()


def _is_serialization_error(error: Exception) -> bool:
    confluent = getattr(sys.modules.get(_CONFLUENT_ERRORS), "SerializationError", SerializationError)
    return isinstance(error, (SerializationError, confluent))
