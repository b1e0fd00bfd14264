"""Validation of requests for associations without the store: names, defaults, consistency."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NoReturn

from contractlog.compatibility.association_values import TOPIC, Lifecycle, Resource
from contractlog.compatibility.errors import InvalidAssociation
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.registration.request import ANY_VERSION, RequestedVersion

__all__ = [
    "ASSOCIATION_TYPES",
    "MAX_RESOURCE_CHARACTERS",
    "AssociatedSchema",
    "AssociationChange",
    "AssociationOperation",
    "complete_changes",
    "default_subject",
    "reject_member",
    "validate_resource",
]

ASSOCIATION_TYPES: Final = ("key", "value")
_VALUE: Final = "value"
MAX_RESOURCE_CHARACTERS: Final = 256  #: characters of a resource's id, name and namespace


class AssociationOperation(StrEnum):
    """Requested operation on an association."""

    CREATE = "CREATE"
    UPSERT = "UPSERT"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class AssociatedSchema:
    """A schema to be registered under the subject of an association."""

    draft: SchemaDraft
    normalize: bool = False
    id: int | None = None
    version: RequestedVersion = ANY_VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class AssociationChange:
    """Request for one association.

    After ``settled`` it has a type, and except for DELETE a subject.
    """

    operation: AssociationOperation
    type: str | None = None
    subject: Subject | None = None
    lifecycle: Lifecycle | None = None
    frozen: bool | None = None
    schema: AssociatedSchema | None = None
    cascade: bool = False


def default_subject(resource: Resource, association_type: str) -> Subject:
    """Return the subject that a resource may own.

    >>> str(default_subject(Resource("orders", "lkc-1", "r1"), "value"))
    ':.lkc-1:orders-value'
    """
    return Subject(f".{resource.namespace}", f"{resource.name}-{association_type}")


def validate_resource(resource: Resource, *, dry_run: bool, named: bool = True) -> Resource:
    """Return the resource with its type filled in; for a removal its id is enough.

    Raises:
        InvalidAssociation: a name is missing, too long, or has a character that is not allowed.
    """
    if named:
        _validate_name(resource.name, "resourceName")
        _validate_name(resource.namespace, "resourceNamespace")
    if not resource.id and not (dry_run and named):
        reject_member("resourceId", "cannot be null or empty")
    if len(resource.id) > MAX_RESOURCE_CHARACTERS:
        reject_member("resourceId", f"exceeds max length of {MAX_RESOURCE_CHARACTERS}")
    for character in resource.id:
        if unicodedata.category(character) == "Cc":
            reject_member("resourceId", f"illegal character {character!r}")
    if resource.type and resource.type != TOPIC:
        reject_member("resourceType", f"must be '{TOPIC}'")
    return replace(resource, type=TOPIC)


def complete_changes(resource: Resource, changes: Sequence[AssociationChange]) -> list[AssociationChange]:
    """Fill in defaults.

    Raises:
        InvalidAssociation: a wish contradicts itself, its resource or another wish.
    """
    if not changes:
        reject_member("associations", "cannot be null or empty")
    completed = [_complete_change(resource, change) for change in changes]
    if len({change.type for change in completed}) < len(completed):
        reject_member("associationType", "each type may occur once in a request")
    if len({change.frozen for change in completed if change.frozen is not None}) > 1:
        reject_member("frozen", "all associations for a resource must be consistently frozen or non-frozen")
    return completed


def _complete_change(resource: Resource, change: AssociationChange) -> AssociationChange:
    association_type = change.type or _VALUE
    if association_type not in ASSOCIATION_TYPES:
        reject_member("associationType", "must be either 'key' or 'value'")
    if change.operation is AssociationOperation.DELETE:
        return replace(change, type=association_type)
    subject = change.subject
    if subject is not None and (
        not subject.name or any(unicodedata.category(character) == "Cc" for character in str(subject))
    ):
        reject_member("subject", "must not be empty")
    if change.operation is AssociationOperation.CREATE:
        change = _complete_creation(change)
    if change.lifecycle is Lifecycle.WEAK and change.schema is not None:
        reject_member("lifecycle", "cannot be WEAK when schema is provided")
    if change.lifecycle is Lifecycle.WEAK and change.frozen:
        reject_member("frozen", "association with lifecycle of WEAK cannot be frozen")
    if change.lifecycle is Lifecycle.STRONG and change.frozen is False:
        reject_member("frozen", "association with lifecycle of STRONG cannot be frozen=false")
    default = default_subject(resource, association_type)
    if change.frozen and subject not in {None, default}:
        reject_member("subject", f"frozen associations must use subject '{default}'")
    if change.lifecycle is Lifecycle.WEAK and subject == default:
        reject_member("subject", f"associations with lifecycle of WEAK cannot use subject '{default}'")
    return replace(change, type=association_type)


def _complete_creation(change: AssociationChange) -> AssociationChange:
    """Fill in the lifecycle: STRONG with a schema, otherwise WEAK unless requested."""
    if change.schema is not None:
        if change.lifecycle is Lifecycle.WEAK:
            reject_member("lifecycle", "cannot be WEAK when schema is provided for create")
        if change.frozen is False:
            reject_member("frozen", "cannot be false when schema is provided for create")
        return replace(change, lifecycle=Lifecycle.STRONG, frozen=True)
    lifecycle = change.lifecycle or (Lifecycle.STRONG if change.frozen else Lifecycle.WEAK)
    frozen = lifecycle is Lifecycle.STRONG if change.frozen is None else change.frozen
    if change.subject is None and not frozen:
        reject_member("subject", "must be provided for non-frozen associations")
    return replace(change, lifecycle=lifecycle, frozen=frozen)


def reject_member(member: str, detail: str) -> NoReturn:
    """Raise the error that a member of an association is invalid."""
    raise InvalidAssociation(property=member, detail=detail)


def _validate_name(text: str, member: str) -> None:
    if not text:
        reject_member(member, "cannot be null or empty")
    if len(text) > MAX_RESOURCE_CHARACTERS:
        reject_member(member, f"exceeds max length of {MAX_RESOURCE_CHARACTERS}")
    for character in text:
        if not (character.isalnum() or character in "_-"):
            reject_member(member, f"illegal character '{character}'")
