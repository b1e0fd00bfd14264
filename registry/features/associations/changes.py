"""Changes of associations, in one transaction with the registrations and deletions they include."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from contractlog.compatibility.association_values import TOPIC, Lifecycle, Resource
from contractlog.compatibility.errors import (
    AssociationExists,
    AssociationFrozen,
    AssociationNotFound,
    AssociationTypeExists,
    NoActiveVersion,
    ReferenceExists,
    RegistryError,
    StrongAssociationExists,
)
from contractlog.compatibility.identifiers import Subject, validate_schema_subject
from contractlog.compatibility.mode import IMPORT_MODES
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access import permissions as access
from contractlog.registry.access.permissions import Permissions, topic_permission_subject
from contractlog.registry.features.associations.validation import (
    AssociationChange,
    AssociationOperation,
    default_subject,
    reject_member,
)
from contractlog.registry.registration.deletion import hard_delete_subject, soft_delete_subject
from contractlog.registry.registration.request import RegistrationResult
from contractlog.registry.registration.write_preconditions import (
    require_writable_mode,
)
from contractlog.registry.storage import associations
from contractlog.registry.storage.associations import AssociationFilter, StoredAssociation
from contractlog.registry.storage.batch_append import append_version
from contractlog.registry.storage.store_values import DeletedFilter, PendingAppend, Stale
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "BoundAssociation",
    "Proposal",
    "StaleProposal",
    "apply_changes",
    "remove_associations",
    "require_write_permission",
]

Proposal = RegistrationResult | PendingAppend | None


class StaleProposal(Exception):
    """A schema was checked against a state that has changed since: roll back and try again."""


@dataclass(frozen=True, slots=True)
class BoundAssociation:
    """An association, with the schema that was registered with it."""

    association: StoredAssociation
    schema: RegisteredSchema | None = None


def require_write_permission(
    permissions: Permissions, subject: Subject, resource: Resource, association_type: str
) -> None:
    """Require write on the bound subject and on the topic's own subject.

    Both decide what the topic's producers write.

    Raises:
        Denied: the caller may not write one of them.
    """
    permissions.require(access.Permission.WRITE, subject)
    permissions.require(access.Permission.WRITE, topic_permission_subject(resource.name, association_type))


def apply_changes(
    transaction: Transaction,
    resource: Resource,
    changes: Sequence[tuple[AssociationChange, Proposal]],
    new_guid: Callable[[], str],
    permissions: Permissions,
) -> list[BoundAssociation]:
    """Carry out all requested changes of one resource; permissions to bind were checked before."""
    results = []
    for change, proposal in changes:
        if change.operation is AssociationOperation.DELETE:
            remove_associations(
                transaction, resource.id, (change.type or "",), cascade=change.cascade, permissions=permissions
            )
        else:
            _reject_id_of_another_resource(transaction, resource, change, permissions)
            results.append(_change_association(transaction, resource, change, proposal, new_guid))
    return results


def remove_associations(
    transaction: Transaction,
    resource_id: str,
    types: tuple[str, ...] = (),
    *,
    cascade: bool,
    permissions: Permissions,
    resource_type: str = TOPIC,
) -> None:
    """Remove associations of a resource; ``cascade`` deletes the subjects that it owns.

    Raises:
        AssociationNotFound: there are none of these types that the caller may see; lists leave out the others, too.
        AssociationFrozen: the resource owns a subject, and ``cascade`` is not set.
        Denied: the caller may not write one of their subjects, or the topic's own.
        SubjectReadOnly: one of their subjects is read-only.
    """
    association_filter = AssociationFilter(resource_id=resource_id, types=types, resource_type=resource_type)
    matches = associations.find_associations(transaction, association_filter)
    if not any(
        permissions.permits_association(association.subject, association.resource_name, association.association_type)
        for association in matches
    ):
        raise AssociationNotFound(resource=resource_id)
    for association in matches:
        # The topic's own subject first: the error must not name a subject that the caller may not see.
        topic_subject = topic_permission_subject(association.resource_name, association.association_type)
        permissions.require(access.Permission.WRITE, topic_subject)
        permissions.require(access.Permission.WRITE, association.subject)
        if association.frozen and not cascade:
            raise AssociationFrozen(type=association.association_type, subject=str(association.subject))
        require_writable_mode(association.subject, transaction.read_effective_settings(association.subject))
    associations.delete_associations(transaction, [association.guid for association in matches])
    for association in matches:
        _record_change(transaction, "association.deleted", association)
        if association.lifecycle is Lifecycle.STRONG and cascade:
            _delete_owned_subject(transaction, association.subject)


def _delete_owned_subject(transaction: Transaction, subject: Subject) -> None:
    versions = dict(transaction.versions(subject, DeletedFilter.INCLUDED))
    if not all(versions.values()):
        soft_delete_subject(transaction, subject)
    if versions:
        hard_delete_subject(transaction, subject)


def _change_association(
    transaction: Transaction,
    resource: Resource,
    change: AssociationChange,
    proposal: Proposal,
    new_guid: Callable[[], str],
) -> BoundAssociation:
    existing = _find_existing(transaction, resource, change)
    if existing is None:
        return _create_association(transaction, resource, change, proposal, new_guid)
    if change.operation is AssociationOperation.CREATE:
        if not _is_same_association(existing, resource, change):
            raise AssociationTypeExists(type=existing.association_type, resource=resource.name)
    else:
        _reject_conflict(existing, resource, change)
    if proposal is None:
        return BoundAssociation(existing)
    schema, written = _append_schema(transaction, proposal)
    if written:
        existing = replace(existing, updated_at=transaction.now)
        associations.update_association(transaction, existing)
        _record_change(transaction, "association.updated", existing)
    return BoundAssociation(existing, schema)


def _find_existing(transaction: Transaction, resource: Resource, change: AssociationChange) -> StoredAssociation | None:
    """Find the association of this type and resource."""
    by_name = AssociationFilter(name=resource.name, namespace=resource.namespace, types=(change.type or "",))
    matches = associations.find_associations(transaction, by_name)
    return matches[0] if matches else None


def _reject_id_of_another_resource(
    transaction: Transaction, resource: Resource, change: AssociationChange, permissions: Permissions
) -> None:
    """Reject a new resource whose id another one has, before any error that depends on that one.

    The message does not name that resource, and whether it has an association of the same type is told only to callers
    who may read that association.
    """
    if not resource.id or associations.is_known_resource(transaction, resource):
        return
    others = associations.find_associations(transaction, AssociationFilter(resource_id=resource.id))
    for other in others:
        is_readable = permissions.permits_association(other.subject, other.resource_name, other.association_type)
        if other.association_type == change.type and is_readable:
            raise AssociationTypeExists(type=other.association_type, resource=resource.id)
    if others:
        reject_member("resourceId", f"id '{resource.id}' belongs to another resource")


def _is_same_association(existing: StoredAssociation, resource: Resource, change: AssociationChange) -> bool:
    subject = change.subject or default_subject(resource, existing.association_type)
    return (_is_same_resource(existing.resource, resource), existing.subject, existing.lifecycle, existing.frozen) == (
        True,
        subject,
        change.lifecycle,
        change.frozen,
    )


def _is_same_resource(existing: Resource, requested: Resource) -> bool:
    """Return True if two resources are the same; a rehearsal may leave out the id."""
    return existing == replace(requested, id=requested.id or existing.id)


def _reject_conflict(existing: StoredAssociation, resource: Resource, change: AssociationChange) -> None:
    """Reject an upsert that would change an existing association."""
    if not _is_same_resource(existing.resource, resource):
        raise AssociationTypeExists(type=existing.association_type, resource=resource.name)
    if change.subject not in {None, existing.subject}:
        reject_member("subject", "cannot be changed")
    if change.frozen not in {None, existing.frozen}:
        reject_member("frozen", "cannot be changed")
    if change.lifecycle not in {None, existing.lifecycle}:
        frozen = str(existing.frozen).lower()
        reject_member("frozen", f"association with lifecycle of {change.lifecycle} cannot be frozen={frozen}")
    if change.schema is not None and existing.lifecycle is Lifecycle.WEAK:
        reject_member("lifecycle", "cannot be WEAK when schema is provided")


def _create_association(
    transaction: Transaction,
    resource: Resource,
    change: AssociationChange,
    proposal: Proposal,
    new_guid: Callable[[], str],
) -> BoundAssociation:
    subject = validate_schema_subject(change.subject or default_subject(resource, change.type or ""))
    configured = transaction.read_effective_settings(subject)
    require_writable_mode(subject, configured)
    importing = configured.mode in IMPORT_MODES
    lifecycle = change.lifecycle or (Lifecycle.STRONG if change.frozen else Lifecycle.WEAK)
    _reject_invalid_new(transaction, resource, change, subject, lifecycle, importing=importing)
    schema = None
    if proposal is not None:
        schema, _ = _append_schema(transaction, proposal)
    live = transaction.versions(subject, DeletedFilter.EXCLUDED)
    if not live:
        raise NoActiveVersion(subject=str(subject))
    if lifecycle is Lifecycle.STRONG and not importing and len(live) > 1:
        reject_member("subject", f"frozen associations need a subject that has no other schemas, unlike '{subject}'")
    association = StoredAssociation(
        guid=new_guid(),
        subject=subject,
        resource_id=resource.id,
        resource_name=resource.name,
        resource_namespace=resource.namespace,
        resource_type=resource.type,
        association_type=change.type or "",
        lifecycle=lifecycle,
        frozen=lifecycle is Lifecycle.STRONG,
        created_at=transaction.now,
        updated_at=transaction.now,
    )
    associations.insert_association(transaction, association)
    _record_change(transaction, "association.created", association)
    return BoundAssociation(association, schema)


def _reject_invalid_new(
    transaction: Transaction,
    resource: Resource,
    change: AssociationChange,
    subject: Subject,
    lifecycle: Lifecycle,
    *,
    importing: bool,
) -> None:
    """Reject a new association that breaks a rule, or conflicts with others of its resource or subject."""
    strong = lifecycle is Lifecycle.STRONG
    if not importing:
        _require_schema_origin(change, strong=strong)
    if not strong and subject == default_subject(resource, change.type or ""):
        reject_member("subject", f"associations with lifecycle of WEAK cannot use subject '{subject}'")
    siblings = associations.find_associations(
        transaction, AssociationFilter(name=resource.name, namespace=resource.namespace)
    )
    if any(association.lifecycle is not lifecycle for association in siblings):
        reject_member("frozen", "all associations for a resource must be consistently frozen or non-frozen")
    if not all(_is_same_resource(association.resource, resource) for association in siblings):
        reject_member("resourceId", f"resource '{resource.name}' has another id")
    others = associations.find_by_subject(transaction, subject)
    if any(association.lifecycle is Lifecycle.STRONG for association in others):
        raise StrongAssociationExists(subject=str(subject))
    if strong and others:
        raise AssociationExists(subject=str(subject))
    if strong:
        _reject_referenced(transaction, subject)


def _require_schema_origin(change: AssociationChange, *, strong: bool) -> None:
    """Require that a STRONG association is created with its schema; only an import may bind it later."""
    if change.operation is AssociationOperation.CREATE:
        if strong and change.schema is None:
            reject_member("schema", "must be provided for frozen associations")
        return
    if change.schema is not None:
        reject_member("schema", "cannot be provided for a new association by an upsert")
    if strong:
        reject_member("lifecycle", "an upsert cannot create a STRONG association")


def _reject_referenced(transaction: Transaction, subject: Subject) -> None:
    """Reject a subject that is referenced: a resource cannot own it."""
    subject_id = transaction.state(subject).id
    for number, _ in transaction.versions(subject, DeletedFilter.INCLUDED):
        if transaction.lowest_referenced_version(subject_id or 0, DeletedFilter.INCLUDED, version=number) is not None:
            raise ReferenceExists(subject=str(subject), version=number)


def _append_schema(
    transaction: Transaction, proposal: RegistrationResult | PendingAppend
) -> tuple[RegisteredSchema, bool]:
    """Append a checked schema, and return whether anything was written."""
    if isinstance(proposal, RegistrationResult):
        existing = proposal.schema
        current = transaction.version(existing.subject or Subject.parse(""), existing.version)
        if current is None or current.schema_id != existing.schema_id:
            raise StaleProposal
        return current, False
    previous = transaction.version(proposal.subject, None, DeletedFilter.INCLUDED)
    outcome = append_version(transaction, proposal)
    if isinstance(outcome, Stale):
        raise StaleProposal
    if isinstance(outcome, RegistryError):
        raise outcome
    return outcome, previous is None or (outcome.version or 0) > (previous.version or 0)


def _record_change(transaction: Transaction, action: str, association: StoredAssociation) -> None:
    transaction.record_change(
        action,
        association.change_log_name,
        details={
            **association.change_log_details,
            "guid": association.guid,
            "resourceId": association.resource_id,
            "lifecycle": association.lifecycle.value,
        },
    )
