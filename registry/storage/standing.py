"""What a batch of appends is decided against, read under the lock by a few set-based statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select, tuple_

from contractlog.compatibility.names import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Append, Configured, SubjectState, Target, key_of, scopes

__all__ = [
    "Taken",
    "configured",
    "counters",
    "held",
    "highest",
    "known_contents",
    "standing_targets",
    "states",
    "taken",
]

_S = tables.schemas.c


def counters(connection: Connection, contexts: set[str]) -> dict[str, int]:
    """Read the next id of each of these contexts that is there."""
    c = tables.contexts.c
    statement = select(c.name, c.next_schema_id).where(c.name.in_(contexts))
    return {row.name: row.next_schema_id for row in connection.execute(statement)}


def states(connection: Connection, batch: Sequence[Append]) -> dict[Subject, SubjectState]:
    """Read the rows of the subjects."""
    by_key = {key_of(one.subject): one.subject for one in batch}
    c = tables.subjects.c
    rows = connection.execute(select(c.id, c.key, c.revision).where(c.key.in_(by_key)))
    return {by_key[row.key]: SubjectState(row.id, row.revision) for row in rows}


def configured(connection: Connection, batch: Sequence[Append]) -> dict[Subject, Configured]:
    """Read the settings in force for each subject."""
    wanted = {one.subject: scopes(one.subject) for one in batch}
    found = Snapshot(connection).configured({scope for chain in wanted.values() for scope in chain})
    return {subject: Configured.inherited(found[scope] for scope in chain) for subject, chain in wanted.items()}


def known_contents(connection: Connection, batch: Sequence[Append]) -> dict[tuple[str, str], int]:
    """Read which id new registrations of each content get."""
    c = tables.contents.c
    wanted = {(one.subject.context, one.content.hash) for one in batch}
    statement = select(c.context, c.hash, c.schema_id).where(tuple_(c.context, c.hash).in_(wanted))
    return {(row.context, row.hash): row.schema_id for row in connection.execute(statement)}


def highest(connection: Connection, subject_ids: set[int | None]) -> dict[Subject, int]:
    """Read the highest version of each subject."""
    c, u = tables.versions.c, tables.subjects.c
    statement = (
        select(u.context, u.name, func.max(c.version).label("highest"))
        .join_from(tables.versions, tables.subjects, u.id == c.subject_id)
        .where(c.subject_id.in_(subject_ids))
        .group_by(u.context, u.name)
    )
    return {Subject(row.context, row.name): row.highest for row in connection.execute(statement)}


def held(
    connection: Connection, subject_ids: set[int | None], schema_ids: set[int]
) -> tuple[dict[tuple[Subject, int], tuple[int, int]], dict[tuple[Subject, int], list[int]]]:
    """Read which subjects hold which ids: the newest live version with its time, and the soft-deleted ones."""
    live: dict[tuple[Subject, int], tuple[int, int]] = {}
    deleted: dict[tuple[Subject, int], list[int]] = {}
    if schema_ids:
        c, u = tables.versions.c, tables.subjects.c
        statement = (
            select(u.context, u.name, c.schema_id, c.version, c.created_at, c.deleted_at)
            .join_from(tables.versions, tables.subjects, u.id == c.subject_id)
            .where(c.subject_id.in_(subject_ids), c.schema_id.in_(schema_ids))
            .order_by(c.version)
        )
        for row in connection.execute(statement):
            key = (Subject(row.context, row.name), row.schema_id)
            if row.deleted_at is None:
                live[key] = (row.version, row.created_at)
            else:
                deleted.setdefault(key, []).append(row.version)
    return live, deleted


def standing_targets(connection: Connection, targets: set[Target]) -> dict[Target, bool]:
    """Read what the numbers stand for now, each with whether it is live; a number given again stands for another id.

    Subjects that a resource owns are no targets: what leans on one is judged again, and refused.
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
        Target(row.subject_id, row.version, row.schema_id, row.context): row.deleted_at is None
        for row in connection.execute(statement)
    }


@dataclass(frozen=True, slots=True)
class Taken:
    """What an id stands for; None where a deleted one was not written down."""

    hash: str | None
    retired: bool


def taken(connection: Connection, ids: set[tuple[str, int]]) -> dict[tuple[str, int], Taken]:
    """Read which of these ids (context, id) stand for a content, and for which."""
    if not ids:
        return {}
    found = {}
    for table, key, retired in ((tables.retired, tables.retired.c.schema_id, True), (tables.schemas, _S.id, False)):
        statement = select(table.c.context, key.label("id"), table.c.hash).where(tuple_(table.c.context, key).in_(ids))
        for row in connection.execute(statement):
            found[row.context, row.id] = Taken(row.hash, retired)
    return found
