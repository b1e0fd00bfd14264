"""Compatibility checks of a draft against the versions of its subject."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.errors import InvalidSchema
from contractlog.compatibility.finding import Verdict
from contractlog.compatibility.interning import Memo
from contractlog.compatibility.judge import Earlier, judge
from contractlog.compatibility.level import Level
from contractlog.compatibility.merging import reserved_fields
from contractlog.compatibility.names import Subject
from contractlog.compatibility.parsing import top_level_fields
from contractlog.compatibility.policy import Policy
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaType
from contractlog.registry.services.understanding import Understanding, Understood
from contractlog.registry.services.work import current_work
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Configured, scopes

__all__ = ["Judging"]

_REMOVED: Final = (
    "The new schema has reserved field {} removed from its metadata which is present in the old schema's metadata."
)
_CONFLICTS: Final = "The new schema has field that conflicts with the reserved field {}."


class Judging:
    """Applies the level, policy and other settings of a subject to a draft."""

    def __init__(self, understanding: Understanding, default: Level) -> None:
        self._understanding = understanding
        self.default = default

    def configured(self, snapshot: Snapshot, subject: Subject) -> Configured:
        """Return the settings in force for a subject, without the server's default level."""
        return Configured.inherited(snapshot.configured(scopes(subject)).values())

    def level(self, configured: Configured) -> Level:
        """Return the level in force."""
        return configured.level or self.default

    def policy(self, configured: Configured) -> Policy:
        """Return the policy in force."""
        return configured.own_policy or configured.compatibility_policy or Policy.STRICT

    def against_history(
        self, snapshot: Snapshot, subject: Subject, candidate: Understood, configured: Configured
    ) -> Verdict:
        """Check against the live versions that the level selects."""
        return self.against(snapshot, candidate, self.selected(snapshot, subject, candidate, configured), configured)

    def selected(
        self, snapshot: Snapshot, subject: Subject, candidate: Understood, configured: Configured
    ) -> list[RegisteredSchema]:
        """Return the live versions that the level compares with, oldest first."""
        level, group = self.level(configured), configured.compatibility_group
        if level is Level.NONE:
            return []
        if level.transitive or group is not None:
            earlier = [one for one in snapshot.history(subject) if _same_group(one, candidate, group)]
        else:
            latest = snapshot.version(subject, None)
            earlier = [latest] if latest else []
        return earlier if level.transitive else earlier[-1:]

    def refuse_fields(self, candidate: Understood, configured: Configured) -> None:
        """Raise ``InvalidSchema`` for invalid field names, if fields are validated."""
        if configured.validate_fields and candidate.draft.type is SchemaType.JSON:
            names = top_level_fields(candidate.parsed)
            if any(name.startswith("$$") for name in names):
                raise InvalidSchema("Field names cannot start with $$ prefix")

    def refuse_nonconforming(self, candidate: Understood, configured: Configured) -> None:
        """Raise ``InvalidSchema`` if the meta-schema rejects the schema and ``strictJsonSchemas`` is set."""
        warning = candidate.warning if configured.strict_json_schemas else None
        if warning is not None:
            raise InvalidSchema(f"{warning}; such schemas are refused here: the config member strictJsonSchemas is set")

    def reserved(
        self, candidate: Understood, previous: RegisteredSchema | None, configured: Configured
    ) -> tuple[str, ...]:
        """Return violations of reserved fields, if fields are validated.

        A reserved field must stay reserved, and the schema must not use it.
        """
        if not configured.validate_fields:
            return ()
        now = reserved_fields(candidate.draft.metadata)
        gone = [name for name in reserved_fields(previous.metadata if previous else None) if name not in now]
        used = set(top_level_fields(candidate.parsed)) if now else set()
        return (*map(_REMOVED.format, gone), *(_CONFLICTS.format(name) for name in now if name in used))

    def against(
        self, snapshot: Snapshot, candidate: Understood, earlier: Iterable[RegisteredSchema], configured: Configured
    ) -> Verdict:
        """Check against these versions, oldest first."""
        understanding = self._understanding
        history = [_Stored(understanding, snapshot, one) for one in earlier]
        level, policy = self.level(configured), self.policy(configured)
        work = current_work.get()
        if not understanding.judging.acquire(blocking=False):  # a long check on another thread blocks nobody
            plain = [Earlier(one.version, one.parsed) for one in history]
            return work.compared(lambda steps: judge(candidate.parsed, plain, level, policy=policy, within=steps))
        try:
            memo = understanding.memo
            return work.compared(
                lambda steps: judge(candidate.parsed, history, level, policy=policy, memo=memo, within=steps)
            )
        finally:
            understanding.judging.release()


@dataclass(frozen=True, slots=True)
class _Stored:
    """A stored version that is parsed only if its shape does not decide the check."""

    understanding: Understanding
    snapshot: Snapshot
    held: RegisteredSchema

    @property
    def version(self) -> int:
        return self.held.version or 0

    @property
    def parsed(self) -> ParsedSchema:
        return self.understanding.stored(self.snapshot, self.held)

    def shape(self, _memo: Memo) -> Any:
        return self.understanding.shape(self.snapshot, self.held)


def _same_group(earlier: RegisteredSchema, candidate: Understood, group: str | None) -> bool:
    """Return True if two versions are in the same group, and so are compared.

    A group has the same value of one metadata property.
    """
    if group is None:
        return True
    metadata = (earlier.metadata, candidate.draft.metadata)
    old, new = (None if one is None else one.properties.get(group) for one in metadata)
    return old == new
