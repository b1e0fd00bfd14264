"""Values of associations, which bind subjects to resources; bodies name the members in camel case."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

__all__ = ["TOPIC", "Lifecycle", "Resource"]

TOPIC: Final = "topic"  #: the only type of resource


class Lifecycle(StrEnum):
    """STRONG: the resource owns the subject, which is deleted with it. WEAK: the resource only uses it."""

    STRONG = "STRONG"
    WEAK = "WEAK"


@dataclass(frozen=True, slots=True)
class Resource:
    """Resource that subjects are bound to: for Kafka a topic, whose namespace is the id of its cluster."""

    name: str
    namespace: str
    id: str
    type: str = TOPIC

    def body(self) -> dict[str, Any]:
        """Return the members that bodies have for a resource."""
        return {
            "resourceName": self.name,
            "resourceNamespace": self.namespace,
            "resourceId": self.id,
            "resourceType": self.type,
        }
