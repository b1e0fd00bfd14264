"""Publication of audit results to the registry, which stores the newest for each part of a topic."""

from __future__ import annotations

from contractlog.clients.registry import Registry
from contractlog.contracts.audit.report import AuditReport

__all__ = ["publish"]


def publish(registry: Registry, report: AuditReport) -> int:
    """Publish the entry of every part and return their number; publishing a report again changes nothing.

    Raises:
        Unreachable: the registry does not respond.
        InvalidConformance: the registry rejects an entry.
    """
    for entry in report["topics"]:
        registry.publish_conformance(entry["topic"], entry)
    return len(report["topics"])
