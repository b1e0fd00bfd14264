"""Metric values in memory that all workers share; each writes its own part, and reads add them up.

Invariants: every worker lays out its part in the same way, because all create the same app; a value is written by one
thread; a worker that replaces a dead one continues its counters, so that they never go back.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.registry.telemetry.metric_catalogue import Metric, MetricKind

__all__ = ["Histogram", "MetricSeries", "MetricValue", "SharedMetricMemory", "WorkerMetrics"]

_NUMBERS: Final = 64 * 1024  #: capacity of one worker; pages that are never touched are never allocated
_PID: Final = 0  #: index of the worker's process id


class SharedMetricMemory:
    """The shared memory of all workers; create it before they are forked."""

    def __init__(self, workers: int = 1) -> None:
        self.workers = workers
        self._numbers = memoryview(mmap.mmap(-1, workers * _NUMBERS * 8)).cast("d")

    def part(self, worker: int) -> memoryview[float]:
        """Return the part of one worker."""
        return self._numbers[worker * _NUMBERS : (worker + 1) * _NUMBERS]


@dataclass(frozen=True, slots=True)
class MetricSeries:
    """A metric with its labels, and the index of its first value."""

    metric: Metric
    labels: tuple[str, ...]
    at: int


class MetricValue:
    """A counter or a gauge; written by one thread."""

    __slots__ = ("_at", "_part")

    def __init__(self, part: memoryview[float], at: int) -> None:
        self._part = part
        self._at = at

    def add(self, amount: float = 1) -> None:
        """Add an amount."""
        self._part[self._at] += amount

    def set(self, amount: float) -> None:
        """Set the value."""
        self._part[self._at] = amount


class Histogram:
    """A histogram: the count of each bucket, and the sum; written by one thread."""

    __slots__ = ("_at", "_bounds", "_part", "_sum")

    def __init__(self, part: memoryview[float], at: int, bounds: Sequence[float]) -> None:
        self._part = part
        self._at = at
        self._bounds = bounds
        self._sum = at + len(bounds) + 1

    def observe(self, amount: float) -> None:
        """Count one observation."""
        part = self._part
        part[self._at + bisect_left(self._bounds, amount)] += 1
        part[self._sum] += amount


class WorkerMetrics:
    """The metric values of this worker, and the sums over all workers."""

    def __init__(self, memory: SharedMetricMemory | None = None, worker: int = 0) -> None:
        self._memory = memory or SharedMetricMemory()
        self._part = self._memory.part(worker)
        self._part[_PID] = os.getpid()
        self._next = _PID + 1
        self._series: dict[tuple[str, tuple[str, ...]], MetricSeries] = {}

    def value(self, metric: Metric, *labels: str) -> MetricValue:
        """Return a counter or gauge; a gauge restarts at 0 when a worker replaces another."""
        series = self._add_series(metric, labels, 1)
        if metric.kind is MetricKind.GAUGE:
            self._part[series.at] = 0
        return MetricValue(self._part, series.at)

    def distribution(self, metric: Metric, *labels: str) -> Histogram:
        """Return a histogram."""
        series = self._add_series(metric, labels, len(metric.bounds) + 2)
        return Histogram(self._part, series.at, metric.bounds)

    def _add_series(self, metric: Metric, labels: tuple[str, ...], room: int) -> MetricSeries:
        found = self._series.get((metric.name, labels))
        if found is None:
            found = MetricSeries(metric, labels, self._next)
            self._next += room
            if self._next > len(self._part):
                raise MemoryError(f"no room for {metric.name}")
            self._series[metric.name, labels] = found
        return found

    def series(self) -> list[MetricSeries]:
        """List the series."""
        return list(self._series.values())

    def total(self, at: int) -> float:
        """Sum one value over all workers."""
        return float(sum(self._memory.part(worker)[at] for worker in range(self._memory.workers)))

    def processes(self) -> list[int]:
        """List the process ids of the workers that have started."""
        pids = (int(self._memory.part(worker)[_PID]) for worker in range(self._memory.workers))
        return [pid for pid in pids if pid]
