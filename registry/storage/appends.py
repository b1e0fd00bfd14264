"""Batched appends of versions: a few set-based statements, whatever the number of registrations.

Invariants: the locks are taken before anything is read; a content that the subject already has live yields its existing
version; an append whose subject, settings or references have changed since they were checked yields ``Stale``.
"""

from __future__ import annotations

import json
import shlex
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
from contractlog.compatibility.names import MAX_ID, MAX_VERSION, SchemaId, Subject, Version
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.storage import standing, tables
from contractlog.registry.storage.among import numbers_among
from contractlog.registry.storage.finding import aliased
from contractlog.registry.storage.lines import Line
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import (
    MAX_ID_GAP,
    Append,
    Content,
    Stale,
    SubjectState,
    Target,
    key_of,
)

__all__ = ["Appended", "append"]

_U = tables.subjects.c
_GROW: Final = update(tables.subjects).where(numbers_among(_U.id, "ids")).values(revision=_U.revision + bindparam("by"))
Outcome = RegisteredSchema | Stale | RegistryError


@dataclass(slots=True)
class Appended:
    """Result of a batch: an outcome per append, in order; ids whose responses changed; journal entries."""

    outcomes: list[Outcome] = field(default_factory=list)
    touched: set[tuple[str, int]] = field(default_factory=set)
    lines: list[Line] = field(default_factory=list)


def append(connection: Connection, batch: Sequence[Append], now: int) -> Appended:
    """Append the versions whose checks still apply.

    The caller holds the locks, writes the journal entries and commits.
    """
    plan = _Plan(connection, batch, now)
    outcomes = [plan.place(one) for one in batch]
    plan.write()
    return Appended(outcomes, plan.touched, plan.lines)


class _Plan:
    """The rows that a batch adds, decided in memory against the state that was read under the lock."""

    def __init__(self, connection: Connection, batch: Sequence[Append], now: int) -> None:
        self._connection = connection
        self._now = now
        self.touched: set[tuple[str, int]] = set()
        self.lines: list[Line] = []
        subjects = dict.fromkeys(one.subject for one in batch)
        self._given = standing.counters(connection, {subject.context for subject in subjects})
        self._next_id = {one.subject.context: 1 for one in batch}
        self._next_id |= {context: counter.following for context, counter in self._given.items()}
        self._occupied = {context: counter.occupied for context, counter in self._given.items()}
        self._states, self._highest = standing.states(connection, subjects)
        self._revisions = {subject: state.revision for subject, state in self._states.items()}
        self._configured = standing.configured(connection, batch)
        self._ids = standing.known_contents(connection, batch)
        self._known_before = frozenset(self._ids)
        self._taken = standing.taken(
            connection, {(o.subject.context, o.schema_id) for o in batch if o.schema_id is not None}
        )
        asked = {one.schema_id for one in batch if one.schema_id is not None}
        self._live, self._deleted = standing.held(connection, self._states, asked | set(self._ids.values()))
        self._targets = standing.standing_targets(
            connection, {target for one in batch for target in one.content.targets}
        )
        self._schemas: list[dict[str, Any]] = []
        self._references: list[dict[str, Any]] = []
        self._reused: dict[tuple[str, str], int] = {}
        self._returned: list[tuple[str, int]] = []
        self._versions: list[tuple[Subject, dict[str, Any]]] = []
        self._actors: dict[Subject, str] = {}

    def place(self, one: Append) -> Outcome:
        """Decide one append; later ones of the batch see its effect."""
        subject, content = one.subject, one.content
        schema_id = self._ids.get((subject.context, content.hash)) if one.schema_id is None else one.schema_id
        held = self._live.get((subject, schema_id)) if schema_id is not None else None
        if one.schema_id is None and one.version is None and held is not None and schema_id is not None:
            return _registered(subject, content, schema_id, *held)
        if not self._as_judged(one):
            return Stale()
        if one.schema_id is not None:
            return self._place_under_its_id(one, one.schema_id)
        version = self._highest.get(subject, 0) + 1
        refused = self._refused(one, version, new=schema_id is None)
        if refused is not None:
            return refused
        if schema_id is None:
            schema_id = self._new_schema(subject.context, content, self._following(subject.context))
        else:
            self.touched.add((subject.context, schema_id))
        self._new_version(one, version, schema_id)
        return _registered(subject, content, schema_id, version, None)

    def _refused(self, one: Append, version: int, *, new: bool) -> RegistryError | None:
        """Return the error if the version number, or an id for a new schema, is not available."""
        if one.version not in {None, version}:
            return InvalidSchema("Version is not one more than previous version")
        if version > MAX_VERSION:
            return _used_up(one.subject)
        context = one.subject.context
        if new and self._following(context) > MAX_ID:
            return OperationNotPermitted(
                f"Context {context} has given out the id {MAX_ID}, and no record can carry a larger one: "
                "new schemas need another context. If that id is far above all others, an operator can let new ids "
                f"begin below it: contractlog db lower-ids {shlex.quote(context)}"
            )
        return None

    def _following(self, context: str) -> int:
        """Return the id of the next new schema: the first one, from the counter on, that was never assigned."""
        following, occupied = self._next_id[context], self._occupied.get(context)
        if occupied is not None and following >= occupied:
            following, self._occupied[context] = standing.free_id(self._connection, context, following)
            self._next_id[context] = following
        return following

    def _as_judged(self, one: Append) -> bool:
        """Return True if subject, settings, name and references are still those that were checked."""
        state = self._states.get(one.subject, SubjectState())
        if state.revision != one.state.revision or self._configured[one.subject] != one.configured:
            return False
        if one.named is not None and one.named != one.subject and self._meant(one.named) != one.subject:
            return False
        return all(self._stands(target, imported=one.schema_id is not None) for target in one.content.targets)

    def _place_under_its_id(self, one: Append, schema_id: int) -> Outcome:
        """Append under the requested id.

        An id belongs to one content forever, also after its deletion; a content may have several ids.
        """
        subject, content = one.subject, one.content
        context = subject.context
        version = one.version or self._highest.get(subject, 0) + 1
        if version > MAX_VERSION:
            return _used_up(subject)
        known = self._taken.get((context, schema_id))
        if known is not None and known.hash != content.hash:
            refusal = RetiredIdTaken if known.retired else OverwriteNotPermitted
            return refusal(id=schema_id, context=context)
        if known is None and not one.allow_id_gap and schema_id - self._next_id[context] >= MAX_ID_GAP:
            return IdGapNotPermitted(id=schema_id, context=context, highest=self._next_id[context] - 1, gap=MAX_ID_GAP)
        if known is None or known.retired:
            if known is not None:
                self._returned.append((context, schema_id))
            self._new_schema(context, content, schema_id, counted=known is None)
        self._reuse(context, content.hash, schema_id)
        self.touched.add((context, schema_id))
        self._new_version(one, version, schema_id)
        return _registered(subject, content, schema_id, version, None)

    def _meant(self, named: Subject) -> Subject:
        """Return the subject that a name refers to now."""
        return aliased(Snapshot(self._connection), named)

    def _stands(self, target: Target, *, imported: bool) -> bool:
        found = self._targets.get(target)
        return found is not None and (imported or found)

    def _reuse(self, context: str, content_hash: str, schema_id: int) -> None:
        if self._ids.get((context, content_hash)) != schema_id:
            self._ids[context, content_hash] = schema_id
            self._reused[context, content_hash] = schema_id

    def _new_schema(self, context: str, content: Content, schema_id: int, *, counted: bool = True) -> int:
        """Add a schema; unless ``counted`` is false, new ids continue above its id.

        It is false for ids that were assigned before.
        """
        if counted:
            self._next_id[context] = max(self._next_id[context], schema_id + 1)
        self._reuse(context, content.hash, schema_id)
        self._taken[context, schema_id] = standing.Taken(content.hash, retired=False)
        self._schemas.append(_schema_row(context, schema_id, content, self._now))
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

    def _new_version(self, one: Append, version: int, schema_id: int) -> None:
        subject = one.subject
        state = self._states.get(subject, SubjectState())
        self._states[subject] = SubjectState(state.id, state.revision + 1)
        self._highest[subject] = max(version, self._highest.get(subject, 0))
        self._live[subject, schema_id] = (version, self._now)
        row = {"version": version, "context": subject.context, "schema_id": schema_id, "created_at": self._now}
        self._versions.append((subject, row))
        self._actors[subject] = one.actor
        details = {"id": schema_id, **one.details}
        target = f"{subject}/{version}"
        self.lines.append(Line(one.actor, "version.registered", target, after=one.content.hash, details=details))

    def write(self) -> None:
        """Write the rows."""
        if not self._versions:
            return
        execute = self._connection.execute
        changed = list(dict.fromkeys(subject for subject, _ in self._versions))
        self._write_subjects(changed)
        for context in dict.fromkeys(subject.context for subject in changed):
            following = self._next_id[context]
            if context not in self._given:
                execute(insert(tables.contexts).values(name=context, next_schema_id=following))
            elif self._given[context][:2] != (following, True):
                execute(_counter_of(context).values(next_schema_id=following, deleted_at=None))
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
        replaced = [key for key in self._reused if key in self._known_before]
        if replaced:
            c = tables.contents.c
            execute(delete(tables.contents).where(tuple_(c.context, c.hash).in_(replaced)))
        if self._reused:
            rows = [{"context": c, "hash": h, "schema_id": schema_id} for (c, h), schema_id in self._reused.items()]
            execute(insert(tables.contents), rows)

    def _write_subjects(self, changed: Iterable[Subject]) -> None:
        new: list[tuple[Subject, SubjectState]] = []
        known: list[tuple[Subject, SubjectState]] = []
        for subject in changed:
            state = self._states[subject]
            (new if state.id is None else known).append((subject, state))
        if new:
            c = tables.subjects.c
            rows = [
                {"key": key_of(s), "context": s.context, "name": s.name, "revision": state.revision} for s, state in new
            ]
            by_key = {key_of(subject): subject for subject, _ in new}
            for row in self._connection.execute(insert(tables.subjects).returning(c.id, c.key, c.revision), rows):
                self._states[by_key[row.key]] = SubjectState(row.id, row.revision)
        grown: dict[int, list[int | None]] = {}
        for subject, state in known:
            grown.setdefault(state.revision - self._revisions[subject], []).append(state.id)
        for by, ids in grown.items():
            self._connection.execute(_GROW, {"by": by, "ids": ids})

    def _drop_older(self) -> None:
        """Delete soft-deleted versions of the same subject and id, except those that a schema references.

        One with the number of the new version is deleted even if it is referenced.
        """
        c, r = tables.versions.c, tables.schema_references.c
        for subject, row in self._versions:
            older = self._deleted.get((subject, row["schema_id"]), ())
            if older:
                leant_on = select(1).where(r.target_subject_id == c.subject_id, r.target_version == c.version).exists()
                statement = delete(tables.versions).where(
                    c.subject_id == self._states[subject].id,
                    c.version.in_(older),
                    or_(~leant_on, c.version == row["version"]),
                )
                for number in sorted(self._connection.execute(statement.returning(c.version)).scalars()):
                    details = {"id": row["schema_id"], "replaced_by": row["version"]}
                    line = Line(self._actors[subject], "version.hard_deleted", f"{subject}/{number}", details=details)
                    self.lines.append(line)


def _used_up(subject: Subject) -> OperationNotPermitted:
    return OperationNotPermitted(
        f"Subject {subject} has a version {MAX_VERSION}, and there is no number after it: "
        "new versions need another subject"
    )


def _counter_of(context: str) -> Any:
    return update(tables.contexts).where(tables.contexts.c.name == context)


def _schema_row(context: str, schema_id: int, content: Content, now: int) -> dict[str, Any]:
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
        "created_at": now,
    }


def _registered(
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
