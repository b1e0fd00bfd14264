"""Changes of associations, in one transaction with the registrations and deletions they include."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

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
from contractlog.compatibility.level import Mode
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access import rights as access
from contractlog.registry.access.rights import Rights, topic_subject
from contractlog.registry.services.association_rules import Operation, Wish, default_subject, refuse
from contractlog.registry.services.permits import taking_schemas
from contractlog.registry.services.registration import Registered, refuse_read_only
from contractlog.registry.services.retirement import erase_subject, hide_subject
from contractlog.registry.storage import associations
from contractlog.registry.storage.appends import append
from contractlog.registry.storage.associations import Association, Lifecycle, Resource, Wanted
from contractlog.registry.storage.values import Append, Configured, Seen, Stale, scopes
from contractlog.registry.storage.writes import Transaction

__all__ = ["Bound", "JudgeAgain", "Proposal", "apply", "require_rights", "unbind"]

Proposal = Registered | Append | None
_IMPORTING: Final = frozenset({Mode.IMPORT, Mode.FORWARD})


class JudgeAgain(Exception):
    """A schema was checked against a state that has changed since; it must be checked again."""


@dataclass(frozen=True, slots=True)
class Bound:
    """An association, with the schema that was registered with it."""

    association: Association
    schema: RegisteredSchema | None = None


def require_rights(rights: Rights, subject: Subject, resource: Resource, association_type: str) -> None:
    """Require write on the bound subject and on the topic's own subject.

    Both decide what the topic's producers write.

    Raises:
        Denied: the caller may not write one of them.
    """
    rights.require(access.Operation.WRITE, subject)
    rights.require(access.Operation.WRITE, topic_subject(resource.name, association_type))


def apply(
    transaction: Transaction,
    resource: Resource,
    wishes: Sequence[tuple[Wish, Proposal]],
    new_guid: Callable[[], str],
    rights: Rights,
) -> list[Bound]:
    """Carry out all requested changes of one resource; permissions to bind were checked before."""
    bound = []
    for wish, proposal in wishes:
        if wish.operation is Operation.DELETE:
            unbind(transaction, resource.id, (wish.type or "",), cascade=wish.cascade, rights=rights)
        else:
            bound.append(_bind(transaction, resource, wish, proposal, new_guid))
    return bound


def unbind(
    transaction: Transaction,
    resource_id: str,
    types: tuple[str, ...] = (),
    *,
    cascade: bool,
    rights: Rights,
    resource_type: str = "topic",
) -> None:
    """Remove associations of a resource; ``cascade`` deletes the subjects that it owns.

    Raises:
        AssociationNotFound: there are none of these types.
        AssociationFrozen: the resource owns a subject, and ``cascade`` is not set.
        Denied: the caller may not write one of their subjects, or the topic's own.
        SubjectReadOnly: one of their subjects is read-only.
    """
    wanted = Wanted(resource_id=resource_id, types=types, resource_type=resource_type)
    found = associations.find(transaction, wanted)
    if not found:
        raise AssociationNotFound(resource=resource_id)
    for one in found:
        require_rights(rights, one.subject, one.resource, one.type)
        if one.frozen and not cascade:
            raise AssociationFrozen(type=one.type, subject=str(one.subject))
        refuse_read_only(one.subject, _configured(transaction, one.subject))
    associations.remove(transaction, [one.guid for one in found])
    for one in found:
        _tell(transaction, "association.deleted", one)
        if one.lifecycle is Lifecycle.STRONG and cascade:
            _take_along(transaction, one.subject)


def _take_along(transaction: Transaction, subject: Subject) -> None:
    versions = dict(transaction.versions(subject, Seen.ALL))
    if not all(versions.values()):
        hide_subject(transaction, subject)
    if versions:
        erase_subject(transaction, subject)


def _bind(
    transaction: Transaction, resource: Resource, wish: Wish, proposal: Proposal, new_guid: Callable[[], str]
) -> Bound:
    known = _known(transaction, resource, wish)
    if known is None:
        return _bind_anew(transaction, resource, wish, proposal, new_guid)
    if wish.operation is Operation.CREATE:
        if not _same(known, resource, wish):
            raise AssociationTypeExists(type=known.type, resource=resource.name)
    else:
        _refuse_other(known, resource, wish)
    if proposal is None:
        return Bound(known)
    schema, written = _register(transaction, proposal)
    if written:
        known = replace(known, updated_at=transaction.now)
        associations.replace_row(transaction, known)
        _tell(transaction, "association.updated", known)
    return Bound(known, schema)


def _known(transaction: Transaction, resource: Resource, wish: Wish) -> Association | None:
    """Find the association of this type, by the resource's name, else by its id: each identifies it."""
    types = (wish.type or "",)
    by_name = Wanted(name=resource.name, namespace=resource.namespace, types=types)
    found = associations.find(transaction, by_name)
    if not found and resource.id:
        found = associations.find(transaction, Wanted(resource_id=resource.id, types=types))
    return found[0] if found else None


def _same(known: Association, resource: Resource, wish: Wish) -> bool:
    subject = wish.subject or default_subject(resource, known.type)
    return (_is(known.resource, resource), known.subject, known.lifecycle, known.frozen) == (
        True,
        subject,
        wish.lifecycle,
        wish.frozen,
    )


def _is(known: Resource, asked: Resource) -> bool:
    """Return True if two resources are the same; a rehearsal may leave out the id."""
    return known == replace(asked, id=asked.id or known.id)


def _refuse_other(known: Association, resource: Resource, wish: Wish) -> None:
    """Reject an upsert that would change an existing association."""
    if not _is(known.resource, resource):
        raise AssociationTypeExists(type=known.type, resource=resource.name)
    if wish.subject not in {None, known.subject}:
        refuse("subject", "cannot be changed")
    if wish.frozen not in {None, known.frozen}:
        refuse("frozen", "cannot be changed")
    if wish.lifecycle not in {None, known.lifecycle}:
        frozen = str(known.frozen).lower()
        refuse("frozen", f"association with lifecycle of {wish.lifecycle} cannot be frozen={frozen}")
    if wish.schema is not None and known.lifecycle is Lifecycle.WEAK:
        refuse("lifecycle", "cannot be WEAK when schema is provided")


def _bind_anew(
    transaction: Transaction, resource: Resource, wish: Wish, proposal: Proposal, new_guid: Callable[[], str]
) -> Bound:
    subject = taking_schemas(wish.subject or default_subject(resource, wish.type or ""))
    configured = _configured(transaction, subject)
    refuse_read_only(subject, configured)
    importing = configured.mode in _IMPORTING
    lifecycle = wish.lifecycle or (Lifecycle.STRONG if wish.frozen else Lifecycle.WEAK)
    _refuse_new(transaction, resource, wish, subject, lifecycle, importing=importing)
    schema = None
    if proposal is not None:
        schema, _ = _register(transaction, proposal)
    live = transaction.versions(subject, Seen.LIVE)
    if not live:
        raise NoActiveVersion(subject=str(subject))
    if lifecycle is Lifecycle.STRONG and not importing and len(live) > 1:
        refuse("subject", f"frozen associations need a subject that has no other schemas, unlike '{subject}'")
    made = Association(
        guid=new_guid(),
        subject=subject,
        resource=resource,
        type=wish.type or "",
        lifecycle=lifecycle,
        frozen=lifecycle is Lifecycle.STRONG,
        created_at=transaction.now,
        updated_at=transaction.now,
    )
    associations.add(transaction, made)
    _tell(transaction, "association.created", made)
    return Bound(made, schema)


def _refuse_new(
    transaction: Transaction,
    resource: Resource,
    wish: Wish,
    subject: Subject,
    lifecycle: Lifecycle,
    *,
    importing: bool,
) -> None:
    """Reject a new association that breaks a rule, or conflicts with others of its resource or subject."""
    strong = lifecycle is Lifecycle.STRONG
    if not importing:
        _refuse_origin(wish, strong=strong)
    if not strong and subject == default_subject(resource, wish.type or ""):
        refuse("subject", f"associations with lifecycle of WEAK cannot use subject '{subject}'")
    siblings = associations.find(transaction, Wanted(name=resource.name, namespace=resource.namespace))
    if any(one.lifecycle is not lifecycle for one in siblings):
        refuse("frozen", "all associations for a resource must be consistently frozen or non-frozen")
    if not all(_is(one.resource, resource) for one in siblings):
        refuse("resourceId", f"resource '{resource.name}' has another id")
    others = associations.of_subject(transaction, subject)
    if any(one.lifecycle is Lifecycle.STRONG for one in others):
        raise StrongAssociationExists(subject=str(subject))
    if strong and others:
        raise AssociationExists(subject=str(subject))
    if strong:
        _refuse_shared(transaction, subject)


def _refuse_origin(wish: Wish, *, strong: bool) -> None:
    """Require that a STRONG association is created with its schema; only an import may bind it later."""
    if wish.operation is Operation.CREATE:
        if strong and wish.schema is None:
            refuse("schema", "must be provided for frozen associations")
        return
    if wish.schema is not None:
        refuse("schema", "cannot be provided for a new association by an upsert")
    if strong:
        refuse("lifecycle", "an upsert cannot create a STRONG association")


def _refuse_shared(transaction: Transaction, subject: Subject) -> None:
    """Reject a subject that is referenced: a resource cannot own it."""
    subject_id = transaction.state(subject).id
    for number, _ in transaction.versions(subject, Seen.ALL):
        if transaction.leaning(subject_id or 0, Seen.ALL, version=number) is not None:
            raise ReferenceExists(subject=str(subject), version=number)


def _register(transaction: Transaction, proposal: Registered | Append) -> tuple[RegisteredSchema, bool]:
    """Append a checked schema, and return whether anything was written."""
    if isinstance(proposal, Registered):
        held = proposal.schema
        now = transaction.version(held.subject or Subject.parse(""), held.version)
        if now is None or now.schema_id != held.schema_id:
            raise JudgeAgain
        return now, False
    before = transaction.version(proposal.subject, None, Seen.ALL)
    done = append(transaction.connection, [proposal], transaction.now)
    outcome = done.outcomes[0]
    if isinstance(outcome, Stale):
        raise JudgeAgain
    if isinstance(outcome, RegistryError):
        raise outcome
    transaction.touched |= done.touched
    transaction.lines += done.lines
    return outcome, before is None or (outcome.version or 0) > (before.version or 0)


def _configured(transaction: Transaction, subject: Subject) -> Configured:
    return Configured.inherited(transaction.configured(scopes(subject)).values())


def _tell(transaction: Transaction, action: str, one: Association) -> None:
    resource = one.resource
    transaction.journal(
        action,
        f"{resource.namespace}:{resource.name}/{one.type}",
        details={
            "subject": str(one.subject),
            "guid": one.guid,
            "resourceId": resource.id,
            "lifecycle": one.lifecycle.value,
        },
    )
