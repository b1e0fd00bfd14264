"""Checks of a draft by the settings of its subject: compatibility, fields, rules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.engine import ParsedVersion, check_compatibility
from contractlog.compatibility.errors import InvalidRuleSet, InvalidSchema
from contractlog.compatibility.field_validation import find_reserved_conflicts, reject_invalid_field_names
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Level
from contractlog.compatibility.memo import Memo
from contractlog.compatibility.rule_set_validation import require_bounded
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema
from contractlog.contracts.rules.compiled_rules import count_rule_characters, find_rule_error
from contractlog.registry.execution.work_limits import current_work
from contractlog.registry.registration.parser import ParsedDraft, SchemaParser
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import ScopeSettings

__all__ = ["DraftChecker"]

_RULE_WORK: Final = 40  #: characters of schemas whose parsing takes as long as the check of one of a rule


class DraftChecker:
    """Applies the level, policy and other settings of a subject to a draft."""

    def __init__(self, parser: SchemaParser, default: Level) -> None:
        self.parser = parser
        self.default = default

    def read_settings(self, snapshot: Snapshot, subject: Subject) -> ScopeSettings:
        """Return the settings in force for a subject, without the server's default level."""
        return snapshot.read_effective_settings(subject)

    def level(self, configured: ScopeSettings) -> Level:
        """Return the level in force."""
        return configured.level or self.default

    def policy(self, configured: ScopeSettings) -> Policy:
        """Return the policy in force."""
        return configured.own_policy or configured.compatibility_policy or Policy.STRICT

    def check_history(
        self, snapshot: Snapshot, subject: Subject, candidate: ParsedDraft, configured: ScopeSettings
    ) -> Verdict:
        """Check against the live versions that the level selects."""
        return self.check_versions(
            snapshot, candidate, self.select_versions(snapshot, subject, candidate, configured), configured
        )

    def select_versions(
        self, snapshot: Snapshot, subject: Subject, candidate: ParsedDraft, configured: ScopeSettings
    ) -> list[RegisteredSchema]:
        """Return the live versions that the level compares with, oldest first."""
        level, group = self.level(configured), configured.compatibility_group
        if level is Level.NONE:
            return []
        if level.transitive or group is not None:
            earlier = [version for version in snapshot.history(subject) if _in_same_group(version, candidate, group)]
        else:
            latest = snapshot.version(subject, None)
            earlier = [latest] if latest else []
        return earlier if level.transitive else earlier[-1:]

    def reject_invalid_fields(self, candidate: ParsedDraft, configured: ScopeSettings) -> None:
        """Raise ``InvalidSchema`` for invalid field names, if fields are validated."""
        if configured.validate_fields:
            reject_invalid_field_names(candidate.parsed)

    def reject_nonconforming(self, candidate: ParsedDraft, configured: ScopeSettings) -> None:
        """Raise ``InvalidSchema`` if the meta-schema rejects the schema and ``strictJsonSchemas`` is set."""
        warning = candidate.warning if configured.strict_json_schemas else None
        if warning is not None:
            raise InvalidSchema(f"{warning}; the config member strictJsonSchemas rejects such schemas")

    def reject_invalid_rules(self, candidate: ParsedDraft) -> None:
        """Raise ``InvalidRuleSet`` for too large rules, and for an expression with a syntax or type error."""
        rule_set = candidate.draft.rule_set
        if rule_set is None:
            return
        require_bounded(rule_set)  # it may be merged from several sources
        if rule_set.enable_at == "NONE":
            return
        current_work.get().parse(_RULE_WORK * count_rule_characters(rule_set))
        problem = find_rule_error(rule_set, candidate.parsed)
        if problem is not None:
            raise InvalidRuleSet(f"Invalid rule set: {problem}")

    def find_reserved_conflicts(
        self, candidate: ParsedDraft, previous: RegisteredSchema | None, configured: ScopeSettings
    ) -> tuple[str, ...]:
        """Return violations of reserved fields, if fields are validated."""
        if not configured.validate_fields:
            return ()
        return find_reserved_conflicts(
            candidate.parsed, candidate.draft.metadata, previous.metadata if previous else None
        )

    def check_versions(
        self, snapshot: Snapshot, candidate: ParsedDraft, earlier: Iterable[RegisteredSchema], configured: ScopeSettings
    ) -> Verdict:
        """Check against these versions, oldest first."""
        parser = self.parser
        history = [_StoredVersion(parser, snapshot, version) for version in earlier]
        level, policy = self.level(configured), self.policy(configured)
        work = current_work.get()
        if not parser.memo_lock.acquire(blocking=False):  # a long check on another thread blocks nobody
            plain = [ParsedVersion(version.version, version.parsed) for version in history]
            return work.compare(
                lambda budget: check_compatibility(candidate.parsed, plain, level, policy=policy, budget=budget)
            )
        try:
            memo = parser.memo
            return work.compare(
                lambda budget: check_compatibility(
                    candidate.parsed, history, level, policy=policy, memo=memo, budget=budget
                )
            )
        finally:
            parser.memo_lock.release()


@dataclass(frozen=True, slots=True)
class _StoredVersion:
    """A stored version that is parsed only if its shape does not decide the check."""

    parser: SchemaParser
    snapshot: Snapshot
    schema: RegisteredSchema

    @property
    def version(self) -> int:
        return self.schema.version or 0

    @property
    def parsed(self) -> ParsedSchema:
        return self.parser.parse_stored(self.snapshot, self.schema)

    def shape(self, _memo: Memo) -> Any:
        return self.parser.shape(self.snapshot, self.schema)


def _in_same_group(earlier: RegisteredSchema, candidate: ParsedDraft, group: str | None) -> bool:
    """Return True if two versions are in the same group, and so are compared.

    A group has the same value of one metadata property.
    """
    if group is None:
        return True
    metadata = (earlier.metadata, candidate.draft.metadata)
    old, new = (None if layer is None else layer.properties.get(group) for layer in metadata)
    return old == new
