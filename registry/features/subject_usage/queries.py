"""Ids of the versions of subjects, and topics that subjects are for."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import select

from contractlog.compatibility.association_values import TOPIC
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, split_topic_subject
from contractlog.contracts.audit.report import PARTS
from contractlog.registry.storage import tables
from contractlog.registry.storage.associations import find_by_subject
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import subject_key

__all__ = ["find_versions", "list_topics"]

_V, _U = tables.versions.c, tables.subjects.c


def find_versions(snapshot: Snapshot, subject: Subject) -> dict[tuple[str, int], int]:
    """Return the versions of a subject by context and id: of each id the newest live one, else the newest."""
    statement = (
        select(_V.context, _V.schema_id, _V.version)
        .join_from(tables.versions, tables.subjects, _U.id == _V.subject_id)
        .where(_U.key == subject_key(subject))
        .order_by(_V.deleted_at.is_(None), _V.version)
    )
    return {(row.context, row.schema_id): row.version for row in snapshot.connection.execute(statement)}


def list_topics(snapshot: Snapshot, subject: Subject) -> list[tuple[str, str]]:
    """Return the topics and parts that a subject is for: by its name, and by its associations.

    Audits read ids in the default context, so subjects of other contexts have none.
    """
    return [] if subject.context != DEFAULT_CONTEXT else sorted(set(_find_topics(snapshot, subject)))


def _find_topics(snapshot: Snapshot, subject: Subject) -> Iterator[tuple[str, str]]:
    named = split_topic_subject(subject.name)
    if named is not None:
        yield named
    for association in find_by_subject(snapshot, subject):
        if association.resource_type == TOPIC and association.association_type in PARTS:
            yield association.resource_name, association.association_type
