"""Metrics of the newest audit of each part of a topic."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Final

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.access.current_caller import may_read, may_read_everything
from contractlog.registry.access.permissions import topic_permission_subject
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.conformance.queries import AuditSummary, list_summaries
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.store import Store
from contractlog.registry.telemetry import metric_catalogue
from contractlog.registry.telemetry.metric_memory import MetricSample

__all__ = ["AuditMetrics"]

_FRESH_SECONDS: Final = 5.0  #: how long summaries are used without reading them again
_STALE_SECONDS: Final = 300.0  #: how long they are used while the database is unavailable
_WAIT_SECONDS: Final = 1.0  #: how long a request waits for the database: metrics matter most when it is slow


@dataclass(frozen=True, slots=True)
class _Summaries:
    audits: list[AuditSummary]
    left_out: int
    read_at: float  #: by the monotonic clock


class AuditMetrics(ReadService):
    """Reads the figures of audits that ``/metrics`` shows, at most every few seconds.

    Args:
        store: the store.
        threads: threads for queries.
        max_parts: maximum number of parts of topics.
        clock: seconds.
    """

    def __init__(
        self, store: Store, threads: ThreadPools, *, max_parts: int, clock: Callable[[], float] = monotonic
    ) -> None:
        super().__init__(store, threads)
        self._max_parts = max_parts
        self._clock = clock
        self._summaries: _Summaries | None = None
        self._reading: asyncio.Task[None] | None = None

    async def read(self) -> list[MetricSample]:
        """Return samples of readable topics; none if the database has not responded for minutes."""
        if not self._max_parts:
            return []
        if self._age() >= _FRESH_SECONDS:
            if self._reading is None or self._reading.done():
                self._reading = asyncio.create_task(self._refresh())
            await asyncio.wait({self._reading}, timeout=_WAIT_SECONDS)
        summaries = self._summaries
        if summaries is None or self._age() >= _STALE_SECONDS:
            return []
        readable = (audit for audit in summaries.audits if may_read(topic_permission_subject(audit.topic)))
        samples = list(_sample(readable))
        if may_read_everything():
            samples.append(MetricSample(metric_catalogue.AUDIT_LEFT_OUT, (), summaries.left_out))
        return samples

    def _age(self) -> float:
        return float("inf") if self._summaries is None else self._clock() - self._summaries.read_at

    async def _refresh(self) -> None:
        try:
            audits, left_out = await self._query(list_summaries, self._max_parts)
        except RegistryError:
            return  # the database is unavailable, or too busy: other metrics say so
        self._summaries = _Summaries(audits, left_out, self._clock())


def _sample(audits: Iterable[AuditSummary]) -> Iterator[MetricSample]:
    for audit in audits:
        labels, figures = (audit.topic, audit.part), audit.figures
        audited = figures.conforming + figures.violating
        if audited and figures.verdict != "unknown":
            yield MetricSample(metric_catalogue.AUDIT_CONFORMANCE, labels, figures.conforming / audited)
        yield MetricSample(metric_catalogue.AUDIT_VIOLATING, labels, figures.violating)
        yield MetricSample(metric_catalogue.AUDIT_VERDICT, (*labels, figures.verdict), 1)
        if figures.last_record_at is not None:
            yield MetricSample(metric_catalogue.AUDIT_LAST_RECORD, labels, figures.last_record_at / 1000)
        yield MetricSample(metric_catalogue.AUDIT_PUBLISHED, labels, audit.published_at / 1000)
