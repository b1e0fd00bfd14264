"""Lists of contexts, subjects, versions and ids: filtered, sorted and paged by the database."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from sqlalchemy import ColumnElement, and_, case, func, literal, or_, select

from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.registry.access.permissions import SubjectRange, parse_prefix
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import order_by_bytes
from contractlog.registry.storage.model import WHOLE_LIST, Deleted, Page, SubjectVersion, subject_key
from contractlog.registry.storage.snapshot import Snapshot, restrict_deleted

__all__ = [
    "QUALIFIED_NAME",
    "find_version_with_properties",
    "list_contexts",
    "list_referencing_ids",
    "list_subjects",
    "list_subjects_of_id",
    "list_versions",
    "list_versions_of_id",
    "prefix_conditions",
]

_S, _V, _U = tables.schemas.c, tables.versions.c, tables.subjects.c

#: The name of a subject as the API writes it.
QUALIFIED_NAME: Final[ColumnElement[str]] = case(
    (_U.context == DEFAULT_CONTEXT, _U.name), else_=literal(":") + _U.context + ":" + _U.name
)
_ANY: Final = select(1).where(_V.subject_id == _U.id).exists()
_LIVE: Final = select(1).where(_V.subject_id == _U.id, _V.deleted_at.is_(None)).exists()
_SUBJECT_CONDITIONS: Final[Mapping[Deleted, ColumnElement[bool]]] = {
    Deleted.EXCLUDED: _LIVE,
    Deleted.INCLUDED: _ANY,
    Deleted.ONLY: _ANY & ~_LIVE,
}


def _starts_with(column: ColumnElement[str], prefix: str) -> ColumnElement[bool]:
    return func.substr(column, 1, len(prefix)) == prefix


def prefix_conditions(prefix: str) -> list[ColumnElement[bool]] | None:
    """Return conditions for subjects with a prefix (see ``parse_prefix``); None if no subject can have it."""
    ranges = [list(_range_conditions(one)) for one in parse_prefix(prefix)]
    if len(ranges) > 1:
        return [or_(*(and_(*one) for one in ranges))]
    return ranges[0] if ranges else None


def _range_conditions(subjects: SubjectRange) -> Iterator[ColumnElement[bool]]:
    if subjects.open:
        yield _U.context != DEFAULT_CONTEXT
        yield _starts_with(_U.context, subjects.context or "")
    elif subjects.context is not None:
        yield _U.context == subjects.context
    if subjects.start:
        yield _starts_with(_U.name, subjects.start)


def list_contexts(snapshot: Snapshot, page: Page = WHOLE_LIST, *, prefix: str = "") -> list[str]:
    """List the contexts with registrations, the default one first; deleted contexts are left out."""
    c = tables.contexts.c
    if "\0" in prefix:
        return []
    has_versions = select(1).where(_V.context == c.name).exists()
    statement = select(c.name).where(or_(c.name == DEFAULT_CONTEXT, c.deleted_at.is_(None), has_versions))
    statement = statement.where(_starts_with(c.name, prefix)).order_by(order_by_bytes(c.name))  # "." sorts before ".a"
    return list(snapshot.connection.execute(page.of(statement)).scalars())


def list_subjects(snapshot: Snapshot, prefix: str, seen: Deleted, page: Page = WHOLE_LIST) -> list[str]:
    """List the names of subjects with versions of this kind; for ``DELETED``, those that have no others."""
    conditions = prefix_conditions(prefix)
    if conditions is None:
        return []
    statement = (
        select(QUALIFIED_NAME).where(_SUBJECT_CONDITIONS[seen], *conditions).order_by(order_by_bytes(QUALIFIED_NAME))
    )
    return list(snapshot.connection.execute(page.of(statement)).scalars())


def list_versions(
    snapshot: Snapshot, subject: Subject, seen: Deleted, page: Page = WHOLE_LIST
) -> list[tuple[int, bool]]:
    """List a subject's versions as (number, whether soft-deleted), lowest first."""
    statement = (
        select(_V.version, _V.deleted_at)
        .join(tables.subjects, _U.id == _V.subject_id)
        .where(_U.key == subject_key(subject))
        .order_by(_V.version)
    )
    rows = snapshot.connection.execute(page.of(restrict_deleted(statement, seen)))
    return [(row.version, row.deleted_at is not None) for row in rows]


def list_versions_of_id(
    snapshot: Snapshot, context: str, schema_id: int, seen: Deleted, page: Page = WHOLE_LIST
) -> list[SubjectVersion]:
    """List the versions with an id, by the names of their subjects."""
    statement = (
        select(_U.context, _U.name, _V.version, _V.deleted_at)
        .join_from(tables.versions, tables.subjects, _U.id == _V.subject_id)
        .where(_V.context == context, _V.schema_id == schema_id)
        .order_by(order_by_bytes(_U.name), _V.version)
    )
    rows = snapshot.connection.execute(page.of(restrict_deleted(statement, seen)))
    return [SubjectVersion(Subject(row.context, row.name), row.version, row.deleted_at is not None) for row in rows]


def list_subjects_of_id(
    snapshot: Snapshot, context: str, schema_id: int, seen: Deleted, page: Page = WHOLE_LIST
) -> list[str]:
    """List the names of the subjects with an id."""
    subject_ids = restrict_deleted(select(_V.subject_id).where(_V.context == context, _V.schema_id == schema_id), seen)
    statement = select(QUALIFIED_NAME).where(_U.id.in_(subject_ids)).order_by(order_by_bytes(_U.name))
    return list(snapshot.connection.execute(page.of(statement)).scalars())


def list_referencing_ids(
    snapshot: Snapshot, subject: Subject, version: int, seen: Deleted, page: Page = WHOLE_LIST
) -> list[int]:
    """List the ids of schemas that reference a version, in versions of this kind."""
    r = tables.schema_references.c
    target = select(_U.id).where(_U.key == subject_key(subject)).scalar_subquery()
    statement = (
        select(r.schema_id)
        .distinct()
        .join(tables.versions, (_V.context == r.context) & (_V.schema_id == r.schema_id))
        .where(r.target_subject_id == target, r.target_version == version)
        .order_by(r.schema_id)
    )
    return list(snapshot.connection.execute(page.of(restrict_deleted(statement, seen))).scalars())


def find_version_with_properties(
    snapshot: Snapshot, subject: Subject, properties: Mapping[str, str], seen: Deleted
) -> int | None:
    """Return the newest version whose metadata has all these properties."""
    statement: Any = (
        select(_V.version, _S.metadata)
        .join_from(tables.versions, tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
        .join(tables.subjects, _U.id == _V.subject_id)
        .where(_U.key == subject_key(subject), _S.metadata.is_not(None))
        .order_by(_V.version.desc())
    )
    for row in snapshot.connection.execute(restrict_deleted(statement, seen)):
        if properties.items() <= (json.loads(row.metadata).get("properties") or {}).items():
            return int(row.version)
    return None
