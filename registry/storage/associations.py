"""Associations of subjects with resources: queries and changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from sqlalchemy import Row, delete, insert, select, update

from contractlog.compatibility.association_values import TOPIC, Lifecycle, Resource
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.json_text import camel_case
from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import subject_key
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "AssociationFilter",
    "StoredAssociation",
    "delete_associations",
    "find_associations",
    "find_by_subject",
    "find_by_subjects",
    "find_owned_subjects",
    "insert_association",
    "is_known_resource",
    "update_association",
]

_A = tables.associations.c


@dataclass(frozen=True, slots=True)
class StoredAssociation:
    """A subject bound to the key or the value of a resource; columns and bodies have its names."""

    guid: str
    subject: Subject
    resource_id: str
    resource_name: str
    resource_namespace: str
    resource_type: str
    association_type: str  #: ``key`` or ``value``
    lifecycle: Lifecycle
    frozen: bool
    created_at: int | None = None  #: milliseconds since 1970; None in an import whose source does not provide it
    updated_at: int | None = None

    @classmethod
    def of_row(cls, row: Row[Any]) -> Self:
        """Parse a row."""
        parsed: dict[str, Any] = {"subject": Subject(row.context, row.subject), "lifecycle": Lifecycle(row.lifecycle)}
        return cls(**{member.name: parsed.get(member.name, getattr(row, member.name)) for member in fields(cls)})

    def row(self) -> dict[str, Any]:
        """Return the row."""
        subject = self.subject
        names = {"context": subject.context, "subject_key": subject_key(subject), "subject": subject.name}
        return self._members() | names

    def body(self) -> dict[str, Any]:
        """Return the members of bodies, without the times, whose names differ."""
        return {camel_case(name): value for name, value in self._members().items() if not name.endswith("_at")}

    def _members(self) -> dict[str, Any]:
        values = {member.name: getattr(self, member.name) for member in fields(self)}
        return values | {"subject": str(self.subject), "lifecycle": self.lifecycle.value}

    def without_times(self) -> Self:
        """Return the association without its times."""
        return replace(self, created_at=None, updated_at=None)

    @property
    def resource(self) -> Resource:
        """The resource."""
        return Resource(self.resource_name, self.resource_namespace, self.resource_id, self.resource_type)

    @property
    def change_log_name(self) -> str:
        """The name in the change log."""
        return f"{self.resource_namespace}:{self.resource_name}/{self.association_type}"

    @property
    def change_log_details(self) -> dict[str, str]:
        """The details in the change log: what the association binds to what."""
        return {"subject": str(self.subject), "topic": self.resource_name, "part": self.association_type}

    @property
    def rank(self) -> tuple[str, ...]:
        """Sort key of lists of associations."""
        resource = (self.resource_name, self.resource_namespace, self.resource_type)
        return (*resource, self.association_type, str(self.subject))


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
    return sorted(map(StoredAssociation.of_row, rows), key=lambda association: association.rank)


def find_by_subject(snapshot: Snapshot, subject: Subject) -> list[StoredAssociation]:
    """List all associations of a subject."""
    return find_by_subjects(snapshot, [subject]).get(subject, [])


def find_by_subjects(snapshot: Snapshot, subjects: Collection[Subject]) -> dict[Subject, list[StoredAssociation]]:
    """Return the associations of many subjects; subjects without any are left out."""
    associations: dict[Subject, list[StoredAssociation]] = {}
    keys = [subject_key(subject) for subject in subjects]
    rows = snapshot.connection.execute(select(tables.associations).where(_A.subject_key.in_(keys))) if keys else ()
    for association in sorted(map(StoredAssociation.of_row, rows), key=lambda association: association.rank):
        associations.setdefault(association.subject, []).append(association)
    return associations


def find_owned_subjects(snapshot: Snapshot, subjects: Collection[Subject]) -> set[Subject]:
    """Return the subjects that a resource owns."""
    if not subjects:
        return set()  # building a statement costs more than running it
    keys = [subject_key(subject) for subject in subjects]
    statement = select(_A.context, _A.subject).where(_A.subject_key.in_(keys), _A.lifecycle == Lifecycle.STRONG.value)
    return {Subject(row.context, row.subject) for row in snapshot.connection.execute(statement)}


def is_known_resource(snapshot: Snapshot, resource: Resource) -> bool:
    """Return whether a resource of this name and namespace has associations, whatever its id."""
    statement = (
        select(_A.guid)
        .where(
            _A.resource_name == resource.name,
            _A.resource_namespace == resource.namespace,
            _A.resource_type == resource.type,
        )
        .limit(1)
    )
    return snapshot.connection.execute(statement).first() is not None


def insert_association(transaction: Transaction, association: StoredAssociation) -> None:
    """Insert an association."""
    transaction.connection.execute(insert(tables.associations).values(association.row()))


def update_association(transaction: Transaction, association: StoredAssociation) -> None:
    """Update the row of an association."""
    statement = update(tables.associations).where(_A.guid == association.guid)
    transaction.connection.execute(statement.values(association.row()))


def delete_associations(transaction: Transaction, guids: Iterable[str]) -> None:
    """Delete associations."""
    transaction.connection.execute(delete(tables.associations).where(_A.guid.in_(list(guids))))
