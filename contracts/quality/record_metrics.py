"""Metrics of a topic's records: keys, and steps back in time."""

from __future__ import annotations

from typing import Final

from contractlog.contracts.audit.record_entries import find_share_interval
from contractlog.contracts.audit.report import AuditReport, KeyStatistics, TimeOrder
from contractlog.contracts.quality.measurement import SIGMAS, Measurement, NotMeasurable, measure_exactly
from contractlog.contracts.quality.rules import Metric

__all__ = ["find_keys", "measure_records"]

_UNKNOWN: Final = "the audit continues one of an earlier release, which did not count this: repeat it with --full"


def find_keys(report: AuditReport) -> dict[str, KeyStatistics]:
    """Return the statistics of the keys of each topic of a report that has them."""
    return {part["topic"]: part["keys"] for part in report["topics"] if "keys" in part}


def measure_records(metric: Metric, keys: KeyStatistics | None, order: TimeOrder | None, records: int) -> Measurement:
    """Return a number of ``RECORD_METRICS``.

    Args:
        metric: the metric.
        keys: keys of the topic; None if unknown.
        order: steps back in time; None if unknown.
        records: number of records of the topic.

    Raises:
        NotMeasurable: the audit does not know the number.
    """
    if keys is None or order is None:
        raise NotMeasurable(_UNKNOWN)
    match metric:
        case "backwardTimestamps":
            return measure_exactly(order["backward"], records)
        case "nullKeys":
            return measure_exactly(keys["null"], records)
        case "duplicateKeys":
            return _count_duplicates(keys, records - keys["null"])
        case _:
            return _count_moved(keys)


def _count_duplicates(keys: KeyStatistics, keyed: int) -> Measurement:
    """Return the records with a key less the distinct keys; at least one per sampled key that repeats."""
    margin = SIGMAS * keys["distinct_error"] * keys["distinct"]
    low = max(keyed - int(keys["distinct"] + margin), keys["repeated"])
    return Measurement(low, max(keyed - max(int(keys["distinct"] - margin), keys["sampled"]), low), keyed)


def _count_moved(keys: KeyStatistics) -> Measurement:
    """Return the keys that occur in more than one partition, estimated by those of the sample."""
    moved, distinct = keys["moved"], keys["distinct"]
    if not keys["distinct_error"]:
        return measure_exactly(moved, distinct)
    low, high = find_share_interval(moved / keys["sampled"], keys["sampled"], SIGMAS)
    return Measurement(max(int(low * distinct), moved), int(high * distinct) + 1, distinct)
