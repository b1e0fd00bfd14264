"""State for deciding a batch of appends, read under the lock by a few set-based statements."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, tuple_

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import in_numbers, in_texts
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import (
    PendingAppend,
    ReferenceTarget,
    ScopeSettings,
    SubjectState,
    scope_chain,
    subject_key,
)

__all__ = [
    "AssignedId",
    "IdCounter",
    "VersionsById",
    "find_free_id",
    "read_assigned_ids",
    "read_content_ids",
    "read_counters",
    "read_settings",
    "read_states",
    "read_targets",
    "read_versions",
]

_S, _V, _U = tables.schemas.c, tables.versions.c, tables.subjects.c

# Built once: building a statement costs more than running it.
_NAMES = tables.contexts.c
_R = tables.retired.c
#: Counters, each with the lowest assigned id from there on: from requests that named ids, or from a restored database.
_COUNTERS: Final = select(
    _NAMES.name,
    _NAMES.next_schema_id,
    _NAMES.deleted_at,
    *(
        select(func.min(assigned)).where(context == _NAMES.name, assigned >= _NAMES.next_schema_id).scalar_subquery()
        for context, assigned in ((_S.context, _S.id), (_R.context, _R.schema_id))
    ),
).where(in_texts(_NAMES.name, "names"))
_WINDOW: Final = 1_000
_ASSIGNED_IDS: Final = tuple(
    select(assigned)
    .where(context == bindparam("context"), assigned >= bindparam("start"))
    .order_by(assigned)
    .limit(_WINDOW)
    for context, assigned in ((_S.context, _S.id), (_R.context, _R.schema_id))
)
_HIGHEST: Final = select(func.max(_V.version)).where(_V.subject_id == _U.id).scalar_subquery()
_STATES: Final = select(_U.id, _U.key, _U.revision, _HIGHEST.label("highest")).where(in_texts(_U.key, "keys"))
_CONTENTS: Final = select(tables.contents.c.hash, tables.contents.c.schema_id).where(
    tables.contents.c.context == bindparam("context"), in_texts(tables.contents.c.hash, "hashes")
)
_VERSIONS: Final = (
    select(_V.subject_id, _V.schema_id, _V.version, _V.created_at, _V.deleted_at)
    .where(in_numbers(_V.subject_id, "subjects"), in_numbers(_V.schema_id, "schemas"))
    .order_by(_V.version)
)


class IdCounter(NamedTuple):
    """Id counter of a context."""

    next_id: int
    listed: bool  #: false for deleted contexts
    occupied: int | None = None  #: the lowest id, from ``next_id`` on, that was assigned before


def read_counters(connection: Connection, contexts: set[str]) -> dict[str, IdCounter]:
    """Read the counters of those of these contexts that exist."""
    rows = connection.execute(_COUNTERS, {"names": contexts})
    counted = {}
    for name, next_id, deleted_at, *assigned in rows:
        occupied = min((schema_id for schema_id in assigned if schema_id is not None), default=None)
        counted[name] = IdCounter(next_id, deleted_at is None, occupied)
    return counted


def find_free_id(connection: Connection, context: str, start: int) -> tuple[int, int | None]:
    """Return the first never assigned id from ``start`` on, and the lowest assigned one above it."""
    while True:
        parts = [
            connection.execute(part, {"context": context, "start": start}).scalars().all() for part in _ASSIGNED_IDS
        ]
        full = [part[-1] for part in parts if len(part) == _WINDOW]  # beyond these there may be more
        assigned = sorted(schema_id for part in parts for schema_id in part if not full or schema_id <= min(full))
        for schema_id in assigned:
            if schema_id > start:
                return start, schema_id
            start = schema_id + 1
        if not full:
            return start, None


def read_states(
    connection: Connection, subjects: Iterable[Subject]
) -> tuple[dict[Subject, SubjectState], dict[Subject, int]]:
    """Read the rows of the subjects that exist, and the highest version of each that has any."""
    by_key = {subject_key(subject): subject for subject in subjects}
    rows = connection.execute(_STATES, {"keys": by_key}).all()
    states = {by_key[row.key]: SubjectState(row.id, row.revision) for row in rows}
    return states, {by_key[row.key]: row.highest for row in rows if row.highest is not None}


def read_settings(connection: Connection, batch: Sequence[PendingAppend]) -> dict[Subject, ScopeSettings]:
    """Read the settings in force for each subject."""
    chains = {append.subject: scope_chain(append.subject) for append in batch}
    by_scope = Snapshot(connection).read_settings({scope for chain in chains.values() for scope in chain})
    return {subject: ScopeSettings.merge(by_scope[scope] for scope in chain) for subject, chain in chains.items()}


def read_content_ids(connection: Connection, batch: Sequence[PendingAppend]) -> dict[tuple[str, str], int]:
    """Read the id that new registrations of each content get."""
    hashes: dict[str, set[str]] = {}
    for append in batch:
        hashes.setdefault(append.subject.context, set()).add(append.content.hash)
    return {
        (context, row.hash): row.schema_id
        for context, context_hashes in hashes.items()
        for row in connection.execute(_CONTENTS, {"context": context, "hashes": context_hashes})
    }


class VersionsById(NamedTuple):
    """Versions by subject and schema id."""

    live: dict[tuple[Subject, int], tuple[int, int]]  #: the newest live version, with its time
    deleted: dict[tuple[Subject, int], list[int]]  #: the soft-deleted ones


def read_versions(
    connection: Connection, rows: Mapping[Subject, SubjectState], schema_ids: Collection[int]
) -> VersionsById:
    """Read the versions of these subjects with these ids."""
    versions = VersionsById({}, {})
    if rows and schema_ids:
        by_id = {state.id: subject for subject, state in rows.items()}
        for row in connection.execute(_VERSIONS, {"subjects": by_id, "schemas": schema_ids}):
            key = (by_id[row.subject_id], row.schema_id)
            if row.deleted_at is None:
                versions.live[key] = (row.version, row.created_at)
            else:
                versions.deleted.setdefault(key, []).append(row.version)
    return versions


def read_targets(connection: Connection, targets: set[ReferenceTarget]) -> dict[ReferenceTarget, bool]:
    """Read the current targets of these version numbers, and whether each is live.

    A number that was assigned again gives another target, as the schema id differs. Subjects that a resource owns are
    left out: what references one is checked again, and rejected.
    """
    if not targets:
        return {}
    c, a = tables.versions.c, tables.associations.c
    numbers = {(target.subject_id, target.version) for target in targets}
    owned = (
        select(tables.subjects.c.id)
        .join(tables.associations, a.subject_key == tables.subjects.c.key)
        .where(tables.subjects.c.id.in_({target.subject_id for target in targets}), a.lifecycle == "STRONG")
    )
    statement = select(c.subject_id, c.version, c.schema_id, c.context, c.deleted_at).where(
        tuple_(c.subject_id, c.version).in_(numbers), c.subject_id.not_in(owned)
    )
    return {
        ReferenceTarget(row.subject_id, row.version, row.schema_id, row.context): row.deleted_at is None
        for row in connection.execute(statement)
    }


@dataclass(frozen=True, slots=True)
class AssignedId:
    """The content of an id; ``hash`` is None if it was not recorded for a deleted one."""

    hash: str | None
    retired: bool


def read_assigned_ids(connection: Connection, ids: set[tuple[str, int]]) -> dict[tuple[str, int], AssignedId]:
    """Read the contents of those of these ids (context, id) that were assigned."""
    if not ids:
        return {}
    assigned = {}
    for table, key, retired in ((tables.retired, tables.retired.c.schema_id, True), (tables.schemas, _S.id, False)):
        statement = select(table.c.context, key.label("id"), table.c.hash).where(tuple_(table.c.context, key).in_(ids))
        for row in connection.execute(statement):
            assigned[row.context, row.id] = AssignedId(row.hash, retired)
    return assigned
