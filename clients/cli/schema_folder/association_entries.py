"""Associations of the manifest: bindings of subjects to the key or the value of a topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contractlog.compatibility.association_values import Lifecycle

__all__ = ["AssociationEntry", "parse_association"]


@dataclass(frozen=True, slots=True)
class AssociationEntry:
    """A subject that the manifest binds to a part of a topic."""

    topic: str
    subject: str  #: without the context of the environment
    part: str = "value"  #: ``key`` or ``value``
    lifecycle: Lifecycle = Lifecycle.WEAK
    namespace: str = ""  #: of the topic; empty: that of the environment
    topic_id: str = ""  #: empty: the id that the registry knows, else one of namespace and topic
    line: int = 0  #: of the manifest


def parse_association(entry: Mapping[str, Any], line: int) -> AssociationEntry:
    """Make an association from a table of the manifest."""
    return AssociationEntry(
        entry["topic"],
        entry["subject"],
        entry.get("part", "value"),
        Lifecycle(entry.get("lifecycle", Lifecycle.WEAK)),
        entry.get("namespace", ""),
        entry.get("topic_id", ""),
        line,
    )
