"""The catalogue of metrics; ``docs/metrics.md`` is generated from it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["CATALOGUE", "Metric", "MetricKind"]

_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class MetricKind(StrEnum):
    """The type of a metric."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric; its name is stable, so that dashboards may rely on it."""

    name: str
    kind: MetricKind
    help: str
    labels: tuple[str, ...] = ()
    bounds: tuple[float, ...] = ()  #: upper bounds of a histogram's buckets, except the last bucket, which is unbounded


REQUESTS: Final = Metric(
    "contractlog_http_requests_total",
    MetricKind.COUNTER,
    "Requests answered, by method, route template and HTTP status; `other` is every route that there is not.",
    ("method", "route", "status"),
)
REQUEST_SECONDS: Final = Metric(
    "contractlog_http_request_seconds",
    MetricKind.HISTOGRAM,
    "Time from a request's first byte at the application to the end of its answer, by route template.",
    ("route",),
    _SECONDS,
)
IN_FLIGHT: Final = Metric(
    "contractlog_http_requests_in_flight", MetricKind.GAUGE, "Requests that are being answered now."
)
ERRORS: Final = Metric(
    "contractlog_errors_total", MetricKind.COUNTER, "Answers with an `error_code`, by that code.", ("code",)
)
CACHE_HITS: Final = Metric(
    "contractlog_cache_hits_total", MetricKind.COUNTER, "Reads answered from memory, without asking the database."
)
STALE_ANSWERS: Final = Metric(
    "contractlog_stale_answers_total",
    MetricKind.COUNTER,
    "Reads by id answered from memory because the database was unavailable; with the header `X-Contractlog-Stale`.",
)
CACHE_BYTES: Final = Metric("contractlog_cache_bytes", MetricKind.GAUGE, "Memory that cached answers by id take.")
CACHE_ENTRIES: Final = Metric("contractlog_cache_entries", MetricKind.GAUGE, "Ids whose answers are cached.")
WRITES: Final = Metric(
    "contractlog_writes_total",
    MetricKind.COUNTER,
    "Writes that the writer finished, by what became of them: `done` or `failed`.",
    ("outcome",),
)
WRITES_WAITING: Final = Metric(
    "contractlog_writes_waiting", MetricKind.GAUGE, "Writes in the queue, or being committed."
)
WRITES_REFUSED: Final = Metric(
    "contractlog_writes_refused_total",
    MetricKind.COUNTER,
    "Writes answered with 503 at once because the queue was full.",
)
BATCH_SIZE: Final = Metric(
    "contractlog_write_batch_size",
    MetricKind.HISTOGRAM,
    "Writes that were committed together.",
    bounds=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)
BATCH_SECONDS: Final = Metric(
    "contractlog_write_batch_seconds",
    MetricKind.HISTOGRAM,
    "Time that a batch of writes took, from the lock to the commit.",
    bounds=_SECONDS,
)
DATABASE_AWAY: Final = Metric(
    "contractlog_database_away", MetricKind.GAUGE, "Workers that cannot reach the database now; 0 is good."
)
DATABASE_DISK_FULL: Final = Metric(
    "contractlog_database_disk_full",
    MetricKind.GAUGE,
    "Workers whose last write failed because the database's disk is full; 0 is good.",
)
DRAINING: Final = Metric(
    "contractlog_draining", MetricKind.GAUGE, "Workers that finish what is in flight and take nothing new."
)
BUILD_INFO: Final = Metric(
    "contractlog_build_info", MetricKind.GAUGE, "Always 1 per worker; the label has the value.", ("version",)
)
PROCESS_CPU: Final = Metric("process_cpu_seconds_total", MetricKind.COUNTER, "Processor time that all workers used.")
PROCESS_MEMORY: Final = Metric("process_resident_memory_bytes", MetricKind.GAUGE, "Memory that all workers hold.")
PROCESS_FILES: Final = Metric("process_open_fds", MetricKind.GAUGE, "Files and connections that all workers hold open.")
PROCESS_START: Final = Metric(
    "process_start_time_seconds", MetricKind.GAUGE, "When the worker that started last began, in seconds since 1970."
)
WORKERS: Final = Metric("contractlog_workers", MetricKind.GAUGE, "Processes that are summed up here.")

#: In the order of the exposition.
CATALOGUE: Final = (
    REQUESTS,
    REQUEST_SECONDS,
    IN_FLIGHT,
    ERRORS,
    CACHE_HITS,
    STALE_ANSWERS,
    CACHE_BYTES,
    CACHE_ENTRIES,
    WRITES,
    WRITES_WAITING,
    WRITES_REFUSED,
    BATCH_SIZE,
    BATCH_SECONDS,
    DATABASE_AWAY,
    DATABASE_DISK_FULL,
    DRAINING,
    BUILD_INFO,
    WORKERS,
    PROCESS_CPU,
    PROCESS_MEMORY,
    PROCESS_FILES,
    PROCESS_START,
)
