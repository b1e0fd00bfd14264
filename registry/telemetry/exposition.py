"""Metrics in the text format of Prometheus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Final

from contractlog.registry.telemetry import metric_catalogue
from contractlog.registry.telemetry.metric_catalogue import CATALOGUE, Metric, MetricKind
from contractlog.registry.telemetry.metrics import MetricSeries, WorkerMetrics

__all__ = ["CONTENT_TYPE", "render_metrics"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_START_TICKS: Final = 19  #: index in /proc/PID/stat, counted after the name: start time; below: processor time
_USER_TICKS, _SYSTEM_TICKS = 11, 12


def render_metrics(meters: WorkerMetrics) -> bytes:
    """Write all metrics, summed over all workers; labelled series only if they are not zero."""
    found: dict[str, list[str]] = {metric.name: [] for metric in CATALOGUE}
    for series in meters.series():
        found[series.metric.name] += _render_series(meters, series)
    for metric, amount in _process_metrics(meters.processes()):
        found[metric.name].append(f"{metric.name} {_format_number(amount)}")
    text = "".join(
        f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
        + "\n".join(found[metric.name])
        + "\n"
        for metric in CATALOGUE
        if found[metric.name]
    )
    return text.encode()


def _render_series(meters: WorkerMetrics, series: MetricSeries) -> Iterator[str]:
    metric = series.metric
    labels = [f'{name}="{_escape_label(value)}"' for name, value in zip(metric.labels, series.labels, strict=True)]
    if metric.kind is not MetricKind.HISTOGRAM:
        amount = meters.total(series.at)
        if amount or not labels:
            yield f"{metric.name}{_format_labels(labels)} {_format_number(amount)}"
        return
    size = len(metric.bounds) + 1
    counts = list(accumulate(meters.total(series.at + place) for place in range(size)))
    if not counts[-1] and labels:
        return
    for bound, count in zip((*map(_format_number, metric.bounds), "+Inf"), counts, strict=True):
        inside = _format_labels([*labels, f'le="{bound}"'])
        yield f"{metric.name}_bucket{inside} {_format_number(count)}"
    yield f"{metric.name}_sum{_format_labels(labels)} {_format_number(meters.total(series.at + size))}"
    yield f"{metric.name}_count{_format_labels(labels)} {_format_number(counts[-1])}"


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
