"""Telemetry of one serving process."""

from __future__ import annotations

from contractlog.registry.execution.drain_state import DrainState
from contractlog.registry.telemetry import metric_catalogue
from contractlog.registry.telemetry.metric_memory import WorkerMetrics

__all__ = ["Telemetry"]


class Telemetry:
    """The metrics of this process, and its shutdown state."""

    def __init__(self, meters: WorkerMetrics | None = None, *, version: str = "") -> None:
        self.meters = meters or WorkerMetrics()
        self.draining = DrainState()
        self._draining = self.meters.value(metric_catalogue.DRAINING)
        self.meters.value(metric_catalogue.BUILD_INFO, version).set(1)
        self._done = self.meters.value(metric_catalogue.WRITES, "done")
        self._failed = self.meters.value(metric_catalogue.WRITES, "failed")
        self._sizes = self.meters.distribution(metric_catalogue.BATCH_SIZE)
        self._seconds = self.meters.distribution(metric_catalogue.BATCH_SECONDS)
        self._waiting = self.meters.value(metric_catalogue.WRITES_WAITING)
        self._refused = self.meters.value(metric_catalogue.WRITES_REJECTED)
        self._bypasses = self.meters.value(metric_catalogue.PROTECTION_BYPASSES)
        self._unavailable = self.meters.value(metric_catalogue.DATABASE_UNAVAILABLE)
        self._disk_full = self.meters.value(metric_catalogue.DATABASE_DISK_FULL)
        self.hits = self.meters.value(metric_catalogue.CACHE_HITS)
        self.stale = self.meters.value(metric_catalogue.STALE_ANSWERS)
        self._cached_bytes = self.meters.value(metric_catalogue.CACHE_BYTES)
        self._cached_entries = self.meters.value(metric_catalogue.CACHE_ENTRIES)

    def drain(self) -> None:
        """Finish requests in progress; each following response is the last on its connection."""
        self._draining.set(1)
        self.draining.begin()

    def record_cache(self, size: int, entries: int) -> None:
        """Record the size of the cache of responses by id; under its lock."""
        self._cached_bytes.set(size)
        self._cached_entries.set(entries)

    def record_queue(self, waiting: int) -> None:
        """Record how many writes are waiting or being committed; on the writer's thread."""
        self._waiting.set(waiting)

    def record_rejection(self) -> None:
        """Record that a write was rejected; under the writer's lock."""
        self._refused.add()

    def record_bypasses(self, number: int) -> None:
        """Record changes of protected subjects that were made without approvals; on the writer's thread."""
        self._bypasses.add(number)

    def database_unavailable(self, *, unavailable: bool) -> None:
        """Record that the database has become unavailable, or available again."""
        self._unavailable.set(unavailable)

    def disk_full(self, *, full: bool) -> None:
        """Record that the database's disk is full, or has space again; on the writer's thread."""
        self._disk_full.set(full)

    def record_batch(self, done: int, failed: int, seconds: float) -> None:
        """Record a batch; on the writer's thread."""
        self._done.add(done)
        self._failed.add(failed)
        self._sizes.observe(done + failed)
        self._seconds.observe(seconds)
