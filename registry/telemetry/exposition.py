"""Metrics in the text format of Prometheus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Final

from contractlog.registry.telemetry import catalogue
from contractlog.registry.telemetry.catalogue import CATALOGUE, Kind, Metric
from contractlog.registry.telemetry.meters import Meters, Series

__all__ = ["CONTENT_TYPE", "exposition"]

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_START_TICKS: Final = 19  #: index in /proc/PID/stat, counted after the name: start time; below: processor time
_USER_TICKS, _SYSTEM_TICKS = 11, 12


def exposition(meters: Meters) -> bytes:
    """Write all metrics, summed over all workers; labelled series only if they are not zero."""
    found: dict[str, list[str]] = {metric.name: [] for metric in CATALOGUE}
    for series in meters.series():
        found[series.metric.name] += _lines(meters, series)
    for metric, amount in _processes(meters.processes()):
        found[metric.name].append(f"{metric.name} {_number(amount)}")
    text = "".join(
        f"# HELP {metric.name} {metric.help}\n# TYPE {metric.name} {metric.kind}\n"
        + "\n".join(found[metric.name])
        + "\n"
        for metric in CATALOGUE
        if found[metric.name]
    )
    return text.encode()


def _lines(meters: Meters, series: Series) -> Iterator[str]:
    metric = series.metric
    labels = [f'{name}="{_escaped(value)}"' for name, value in zip(metric.labels, series.labels, strict=True)]
    if metric.kind is not Kind.HISTOGRAM:
        amount = meters.total(series.at)
        if amount or not labels:
            yield f"{metric.name}{_in_braces(labels)} {_number(amount)}"
        return
    size = len(metric.bounds) + 1
    counts = list(accumulate(meters.total(series.at + place) for place in range(size)))
    if not counts[-1] and labels:
        return
    for bound, count in zip((*map(_number, metric.bounds), "+Inf"), counts, strict=True):
        inside = _in_braces([*labels, f'le="{bound}"'])
        yield f"{metric.name}_bucket{inside} {_number(count)}"
    yield f"{metric.name}_sum{_in_braces(labels)} {_number(meters.total(series.at + size))}"
    yield f"{metric.name}_count{_in_braces(labels)} {_number(counts[-1])}"


def _in_braces(labels: Iterable[str]) -> str:
    inside = ",".join(labels)
    return f"{{{inside}}}" if inside else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(amount: float) -> str:
    return str(int(amount)) if amount == int(amount) else repr(amount)


def _processes(pids: list[int]) -> Iterator[tuple[Metric, float]]:
    """Yield process metrics of the workers from /proc; without /proc only their number."""
    yield catalogue.WORKERS, len(pids)
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
        yield catalogue.PROCESS_CPU, cpu
        yield catalogue.PROCESS_MEMORY, memory
        yield catalogue.PROCESS_FILES, files
        yield catalogue.PROCESS_START, started


def _boot_time() -> float:
    lines = Path("/proc/stat").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("btime")))
