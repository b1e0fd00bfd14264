"""Publication of lineage: OpenLineage events are sent to the registry, several in each request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from contractlog.clients.registry import Registry
from contractlog.contracts.audit.publication import MAX_BYTES

__all__ = ["publish_events"]

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
