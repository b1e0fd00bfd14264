"""An association that a command is to create, and the requests that create it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import uuid4

from contractlog.clients.calls.associations import AssociationDraft
from contractlog.clients.cli.associations.association_keys import Key
from contractlog.clients.registry import Registry
from contractlog.compatibility.association_values import Lifecycle, Resource
from contractlog.compatibility.errors import AssociationTypeExists, InvalidAssociation, SubjectNotFound
from contractlog.compatibility.schema import SchemaDraft

__all__ = ["PlannedAssociation", "associate_subject", "find_draft"]

_MAX_ID_CHARACTERS: Final = 256  #: of the id of a resource


@dataclass(frozen=True, slots=True)
class PlannedAssociation:
    """The subject that a part of a topic is to be associated with."""

    subject: str
    resource: Resource
    part: str  #: ``key`` or ``value``
    lifecycle: Lifecycle
    before: str | None = None  #: the subject that it is associated with now
    line: int = field(default=0, compare=False)  #: of the manifest
    #: whether neither the manifest nor the registry has an id for the topic
    has_default_id: bool = field(default=False, compare=False)

    @property
    def key(self) -> Key:
        """The part of the topic."""
        return self.resource.namespace, self.resource.name, self.part


def associate_subject(
    registry: Registry, change: PlannedAssociation, draft: SchemaDraft | None, *, dry_run: bool
) -> None:
    """Associate a subject; ``draft`` is its only version, which a STRONG association is created with.

    If the topic has no id and its default id belongs to another resource, it gets a random one.
    """
    association = AssociationDraft(
        association_type=change.part, subject=change.subject, lifecycle=change.lifecycle.value, schema=draft
    )
    resource = change.resource
    try:
        registry.bind(resource, [association], dry_run=dry_run)
    except (AssociationTypeExists, InvalidAssociation):
        if not change.has_default_id or change.before is not None:
            raise
        registry.bind(replace(resource, id=_choose_free_id(registry, resource)), [association], dry_run=dry_run)


def _choose_free_id(registry: Registry, resource: Resource) -> str:
    """Return the id that the topic has by now, else a random one."""
    associations = registry.associations_by_resource_name(resource.name, namespace=resource.namespace)
    topic_ids = (each.resource_id for each in associations if each.resource_id != resource.id)
    return next(filter(None, topic_ids), f"{resource.id}:{uuid4()}"[-_MAX_ID_CHARACTERS:])


def find_draft(
    registry: Registry, change: PlannedAssociation, new: Mapping[str, SchemaDraft] | None = None
) -> SchemaDraft | None:
    """Return the schema that a STRONG association needs: the subject's version, or its first new one."""
    if change.lifecycle is Lifecycle.WEAK:
        return None
    try:
        return registry.version(change.subject, "latest").draft
    except SubjectNotFound:
        if new is None or change.subject not in new:
            raise
        return new[change.subject]
