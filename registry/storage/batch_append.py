"""Batched appends of versions: a few set-based statements, whatever the number of registrations.

Invariants: the locks are taken before anything is read; content that the subject already has live yields its existing
version; an append whose subject, settings or references have changed since they were checked yields ``Stale``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, insert, or_, select, tuple_, update

from contractlog.compatibility.errors import (
    IdGapNotPermitted,
    InvalidSchema,
    OperationNotPermitted,
    OverwriteNotPermitted,
    RegistryError,
    RetiredIdTaken,
)
from contractlog.compatibility.identifiers import MAX_ID, MAX_VERSION, SchemaId, Subject, Version
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.compatibility.text.terminal_text import quote_word
from contractlog.registry.storage import append_state, tables
from contractlog.registry.storage.change_log import ChangeLogEntry
from contractlog.registry.storage.dialects import in_numbers
from contractlog.registry.storage.name_and_id_lookup import follow_alias
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import (
    MAX_ID_GAP,
    Content,
    PendingAppend,
    Stale,
    SubjectState,
    subject_key,
)
from contractlog.registry.storage.transaction import Transaction

__all__ = ["AppendResult", "append_batch", "append_version", "schema_row"]

_U = tables.subjects.c
_INCREASE_REVISION: Final = (
    update(tables.subjects).where(in_numbers(_U.id, "ids")).values(revision=_U.revision + bindparam("by"))
)
AppendOutcome = RegisteredSchema | Stale | RegistryError


@dataclass(slots=True)
class AppendResult:
    """Result of a batch: an outcome per append, in order; ids whose responses changed; change log entries."""

    outcomes: list[AppendOutcome] = field(default_factory=list)
    touched: set[tuple[str, int]] = field(default_factory=set)
    entries: list[ChangeLogEntry] = field(default_factory=list)


def append_batch(connection: Connection, batch: Sequence[PendingAppend], now: int) -> AppendResult:
    """Append the versions whose checks still apply.

    The caller holds the locks, writes the change log entries and commits.
    """
    plan = _BatchPlan(connection, batch, now)
    outcomes = [plan.decide(candidate) for candidate in batch]
    plan.write()
    return AppendResult(outcomes, plan.touched, plan.entries)


def append_version(transaction: Transaction, candidate: PendingAppend) -> AppendOutcome:
    """Append one version in a transaction of further changes."""
    result = append_batch(transaction.connection, [candidate], transaction.now)
    transaction.touched |= result.touched
    transaction.entries += result.entries
    return result.outcomes[0]


class _BatchPlan:
    """The rows that a batch adds, decided in memory against the state that was read under the lock."""

    def __init__(self, connection: Connection, batch: Sequence[PendingAppend], now: int) -> None:
        self._connection = connection
        self._now = now
        self.touched: set[tuple[str, int]] = set()
        self.entries: list[ChangeLogEntry] = []
        subjects = dict.fromkeys(candidate.subject for candidate in batch)
        self._counters = append_state.read_counters(connection, {subject.context for subject in subjects})
        self._next_id = {candidate.subject.context: 1 for candidate in batch}
        self._next_id |= {context: counter.next_id for context, counter in self._counters.items()}
        self._occupied = {context: counter.occupied for context, counter in self._counters.items()}
        self._states, self._highest = append_state.read_states(connection, subjects)
        self._revisions = {subject: state.revision for subject, state in self._states.items()}
        self._configured = append_state.read_settings(connection, batch)
        self._ids = append_state.read_content_ids(connection, batch)
        self._existing_contents = frozenset(self._ids)
        self._assigned = append_state.read_assigned_ids(
            connection, {(o.subject.context, o.schema_id) for o in batch if o.schema_id is not None}
        )
        requested_ids = {candidate.schema_id for candidate in batch if candidate.schema_id is not None}
        self._live, self._deleted = append_state.read_versions(
            connection, self._states, requested_ids | set(self._ids.values())
        )
        self._targets = append_state.read_targets(
            connection, {target for candidate in batch for target in candidate.content.targets}
        )
        self._schemas: list[dict[str, Any]] = []
        self._references: list[dict[str, Any]] = []
        self._reused: dict[tuple[str, str], int] = {}
        self._returned: list[tuple[str, int]] = []
        self._versions: list[tuple[Subject, dict[str, Any]]] = []
        self._actors: dict[Subject, str] = {}

    def decide(self, candidate: PendingAppend) -> AppendOutcome:
        """Decide one append; later ones of the batch see its effect."""
        subject, content = candidate.subject, candidate.content
        schema_id = (
            self._ids.get((subject.context, content.hash)) if candidate.schema_id is None else candidate.schema_id
        )
        existing = self._live.get((subject, schema_id)) if schema_id is not None else None
        if candidate.schema_id is None and candidate.version is None and existing is not None and schema_id is not None:
            return _to_registered_schema(subject, content, schema_id, *existing)
        if not self._is_unchanged(candidate):
            return Stale()
        if candidate.schema_id is not None:
            return self._decide_with_id(candidate, candidate.schema_id)
        version = self._highest.get(subject, 0) + 1
        error = self._number_error(candidate, version, new=schema_id is None)
        if error is not None:
            return error
        if schema_id is None:
            schema_id = self._new_schema(subject.context, content, self._next_free_id(subject.context))
        else:
            self.touched.add((subject.context, schema_id))
        self._new_version(candidate, version, schema_id)
        return _to_registered_schema(subject, content, schema_id, version, None)

    def _number_error(self, candidate: PendingAppend, version: int, *, new: bool) -> RegistryError | None:
        """Return the error if the version number, or an id for a new schema, is not available."""
        if candidate.version not in {None, version}:
            return InvalidSchema("Version is not one more than previous version")
        if version > MAX_VERSION:
            return _versions_exhausted_error(candidate.subject)
        context = candidate.subject.context
        if new and self._next_free_id(context) > MAX_ID:
            return OperationNotPermitted(
                f"Context {context} has given out the id {MAX_ID}, and no record can carry a larger one: "
                "new schemas need another context. If that id is far above all others, an operator can let new ids "
                f"begin below it: contractlog db lower-ids {quote_word(context)}"
            )
        return None

    def _next_free_id(self, context: str) -> int:
        """Return the id of the next new schema: the first one, from the counter on, that was never assigned."""
        next_id, occupied = self._next_id[context], self._occupied.get(context)
        if occupied is not None and next_id >= occupied:
            next_id, self._occupied[context] = append_state.find_free_id(self._connection, context, next_id)
            self._next_id[context] = next_id
        return next_id

    def _is_unchanged(self, candidate: PendingAppend) -> bool:
        """Return True if subject, settings, name and references are still those that were checked."""
        state = self._states.get(candidate.subject, SubjectState())
        if state.revision != candidate.state.revision or self._configured[candidate.subject] != candidate.configured:
            return False
        name = candidate.named or candidate.subject
        if name != candidate.subject and follow_alias(Snapshot(self._connection), name) != candidate.subject:
            return False
        accepted = {True} if candidate.schema_id is None else {True, False}  # an import may reference deleted versions
        return all(self._targets.get(target) in accepted for target in candidate.content.targets)

    def _decide_with_id(self, candidate: PendingAppend, schema_id: int) -> AppendOutcome:
        """Append under the requested id.

        An id belongs to one content forever, also after its deletion; the same content may have several ids.
        """
        subject, content = candidate.subject, candidate.content
        context = subject.context
        version = candidate.version or self._highest.get(subject, 0) + 1
        if version > MAX_VERSION:
            return _versions_exhausted_error(subject)
        assigned = self._assigned.get((context, schema_id))
        if assigned is not None and assigned.hash != content.hash:
            refusal = RetiredIdTaken if assigned.retired else OverwriteNotPermitted
            return refusal(id=schema_id, context=context)
        if assigned is None and not candidate.allow_id_gap and schema_id - self._next_id[context] >= MAX_ID_GAP:
            return IdGapNotPermitted(id=schema_id, context=context, highest=self._next_id[context] - 1, gap=MAX_ID_GAP)
        if assigned is None or assigned.retired:
            if assigned is not None:
                self._returned.append((context, schema_id))
            self._new_schema(context, content, schema_id, counted=assigned is None)
        self._set_content_id(context, content.hash, schema_id)
        self.touched.add((context, schema_id))
        self._new_version(candidate, version, schema_id)
        return _to_registered_schema(subject, content, schema_id, version, None)

    def _set_content_id(self, context: str, content_hash: str, schema_id: int) -> None:
        if self._ids.get((context, content_hash)) != schema_id:
            self._ids[context, content_hash] = schema_id
            self._reused[context, content_hash] = schema_id

    def _new_schema(self, context: str, content: Content, schema_id: int, *, counted: bool = True) -> int:
        """Add a schema; unless ``counted`` is false, new ids continue above its id.

        It is false for ids that were assigned before.
        """
        if counted:
            self._next_id[context] = max(self._next_id[context], schema_id + 1)
        self._set_content_id(context, content.hash, schema_id)
        self._assigned[context, schema_id] = append_state.AssignedId(content.hash, retired=False)
        self._schemas.append(schema_row(context, schema_id, content, self._now))
        self._references += [
            {
                "context": context,
                "schema_id": schema_id,
                "target_subject_id": target.subject_id,
                "target_version": target.version,
            }
            for target in dict.fromkeys(content.targets)
        ]
        return schema_id

    def _new_version(self, candidate: PendingAppend, version: int, schema_id: int) -> None:
        subject = candidate.subject
        state = self._states.get(subject, SubjectState())
        self._states[subject] = SubjectState(state.id, state.revision + 1)
        self._highest[subject] = max(version, self._highest.get(subject, 0))
        self._live[subject, schema_id] = (version, self._now)
        row = {"version": version, "context": subject.context, "schema_id": schema_id, "created_at": self._now}
        self._versions.append((subject, row))
        self._actors[subject] = candidate.actor
        details = {"id": schema_id, **candidate.details}
        target = f"{subject}/{version}"
        self.entries.append(
            ChangeLogEntry(candidate.actor, "version.registered", target, after=candidate.content.hash, details=details)
        )

    def write(self) -> None:
        """Write the rows."""
        if not self._versions:
            return
        execute = self._connection.execute
        changed = list(dict.fromkeys(subject for subject, _ in self._versions))
        self._write_subjects(changed)
        for context in dict.fromkeys(subject.context for subject in changed):
            next_id = self._next_id[context]
            if context not in self._counters:
                execute(insert(tables.contexts).values(name=context, next_schema_id=next_id))
            elif self._counters[context][:2] != (next_id, True):
                statement = update(tables.contexts).where(tables.contexts.c.name == context)
                execute(statement.values(next_schema_id=next_id, deleted_at=None))
        if self._schemas:
            execute(insert(tables.schemas), self._schemas)
        self._write_contents()
        if self._references:
            execute(insert(tables.schema_references), self._references)
        self._drop_older()
        execute(insert(tables.versions), [{"subject_id": self._states[s].id, **row} for s, row in self._versions])

    def _write_contents(self) -> None:
        execute = self._connection.execute
        if self._returned:
            r = tables.retired.c
            execute(delete(tables.retired).where(tuple_(r.context, r.schema_id).in_(self._returned)))
        replaced = [key for key in self._reused if key in self._existing_contents]
        if replaced:
            c = tables.contents.c
            execute(delete(tables.contents).where(tuple_(c.context, c.hash).in_(replaced)))
        if self._reused:
            rows = [{"context": c, "hash": h, "schema_id": schema_id} for (c, h), schema_id in self._reused.items()]
            execute(insert(tables.contents), rows)

    def _write_subjects(self, changed: Iterable[Subject]) -> None:
        new: list[tuple[Subject, SubjectState]] = []
        existing: list[tuple[Subject, SubjectState]] = []
        for subject in changed:
            state = self._states[subject]
            (new if state.id is None else existing).append((subject, state))
        if new:
            c = tables.subjects.c
            rows = [
                {"key": subject_key(s), "context": s.context, "name": s.name, "revision": state.revision}
                for s, state in new
            ]
            by_key = {subject_key(subject): subject for subject, _ in new}
            for row in self._connection.execute(insert(tables.subjects).returning(c.id, c.key, c.revision), rows):
                self._states[by_key[row.key]] = SubjectState(row.id, row.revision)
        grown: dict[int, list[int | None]] = {}
        for subject, state in existing:
            grown.setdefault(state.revision - self._revisions[subject], []).append(state.id)
        for by, ids in grown.items():
            self._connection.execute(_INCREASE_REVISION, {"by": by, "ids": ids})

    def _drop_older(self) -> None:
        """Delete soft-deleted versions of the same subject and id, except those that a schema references.

        One with the number of the new version is deleted even if it is referenced.
        """
        c, r = tables.versions.c, tables.schema_references.c
        for subject, row in self._versions:
            older = self._deleted.get((subject, row["schema_id"]), ())
            if older:
                referenced = (
                    select(1).where(r.target_subject_id == c.subject_id, r.target_version == c.version).exists()
                )
                statement = delete(tables.versions).where(
                    c.subject_id == self._states[subject].id,
                    c.version.in_(older),
                    or_(~referenced, c.version == row["version"]),
                )
                for number in sorted(self._connection.execute(statement.returning(c.version)).scalars()):
                    details = {"id": row["schema_id"], "replaced_by": row["version"]}
                    line = ChangeLogEntry(
                        self._actors[subject], "version.hard_deleted", f"{subject}/{number}", details=details
                    )
                    self.entries.append(line)


def _versions_exhausted_error(subject: Subject) -> OperationNotPermitted:
    return OperationNotPermitted(
        f"Subject {subject} has a version {MAX_VERSION}, and there is no number after it: "
        "new versions need another subject"
    )


def schema_row(context: str, schema_id: int, content: Content, created_at: int) -> dict[str, Any]:
    """Return the row of a schema."""
    return {
        "context": context,
        "id": schema_id,
        "hash": content.hash,
        "normalized_hash": content.normalized_hash,
        "guid": content.guid,
        "type": content.type.value,
        "text": content.text,
        "submitted": None if content.submitted == content.text else content.submitted,
        "references": json.dumps([reference.body() for reference in content.references])
        if content.references
        else None,
        "metadata": None if content.metadata is None else json.dumps(content.metadata.body()),
        "rule_set": None if content.rule_set is None else json.dumps(content.rule_set.body()),
        "created_at": created_at,
    }


def _to_registered_schema(
    subject: Subject, content: Content, schema_id: int, version: int, timestamp: int | None
) -> RegisteredSchema:
    return RegisteredSchema(
        schema_id=SchemaId(schema_id),
        text=content.text,
        type=content.type,
        subject=subject,
        version=Version(version),
        guid=content.guid,
        references=content.references,
        metadata=content.metadata,
        rule_set=content.rule_set,
        timestamp=timestamp,
    )
