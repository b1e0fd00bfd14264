"""Associations of subjects with resources: queries and changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, insert, select, update

from contractlog.compatibility.names import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import key_of
from contractlog.registry.storage.writes import Transaction

__all__ = [
    "TOPIC",
    "Association",
    "Lifecycle",
    "Resource",
    "Wanted",
    "add",
    "find",
    "of_subject",
    "of_subjects",
    "remove",
    "replace_row",
    "strong_among",
]

TOPIC: Final = "topic"  #: the only type of resource
_A = tables.associations.c


class Lifecycle(StrEnum):
    """STRONG: the resource owns the subject, which is deleted with it. WEAK: the resource only uses it."""

    STRONG = "STRONG"
    WEAK = "WEAK"


@dataclass(frozen=True, slots=True)
class Resource:
    """An entity that subjects are bound to; for Kafka a topic, whose namespace is its cluster."""

    name: str
    namespace: str
    id: str
    type: str = TOPIC


@dataclass(frozen=True, slots=True)
class Association:
    """A subject bound to the key or the value of a resource."""

    guid: str
    subject: Subject
    resource: Resource
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
class Wanted:
    """Filter of associations; None matches any value."""

    subject: Subject | None = None
    resource_id: str | None = None
    name: str | None = None
    namespace: str | None = None
    resource_type: str = TOPIC
    types: tuple[str, ...] = ()
    lifecycle: Lifecycle | None = None

    @property
    def _texts(self) -> str:
        return "".join((self.resource_id or "", self.name or "", self.namespace or "", self.resource_type, *self.types))

    def conditions(self) -> list[Any]:
        """Return the conditions on rows."""
        asked = {
            _A.subject_key: None if self.subject is None else key_of(self.subject),
            _A.resource_id: self.resource_id,
            _A.resource_name: self.name,
            _A.resource_namespace: self.namespace,
            _A.resource_type: self.resource_type,
            _A.lifecycle: None if self.lifecycle is None else self.lifecycle.value,
        }
        found = [column == value for column, value in asked.items() if value is not None]
        return [*found, _A.association_type.in_(self.types)] if self.types else found

    @property
    def possible(self) -> bool:
        """Return False if nothing can match: no stored name contains a NUL, and PostgreSQL rejects such text."""
        return "\0" not in self._texts


def find(snapshot: Snapshot, wanted: Wanted) -> list[Association]:
    """List associations, ordered by resource, type and subject."""
    if not wanted.possible:
        return []
    rows = snapshot.connection.execute(select(tables.associations).where(*wanted.conditions()))
    return sorted(map(_association, rows), key=lambda one: one.rank)


def of_subject(snapshot: Snapshot, subject: Subject) -> list[Association]:
    """List all associations of a subject."""
    statement = select(tables.associations).where(_A.subject_key == key_of(subject))
    return sorted(map(_association, snapshot.connection.execute(statement)), key=lambda one: one.rank)


def of_subjects(snapshot: Snapshot, subjects: Collection[Subject]) -> dict[Subject, list[Association]]:
    """Return the associations of many subjects; subjects without any are left out."""
    found: dict[Subject, list[Association]] = {}
    keys = [key_of(subject) for subject in subjects]
    rows = snapshot.connection.execute(select(tables.associations).where(_A.subject_key.in_(keys))) if keys else ()
    for one in sorted(map(_association, rows), key=lambda one: one.rank):
        found.setdefault(one.subject, []).append(one)
    return found


def strong_among(connection: Connection, subjects: Collection[Subject]) -> set[Subject]:
    """Return the subjects that a resource owns."""
    if not subjects:
        return set()  # building a statement costs more than running it
    keys = [key_of(subject) for subject in subjects]
    statement = select(_A.context, _A.subject).where(_A.subject_key.in_(keys), _A.lifecycle == Lifecycle.STRONG.value)
    return {Subject(row.context, row.subject) for row in connection.execute(statement)}


def add(transaction: Transaction, association: Association) -> None:
    """Insert an association."""
    transaction.connection.execute(insert(tables.associations).values(**_row(association)))


def replace_row(transaction: Transaction, association: Association) -> None:
    """Update the row of an association."""
    statement = update(tables.associations).where(_A.guid == association.guid)
    transaction.connection.execute(statement.values(**_row(association)))


def remove(transaction: Transaction, guids: Iterable[str]) -> None:
    """Delete associations."""
    transaction.connection.execute(delete(tables.associations).where(_A.guid.in_(list(guids))))


def _association(row: Row[Any]) -> Association:
    return Association(
        guid=row.guid,
        subject=Subject(row.context, row.subject),
        resource=Resource(row.resource_name, row.resource_namespace, row.resource_id, row.resource_type),
        type=row.association_type,
        lifecycle=Lifecycle(row.lifecycle),
        frozen=row.frozen,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def _row(one: Association) -> dict[str, Any]:
    return {
        "guid": one.guid,
        "context": one.subject.context,
        "subject_key": key_of(one.subject),
        "subject": one.subject.name,
        "resource_id": one.resource.id,
        "resource_name": one.resource.name,
        "resource_namespace": one.resource.namespace,
        "resource_type": one.resource.type,
        "association_type": one.type,
        "lifecycle": one.lifecycle.value,
        "frozen": one.frozen,
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }
