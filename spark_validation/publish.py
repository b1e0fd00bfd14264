"""Publication of audit results to the registry, which stores the newest for each part of a topic."""

from __future__ import annotations

from contractlog.clients.client import Registry
from contractlog.contracts.observed.report import Report

__all__ = ["publish"]


def publish(registry: Registry, report: Report) -> int:
    """Publish the entry of every part and return their number; publishing a report again changes nothing.

    Raises:
        Unreachable: the registry does not respond.
        InvalidConformance: the registry rejects an entry.
    """
    for entry in report["topics"]:
        registry.publish_conformance(entry["topic"], entry)
    return len(report["topics"])
