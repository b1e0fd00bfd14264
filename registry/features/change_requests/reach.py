"""Clients and data that a change of a subject reaches, from fetches, audits and lineage."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.errors import RegistryError
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, split_topic_subject
from contractlog.contracts.lineage.graph_bounds import MAX_DEPTH
from contractlog.registry.access.current_caller import may_read
from contractlog.registry.access.permissions import topic_permission_subject
from contractlog.registry.features.change_requests.bodies import ReachBody
from contractlog.registry.features.lineage.queries import EdgeFilter
from contractlog.registry.features.lineage.service import FlowDirection, LineageQuery, LineageService
from contractlog.registry.features.subject_usage.service import UsageService

__all__ = ["ReachFinder"]

_DAYS: Final = 30
_MAX_TOPICS: Final = 10  #: from which lineage is followed
_MAX_LISTED: Final = 200


class ReachFinder:
    """Finds the clients, topics and datasets that a change reaches, as far as the caller may read them."""

    def __init__(self, usage: UsageService, lineage: LineageService) -> None:
        self._usage = usage
        self._lineage = lineage

    async def find(self, subject: Subject) -> ReachBody:
        """Return what a change reaches; nothing for settings of a context."""
        reach = ReachBody(None, [], [])
        if not subject.name:
            return reach
        (usage,) = await self._usage.list_usage([lambda: subject], days=_DAYS)
        if isinstance(usage, RegistryError):
            return reach
        if usage.clients is not None:
            reach.clients = sorted({use.client for use in usage.clients})[:_MAX_LISTED]
        reach.topics = sorted({use.topic for use in usage.topics})[:_MAX_LISTED]
        named = split_topic_subject(subject.name) if subject.context == DEFAULT_CONTEXT else None
        downstream: set[str] = set()
        for topic in dict.fromkeys([*([named[0]] if named else []), *reach.topics[:_MAX_TOPICS]]):
            if may_read(topic_permission_subject(topic)):
                query = LineageQuery(topic, FlowDirection.DOWNSTREAM, MAX_DEPTH, "", EdgeFilter())
                graph = await self._lineage.walk(query)
                downstream |= {dataset.label for dataset, distance in graph.distance.items() if distance > 0}
        reach.downstream = sorted(downstream)[:_MAX_LISTED]
        return reach
