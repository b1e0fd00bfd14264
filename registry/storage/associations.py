"""Associations of subjects with resources: queries and changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, insert, select, update

from contractlog.compatibility.identifiers import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.model import subject_key
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "TOPIC",
    "AssociatedResource",
    "AssociationFilter",
    "Lifecycle",
    "StoredAssociation",
    "delete_associations",
    "find_associations",
    "find_by_subject",
    "find_by_subjects",
    "find_owned_subjects",
    "insert_association",
    "update_association",
]

TOPIC: Final = "topic"  #: the only type of resource
_A = tables.associations.c


class Lifecycle(StrEnum):
    """STRONG: the resource owns the subject, which is deleted with it. WEAK: the resource only uses it."""

    STRONG = "STRONG"
    WEAK = "WEAK"


@dataclass(frozen=True, slots=True)
class AssociatedResource:
    """An entity that subjects are bound to; for Kafka a topic, whose namespace is its cluster."""

    name: str
    namespace: str
    id: str
    type: str = TOPIC


@dataclass(frozen=True, slots=True)
class StoredAssociation:
    """A subject bound to the key or the value of a resource."""

    guid: str
    subject: Subject
    resource: AssociatedResource
    type: str  #: ``key`` or ``value``
    lifecycle: Lifecycle
    frozen: bool
    created_at: int
    updated_at: int

    @property
    def rank(self) -> tuple[str, ...]:
        """Sort key of lists of associations."""
        return (self.resource.name, self.resource.namespace, self.resource.type, self.type, str(self.subject))


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationFilter:
    """Filter of associations; None matches any value."""

    subject: Subject | None = None
    resource_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    resource_type: str = TOPIC
    types: tuple[str, ...] = ()
    lifecycle: Lifecycle | None = None

    def conditions(self) -> list[Any]:
        """Return the conditions on rows."""
        values = {
            _A.subject_key: None if self.subject is None else subject_key(self.subject),
            _A.resource_id: self.resource_id,
            _A.resource_name: self.name,
            _A.resource_namespace: self.namespace,
            _A.resource_type: self.resource_type,
            _A.lifecycle: None if self.lifecycle is None else self.lifecycle.value,
        }
        conditions = [column == value for column, value in values.items() if value is not None]
        return [*conditions, _A.association_type.in_(self.types)] if self.types else conditions

    @property
    def can_match(self) -> bool:
        """Return False if nothing can match: no stored name contains a NUL, and PostgreSQL rejects such text."""
        texts = (self.resource_id, self.name, self.namespace, self.resource_type, *self.types)
        return not any(text and "\0" in text for text in texts)


def find_associations(snapshot: Snapshot, association_filter: AssociationFilter) -> list[StoredAssociation]:
    """List associations, ordered by resource, type and subject."""
    if not association_filter.can_match:
        return []
    rows = snapshot.connection.execute(select(tables.associations).where(*association_filter.conditions()))
    return sorted(map(_parse_row, rows), key=lambda association: association.rank)


def find_by_subject(snapshot: Snapshot, subject: Subject) -> list[StoredAssociation]:
    """List all associations of a subject."""
    return find_by_subjects(snapshot, [subject]).get(subject, [])


def find_by_subjects(snapshot: Snapshot, subjects: Collection[Subject]) -> dict[Subject, list[StoredAssociation]]:
    """Return the associations of many subjects; subjects without any are left out."""
    associations: dict[Subject, list[StoredAssociation]] = {}
    keys = [subject_key(subject) for subject in subjects]
    rows = snapshot.connection.execute(select(tables.associations).where(_A.subject_key.in_(keys))) if keys else ()
    for association in sorted(map(_parse_row, rows), key=lambda association: association.rank):
        associations.setdefault(association.subject, []).append(association)
    return associations


def find_owned_subjects(connection: Connection, subjects: Collection[Subject]) -> set[Subject]:
    """Return the subjects that a resource owns."""
    if not subjects:
        return set()  # building a statement costs more than running it
    keys = [subject_key(subject) for subject in subjects]
    statement = select(_A.context, _A.subject).where(_A.subject_key.in_(keys), _A.lifecycle == Lifecycle.STRONG.value)
    return {Subject(row.context, row.subject) for row in connection.execute(statement)}


def insert_association(transaction: Transaction, association: StoredAssociation) -> None:
    """Insert an association."""
    transaction.connection.execute(insert(tables.associations).values(**_format_row(association)))


def update_association(transaction: Transaction, association: StoredAssociation) -> None:
    """Update the row of an association."""
    statement = update(tables.associations).where(_A.guid == association.guid)
    transaction.connection.execute(statement.values(**_format_row(association)))


def delete_associations(transaction: Transaction, guids: Iterable[str]) -> None:
    """Delete associations."""
    transaction.connection.execute(delete(tables.associations).where(_A.guid.in_(list(guids))))


def _parse_row(row: Row[Any]) -> StoredAssociation:
    return StoredAssociation(
        guid=row.guid,
        subject=Subject(row.context, row.subject),
        resource=AssociatedResource(row.resource_name, row.resource_namespace, row.resource_id, row.resource_type),
        type=row.association_type,
        lifecycle=Lifecycle(row.lifecycle),
        frozen=row.frozen,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _format_row(association: StoredAssociation) -> dict[str, Any]:
    return {
        "guid": association.guid,
        "context": association.subject.context,
        "subject_key": subject_key(association.subject),
        "subject": association.subject.name,
        "resource_id": association.resource.id,
        "resource_name": association.resource.name,
        "resource_namespace": association.resource.namespace,
        "resource_type": association.resource.type,
        "association_type": association.type,
        "lifecycle": association.lifecycle.value,
        "frozen": association.frozen,
        "created_at": association.created_at,
        "updated_at": association.updated_at,
    }
