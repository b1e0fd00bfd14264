"""Queries of the versions of one subject: their list, their referrers, and a version by its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import select

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot, restrict_deleted
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page, subject_key

__all__ = ["find_version_with_properties", "list_referencing_ids", "list_versions"]

_S, _V, _U = tables.schemas.c, tables.versions.c, tables.subjects.c


def list_versions(
    snapshot: Snapshot, subject: Subject, deleted: DeletedFilter, page: Page = WHOLE_LIST
) -> list[tuple[int, bool]]:
    """List a subject's versions as (number, whether soft-deleted), lowest first."""
    statement = (
        select(_V.version, _V.deleted_at)
        .join(tables.subjects, _U.id == _V.subject_id)
        .where(_U.key == subject_key(subject))
        .order_by(_V.version)
    )
    rows = snapshot.connection.execute(page.of(restrict_deleted(statement, deleted)))
    return [(row.version, row.deleted_at is not None) for row in rows]


def list_referencing_ids(
    snapshot: Snapshot, subject: Subject, version: int, deleted: DeletedFilter, page: Page = WHOLE_LIST
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
    return list(snapshot.connection.execute(page.of(restrict_deleted(statement, deleted))).scalars())


def find_version_with_properties(
    snapshot: Snapshot, subject: Subject, properties: Mapping[str, str], deleted: DeletedFilter
) -> int | None:
    """Return the newest version whose metadata has all these properties."""
    statement: Any = (
        select(_V.version, _S.metadata)
        .join_from(tables.versions, tables.schemas, (_S.context == _V.context) & (_S.id == _V.schema_id))
        .join(tables.subjects, _U.id == _V.subject_id)
        .where(_U.key == subject_key(subject), _S.metadata.is_not(None))
        .order_by(_V.version.desc())
    )
    for row in snapshot.connection.execute(restrict_deleted(statement, deleted)):
        if properties.items() <= (json.loads(row.metadata).get("properties") or {}).items():
            return int(row.version)
    return None
