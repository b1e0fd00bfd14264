"""Associations by the part of a topic that they are for, as commands compare and print them."""

from __future__ import annotations

from typing import Any, Final

from contractlog.clients.calls.associations import Association
from contractlog.clients.cli.registry_lookups import fetch_if_supported
from contractlog.clients.registry import Registry

__all__ = [
    "Key",
    "association_body",
    "association_key",
    "default_topic_id",
    "describe_part",
    "fetch_associations",
]

Key = tuple[str, str, str]  #: namespace and name of a topic, and its part

_ANY: Final = "-"


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
