"""Bindings of subjects to the keys and values of topics, as the commands read and change them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import uuid4

from contractlog.clients.calls.associations import Association, AssociationDraft
from contractlog.clients.cli.registry_lookups import fetch_if_supported
from contractlog.clients.registry import Registry
from contractlog.compatibility.association_values import Lifecycle, Resource
from contractlog.compatibility.errors import AssociationTypeExists, InvalidAssociation, SubjectNotFound
from contractlog.compatibility.schema import SchemaDraft

__all__ = [
    "Key",
    "PlannedAssociation",
    "association_body",
    "association_key",
    "bind_subject",
    "default_topic_id",
    "describe_part",
    "fetch_associations",
    "find_draft",
]

Key = tuple[str, str, str]  #: namespace and name of a topic, and its part

_ANY: Final = "-"
_MAX_ID_CHARACTERS: Final = 256  #: of the id of a resource


@dataclass(frozen=True, slots=True)
class PlannedAssociation:
    """A subject that a part of a topic is to be bound to."""

    subject: str
    resource: Resource
    part: str  #: ``key`` or ``value``
    lifecycle: Lifecycle
    before: str | None = None  #: the subject that it is bound to now
    line: int = field(default=0, compare=False)  #: of the manifest
    #: whether neither the manifest nor the registry has an id for the topic
    has_default_id: bool = field(default=False, compare=False)

    @property
    def key(self) -> Key:
        """The part of the topic."""
        return self.resource.namespace, self.resource.name, self.part


def association_key(association: Association) -> Key:
    """Return the part of the topic that an association is for."""
    names = association.resource_namespace, association.resource_name, association.association_type
    namespace, name, part = (each or "" for each in names)
    return namespace, name, part


def association_body(association: Association) -> dict[str, Any]:
    """Return the JSON object of an existing association."""
    namespace, topic, part = association_key(association)
    return {
        "subject": association.subject,
        "namespace": namespace,
        "topic": topic,
        "part": part,
        "topic_id": association.resource_id or "",
    }


def default_topic_id(namespace: str, topic: str) -> str:
    """Return the id of a topic for which neither the manifest nor the registry has one."""
    return f"{namespace}:{topic}"


def describe_part(topic: str, part: str) -> str:
    """Return a part of a topic, for people."""
    return f"the {part} of topic `{topic}`"


def fetch_associations(registry: Registry) -> list[Association] | None:
    """Return all associations that the caller may see; None if the registry has no associations."""
    return fetch_if_supported(lambda: registry.associations_by_resource_name(_ANY, namespace=_ANY))


def bind_subject(registry: Registry, change: PlannedAssociation, draft: SchemaDraft | None, *, dry_run: bool) -> None:
    """Bind a subject; ``draft`` is its only version, which a STRONG association is created with.

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
