"""Validation of requests for associations without the store: names, defaults, consistency."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NoReturn

from contractlog.compatibility.errors import InvalidAssociation
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.storage.associations import TOPIC, Lifecycle, Resource

__all__ = [
    "LONGEST_RESOURCE",
    "TYPES",
    "NewSchema",
    "Operation",
    "Wish",
    "checked_resource",
    "default_subject",
    "refuse",
    "settled",
]

TYPES: Final = ("key", "value")
_VALUE: Final = "value"
LONGEST_RESOURCE: Final = 256  #: characters of a resource's id, name and namespace


class Operation(StrEnum):
    """Requested operation on an association."""

    CREATE = "CREATE"
    UPSERT = "UPSERT"
    DELETE = "DELETE"


@dataclass(frozen=True, slots=True)
class NewSchema:
    """A schema to be registered under the subject of an association."""

    draft: SchemaDraft
    normalize: bool = False
    id: int | None = None
    version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Request for one association.

    After ``settled`` it has a type, and except for DELETE a subject.
    """

    operation: Operation
    type: str | None = None
    subject: Subject | None = None
    lifecycle: Lifecycle | None = None
    frozen: bool | None = None
    schema: NewSchema | None = None
    cascade: bool = False


def default_subject(resource: Resource, association_type: str) -> Subject:
    """Return the subject that a resource may own.

    >>> str(default_subject(Resource("orders", "lkc-1", "r1"), "value"))
    ':.lkc-1:orders-value'
    """
    return Subject(f".{resource.namespace}", f"{resource.name}-{association_type}")


def checked_resource(resource: Resource, *, rehearsal: bool, named: bool = True) -> Resource:
    """Return the resource with its type filled in; for a removal its id is enough.

    Raises:
        InvalidAssociation: a name is missing, too long, or has a character that is not allowed.
    """
    if named:
        _name(resource.name, "resourceName")
        _name(resource.namespace, "resourceNamespace")
    if not resource.id and not (rehearsal and named):
        refuse("resourceId", "cannot be null or empty")
    if len(resource.id) > LONGEST_RESOURCE:
        refuse("resourceId", f"exceeds max length of {LONGEST_RESOURCE}")
    for character in resource.id:
        if unicodedata.category(character) == "Cc":
            refuse("resourceId", f"illegal character {character!r}")
    if resource.type and resource.type != TOPIC:
        refuse("resourceType", f"must be '{TOPIC}'")
    return replace(resource, type=TOPIC)


def settled(resource: Resource, wishes: Sequence[Wish]) -> list[Wish]:
    """Fill in defaults.

    Raises:
        InvalidAssociation: a wish contradicts itself, its resource or another wish.
    """
    if not wishes:
        refuse("associations", "cannot be null or empty")
    found = [_settled(resource, wish) for wish in wishes]
    if len({wish.type for wish in found}) < len(found):
        refuse("associationType", "each type may occur once in a request")
    if len({wish.frozen for wish in found if wish.frozen is not None}) > 1:
        refuse("frozen", "all associations for a resource must be consistently frozen or non-frozen")
    return found


def _settled(resource: Resource, wish: Wish) -> Wish:
    kind = wish.type or _VALUE
    if kind not in TYPES:
        refuse("associationType", "must be either 'key' or 'value'")
    if wish.operation is Operation.DELETE:
        return replace(wish, type=kind)
    given = wish.subject
    if given is not None and (not given.name or any(unicodedata.category(one) == "Cc" for one in str(given))):
        refuse("subject", "must not be empty")
    if wish.operation is Operation.CREATE:
        wish = _created(wish)
    if wish.lifecycle is Lifecycle.WEAK and wish.schema is not None:
        refuse("lifecycle", "cannot be WEAK when schema is provided")
    if wish.lifecycle is Lifecycle.WEAK and wish.frozen:
        refuse("frozen", "association with lifecycle of WEAK cannot be frozen")
    if wish.lifecycle is Lifecycle.STRONG and wish.frozen is False:
        refuse("frozen", "association with lifecycle of STRONG cannot be frozen=false")
    default = default_subject(resource, kind)
    if wish.frozen and given not in {None, default}:
        refuse("subject", f"frozen associations must use subject '{default}'")
    if wish.lifecycle is Lifecycle.WEAK and given == default:
        refuse("subject", f"associations with lifecycle of WEAK cannot use subject '{default}'")
    return replace(wish, type=kind)


def _created(wish: Wish) -> Wish:
    """Fill in the lifecycle: STRONG with a schema, otherwise WEAK unless requested."""
    if wish.schema is not None:
        if wish.lifecycle is Lifecycle.WEAK:
            refuse("lifecycle", "cannot be WEAK when schema is provided for create")
        if wish.frozen is False:
            refuse("frozen", "cannot be false when schema is provided for create")
        return replace(wish, lifecycle=Lifecycle.STRONG, frozen=True)
    lifecycle = wish.lifecycle or (Lifecycle.STRONG if wish.frozen else Lifecycle.WEAK)
    frozen = lifecycle is Lifecycle.STRONG if wish.frozen is None else wish.frozen
    if wish.subject is None and not frozen:
        refuse("subject", "must be provided for non-frozen associations")
    return replace(wish, lifecycle=lifecycle, frozen=frozen)


def refuse(member: str, detail: str) -> NoReturn:
    """Raise the error that a member of an association is invalid."""
    raise InvalidAssociation(property=member, detail=detail)


def _name(text: str, member: str) -> None:
    if not text:
        refuse(member, "cannot be null or empty")
    if len(text) > LONGEST_RESOURCE:
        refuse(member, f"exceeds max length of {LONGEST_RESOURCE}")
    for character in text:
        if not (character.isalnum() or character in "_-"):
            refuse(member, f"illegal character '{character}'")
