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
    "Completed requests by method, route template and HTTP status; unknown routes count as `other`.",
    ("method", "route", "status"),
)
REQUEST_SECONDS: Final = Metric(
    "contractlog_http_request_seconds",
    MetricKind.HISTOGRAM,
    "Time from the first byte of a request to the end of its response, by route template.",
    ("route",),
    _SECONDS,
)
IN_FLIGHT: Final = Metric(
    "contractlog_http_requests_in_flight", MetricKind.GAUGE, "Requests that are currently being processed."
)
ERRORS: Final = Metric("contractlog_errors_total", MetricKind.COUNTER, "Error responses by `error_code`.", ("code",))
CACHE_HITS: Final = Metric("contractlog_cache_hits_total", MetricKind.COUNTER, "Requests answered from memory.")
STALE_ANSWERS: Final = Metric(
    "contractlog_stale_answers_total",
    MetricKind.COUNTER,
    "Reads by id served from memory, with the header `X-Contractlog-Stale`, because the database was unavailable.",
)
CACHE_BYTES: Final = Metric("contractlog_cache_bytes", MetricKind.GAUGE, "Memory used by cached responses by id.")
CACHE_ENTRIES: Final = Metric("contractlog_cache_entries", MetricKind.GAUGE, "Ids whose responses are cached.")
WRITES: Final = Metric(
    "contractlog_writes_total",
    MetricKind.COUNTER,
    "Completed writes by outcome: `done` or `failed`.",
    ("outcome",),
)
WRITES_WAITING: Final = Metric(
    "contractlog_writes_waiting", MetricKind.GAUGE, "Writes that are queued or being committed."
)
WRITES_REJECTED: Final = Metric(
    "contractlog_writes_refused_total",
    MetricKind.COUNTER,
    "Writes rejected immediately with 503 because the queue was full.",
)
PROTECTION_BYPASSES: Final = Metric(
    "contractlog_protection_bypasses_total",
    MetricKind.COUNTER,
    "Changes of protected subjects that were made without approvals, by break-glass.",
)
BATCH_SIZE: Final = Metric(
    "contractlog_write_batch_size",
    MetricKind.HISTOGRAM,
    "Number of writes that were committed together.",
    bounds=(1, 2, 4, 8, 16, 32, 64, 128, 256),
)
BATCH_SECONDS: Final = Metric(
    "contractlog_write_batch_seconds",
    MetricKind.HISTOGRAM,
    "Time from locking to committing a batch of writes.",
    bounds=_SECONDS,
)
DATABASE_UNAVAILABLE: Final = Metric(
    "contractlog_database_unavailable",
    MetricKind.GAUGE,
    "Workers that currently cannot reach the database; normally 0.",
)
DATABASE_DISK_FULL: Final = Metric(
    "contractlog_database_disk_full",
    MetricKind.GAUGE,
    "Workers whose last write failed because the database's disk is full; normally 0.",
)
DRAINING: Final = Metric(
    "contractlog_draining",
    MetricKind.GAUGE,
    "Workers that are shutting down: they finish current requests and accept no new connections.",
)
BUILD_INFO: Final = Metric(
    "contractlog_build_info", MetricKind.GAUGE, "Always 1 per worker; the label has the version.", ("version",)
)
PROCESS_CPU: Final = Metric("process_cpu_seconds_total", MetricKind.COUNTER, "Processor time used by all workers.")
PROCESS_MEMORY: Final = Metric("process_resident_memory_bytes", MetricKind.GAUGE, "Resident memory of all workers.")
PROCESS_FILES: Final = Metric("process_open_fds", MetricKind.GAUGE, "Open files and connections of all workers.")
PROCESS_START: Final = Metric(
    "process_start_time_seconds",
    MetricKind.GAUGE,
    "Start time of the most recently started worker, in seconds since 1970.",
)
WORKERS: Final = Metric("contractlog_workers", MetricKind.GAUGE, "Worker processes that are included in the sums.")

_PART: Final = ("topic", "part")
AUDIT_CONFORMANCE: Final = Metric(
    "contractlog_audit_conformance_ratio",
    MetricKind.GAUGE,
    "Share of the audited records that conform, from 0 to 1, by the newest published audit; none if none was audited.",
    _PART,
)
AUDIT_VIOLATING: Final = Metric(
    "contractlog_audit_violating_records", MetricKind.GAUGE, "Violating records, by the newest published audit.", _PART
)
AUDIT_VERDICT: Final = Metric(
    "contractlog_audit_verdict",
    MetricKind.GAUGE,
    "Always 1; the label has the verdict of the newest published audit.",
    (*_PART, "verdict"),
)
AUDIT_LAST_RECORD: Final = Metric(
    "contractlog_audit_last_record_timestamp_seconds",
    MetricKind.GAUGE,
    "Time of the newest audited record, in seconds since 1970; none if no record has a time.",
    _PART,
)
AUDIT_PUBLISHED: Final = Metric(
    "contractlog_audit_published_timestamp_seconds",
    MetricKind.GAUGE,
    "When the newest audit was published, in seconds since 1970.",
    _PART,
)
AUDIT_LEFT_OUT: Final = Metric(
    "contractlog_audit_parts_left_out",
    MetricKind.GAUGE,
    "Parts of topics beyond `CONTRACTLOG_MAX_METRIC_PARTS`.",
)

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
    WRITES_REJECTED,
    PROTECTION_BYPASSES,
    BATCH_SIZE,
    BATCH_SECONDS,
    DATABASE_UNAVAILABLE,
    DATABASE_DISK_FULL,
    DRAINING,
    BUILD_INFO,
    WORKERS,
    PROCESS_CPU,
    PROCESS_MEMORY,
    PROCESS_FILES,
    PROCESS_START,
    AUDIT_CONFORMANCE,
    AUDIT_VIOLATING,
    AUDIT_VERDICT,
    AUDIT_LAST_RECORD,
    AUDIT_PUBLISHED,
    AUDIT_LEFT_OUT,
)
