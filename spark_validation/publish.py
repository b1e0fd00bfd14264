"""Results to the registry, which keeps the newest of each part of a topic."""

from __future__ import annotations

from contractlog.clients.client import Registry
from contractlog.contracts.observed.report import Report

__all__ = ["publish"]


def publish(registry: Registry, report: Report) -> int:
    """Record the entry of every part; return how many. Publishing the same report again changes nothing.

    Raises:
        Unreachable: the registry does not answer.
        InvalidConformance: it does not take an entry.
    """
    for entry in report["topics"]:
        registry.publish_conformance(entry["topic"], entry)
    return len(report["topics"])
