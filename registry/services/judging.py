"""Judging a draft against the versions of its subject."""

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
    """Knows which level and policy hold for a subject, and what it says about a draft."""

    def __init__(self, understanding: Understanding, default: Level) -> None:
        self._understanding = understanding
        self.default = default

    def configured(self, snapshot: Snapshot, subject: Subject) -> Configured:
        """What is set for a subject, by itself or above it; the server's default level is not filled in."""
        return Configured.inherited(snapshot.configured(scopes(subject)).values())

    def level(self, configured: Configured) -> Level:
        """The level in force."""
        return configured.level or self.default

    def policy(self, configured: Configured) -> Policy:
        """The policy in force."""
        return configured.own_policy or configured.compatibility_policy or Policy.STRICT

    def against_history(
        self, snapshot: Snapshot, subject: Subject, candidate: Understood, configured: Configured
    ) -> Verdict:
        """Judge against the live versions that the level selects."""
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
        """Raise ``InvalidSchema`` for names that fields must not have, where fields are validated."""
        if configured.validate_fields and candidate.draft.type is SchemaType.JSON:
            names = top_level_fields(candidate.parsed)
            if any(name.startswith("$$") for name in names):
                raise InvalidSchema("Field names cannot start with $$ prefix")

    def refuse_nonconforming(self, candidate: Understood, configured: Configured) -> None:
        """Raise ``InvalidSchema`` for a schema that its meta-schema rejects, where ``strictJsonSchemas`` is set."""
        warning = candidate.warning if configured.strict_json_schemas else None
        if warning is not None:
            raise InvalidSchema(f"{warning}; such schemas are refused here: the config member strictJsonSchemas is set")

    def reserved(
        self, candidate: Understood, previous: RegisteredSchema | None, configured: Configured
    ) -> tuple[str, ...]:
        """Return what is wrong with reserved fields, where fields are validated: they stay so, and none is used."""
        if not configured.validate_fields:
            return ()
        now = reserved_fields(candidate.draft.metadata)
        gone = [name for name in reserved_fields(previous.metadata if previous else None) if name not in now]
        used = set(top_level_fields(candidate.parsed)) if now else set()
        return (*map(_REMOVED.format, gone), *(_CONFLICTS.format(name) for name in now if name in used))

    def against(
        self, snapshot: Snapshot, candidate: Understood, earlier: Iterable[RegisteredSchema], configured: Configured
    ) -> Verdict:
        """Judge against these versions, oldest first."""
        understanding = self._understanding
        history = [_Stored(understanding, snapshot, one) for one in earlier]
        level, policy = self.level(configured), self.policy(configured)
        work = current_work.get()
        if not understanding.judging.acquire(blocking=False):  # a long check elsewhere makes nobody wait
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
    """A stored version, which is parsed only when its shape does not tell enough."""

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
    """Versions are compared within a group: those with the same value of one metadata property."""
    if group is None:
        return True
    metadata = (earlier.metadata, candidate.draft.metadata)
    old, new = (None if one is None else one.properties.get(group) for one in metadata)
    return old == new
