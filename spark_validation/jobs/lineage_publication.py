"""Publication of lineage: OpenLineage events are sent to the registry, several in each request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

from contractlog.clients.registry import Registry
from contractlog.contracts.audit.publication import MAX_BYTES
from contractlog.contracts.audit.report import AuditReport
from contractlog.spark_validation.lineage.edge_output import build_events, kafka_namespace

__all__ = ["publish_events", "publish_report_lineage"]

_MAX_EVENTS: Final = 500  #: of a request; a registry accepts 1,000


def publish_events(registry: Registry, events: Iterable[dict[str, Any]]) -> int:
    """Publish events in order, and return their number; publishing them again changes nothing but times.

    Raises:
        Unreachable: the registry does not respond.
        InvalidLineage, TooManyEdges, PayloadTooLarge: the registry rejects an event.
        Denied: the caller may not write one of the topics.
    """
    count = 0
    for batch in _split_batches(events):
        registry.publish_lineage(batch)
        count += len(batch)
    return count


def publish_report_lineage(registry: Registry, report: AuditReport) -> str:
    """Publish the lineage of an audit of all topics of a cluster; return a sentence about it.

    Nothing is published if the audit selected topics: edges from the others would seem to have vanished.
    """
    servers = report["source"].get("bootstrap_servers")
    if servers is None:
        return "the lineage is not published, because an archive does not name the cluster of its topics"
    if report["scope"].get("topics") or report["scope"].get("excluded"):
        return "the lineage is not published, because sources may be among the topics that were not audited"
    topics = {part["topic"] for part in report["topics"] if part["records"]}
    edges = [edge for edge in report["lineage"] if edge["to"]["topic"] in topics]
    published = publish_events(registry, build_events(edges, kafka_namespace(servers), datetime.now(UTC), topics))
    return f"published the lineage of {published} topics to {registry.url}"


def _split_batches(events: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield the events in lists that fit into a request; an event that does not is alone in its list."""
    batch: list[dict[str, Any]] = []
    size = 0
    for event in events:
        length = len(json.dumps(event))
        if batch and (size + length > MAX_BYTES or len(batch) == _MAX_EVENTS):
            yield batch
            batch, size = [], 0
        batch.append(event)
        size += length
    if batch:
        yield batch
