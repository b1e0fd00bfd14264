"""Metric values in memory that all workers share, and their text for Prometheus.

Each worker writes its own part, and reads add them up.

Invariants: every worker lays out its part in the same way, because all create the same app; a value is written by one
thread; a worker that replaces a dead one continues its counters, so that they never go back.
"""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from contractlog.registry.telemetry import metric_catalogue
from contractlog.registry.telemetry.metric_catalogue import CATALOGUE, Metric, MetricKind

__all__ = [
    "CONTENT_TYPE",
    "Histogram",
    "MetricSample",
    "MetricSeries",
    "MetricValue",
    "MetricValues",
    "SharedMetricMemory",
    "WorkerMetrics",
    "render_metrics",
]

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


class MetricValues(dict[int, MetricValue]):
    """Counters by key, created when they are used."""

    def __init__(self, part: memoryview[float], positions: Mapping[int, int]) -> None:
        super().__init__()
        self._part = part
        self._positions = positions

    def __missing__(self, key: int) -> MetricValue:
        """Create a counter; raises ``KeyError`` if it has no position."""
        value = self[key] = MetricValue(self._part, self._positions[key])
        return value


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
        self._blocks: dict[tuple[str, tuple[str, ...]], tuple[Metric, tuple[str, ...], tuple[str, ...], int]] = {}

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

    def values(self, metric: Metric, labels: tuple[str, ...], last: Mapping[int, str]) -> MetricValues:
        """Return the counters that differ in the last label, by key; each is created when it is used.

        An app has two thousand of them, most of which never count: creating all took 20 ms of its first request.
        """
        block = (metric, labels, tuple(last.values()), self._next)
        if (metric.name, labels) not in self._blocks:
            self._next += len(last)
            if self._next > len(self._part):
                raise MemoryError(f"no room for {metric.name}")
            self._blocks[metric.name, labels] = block
        at = self._blocks[metric.name, labels][3]
        return MetricValues(self._part, {key: at + offset for offset, key in enumerate(last)})

    def _add_series(self, metric: Metric, labels: tuple[str, ...], room: int) -> MetricSeries:
        series = self._series.get((metric.name, labels))
        if series is None:
            series = MetricSeries(metric, labels, self._next)
            self._next += room
            if self._next > len(self._part):
                raise MemoryError(f"no room for {metric.name}")
            self._series[metric.name, labels] = series
        return series

    def series(self) -> list[MetricSeries]:
        """List the series."""
        blocks = [
            MetricSeries(metric, (*labels, label), at + offset)
            for metric, labels, last, at in self._blocks.values()
            for offset, label in enumerate(last)
        ]
        return sorted([*self._series.values(), *blocks], key=lambda series: series.at)

    def total(self, at: int) -> float:
        """Sum one value over all workers."""
        return float(sum(self._memory.part(worker)[at] for worker in range(self._memory.workers)))

    def processes(self) -> list[int]:
        """List the process ids of the workers that have started."""
        pids = (int(self._memory.part(worker)[_PID]) for worker in range(self._memory.workers))
        return [pid for pid in pids if pid]


CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_START_TICKS: Final = 19  #: index in /proc/PID/stat, counted after the name: start time; below: processor time
_USER_TICKS, _SYSTEM_TICKS = 11, 12


class MetricSample(NamedTuple):
    """A value that is not in the shared memory of the workers."""

    metric: Metric
    labels: tuple[str, ...]
    value: float


def render_metrics(meters: WorkerMetrics, samples: Iterable[MetricSample] = ()) -> bytes:
    """Write all metrics, summed over all workers, and the samples.

    Labelled sums are written only if they are not zero.
    """
    lines: dict[str, list[str]] = {metric.name: [] for metric in CATALOGUE}
    for series in meters.series():
        lines[series.metric.name] += _render_series(meters, series)
    for metric, amount in _process_metrics(meters.processes()):
        lines[metric.name].append(f"{metric.name} {_format_number(amount)}")
    for sample in samples:
        labels = _format_labels(_label_pairs(sample.metric, sample.labels))
        lines[sample.metric.name].append(f"{sample.metric.name}{labels} {_format_number(sample.value)}")
    text = "".join(
        f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
        + "\n".join(lines[metric.name])
        + "\n"
        for metric in CATALOGUE
        if lines[metric.name]
    )
    return text.encode()


def _render_series(meters: WorkerMetrics, series: MetricSeries) -> Iterator[str]:
    metric = series.metric
    labels = _label_pairs(metric, series.labels)
    if metric.kind is not MetricKind.HISTOGRAM:
        amount = meters.total(series.at)
        if amount or not labels:
            yield f"{metric.name}{_format_labels(labels)} {_format_number(amount)}"
        return
    size = len(metric.bounds) + 1
    counts = list(accumulate(meters.total(series.at + offset) for offset in range(size)))
    if not counts[-1] and labels:
        return
    for bound, count in zip((*map(_format_number, metric.bounds), "+Inf"), counts, strict=True):
        inside = _format_labels([*labels, f'le="{bound}"'])
        yield f"{metric.name}_bucket{inside} {_format_number(count)}"
    yield f"{metric.name}_sum{_format_labels(labels)} {_format_number(meters.total(series.at + size))}"
    yield f"{metric.name}_count{_format_labels(labels)} {_format_number(counts[-1])}"


def _label_pairs(metric: Metric, values: Sequence[str]) -> list[str]:
    return [f'{name}="{_escape_label(value)}"' for name, value in zip(metric.labels, values, strict=True)]


def _format_labels(labels: Iterable[str]) -> str:
    inside = ",".join(labels)
    return f"{{{inside}}}" if inside else ""


def _escape_label(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _format_number(amount: float) -> str:
    return str(int(amount)) if amount == int(amount) else repr(amount)


def _process_metrics(pids: list[int]) -> Iterator[tuple[Metric, float]]:
    """Yield process metrics of the workers from /proc; without /proc only their number."""
    yield metric_catalogue.WORKERS, len(pids)
    ticks = os.sysconf("SC_CLK_TCK")
    cpu = memory = files = 0.0
    started = 0.0
    for pid in pids:
        with suppress(OSError):
            folder = Path("/proc") / str(pid)
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            cpu += (int(fields[_USER_TICKS]) + int(fields[_SYSTEM_TICKS])) / ticks
            memory += int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            files += len(os.listdir(folder / "fd"))  # noqa: PTH208 - names are enough
            started = max(started, _boot_time() + int(fields[_START_TICKS]) / ticks)
    if started:
        yield metric_catalogue.PROCESS_CPU, cpu
        yield metric_catalogue.PROCESS_MEMORY, memory
        yield metric_catalogue.PROCESS_FILES, files
        yield metric_catalogue.PROCESS_START, started


def _boot_time() -> float:
    lines = Path("/proc/stat").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("btime")))
