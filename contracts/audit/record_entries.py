"""Report entries of record statistics: sizes, keys, and steps back in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Final

from contractlog.contracts.audit.field_profiles import estimate_cardinality
from contractlog.contracts.audit.record_position import RecordPosition
from contractlog.contracts.audit.record_statistics import KeyCounts, RecordStatistics
from contractlog.contracts.audit.report import FrequentKey, KeyStatistics, MovedKey, SizeStatistics, TimeOrder

__all__ = ["describe_key_statistics", "describe_size_statistics", "describe_time_order", "find_share_interval"]

MAX_LISTED_KEYS: Final = 5
FREQUENT: Final = 0.02  #: share of the records from which a key is listed as frequent
_QUANTILES: Final[Mapping[str, float]] = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_DEVIATIONS: Final = 1.96  #: standard deviations on each side of a 95 % interval


def describe_size_statistics(statistics: RecordStatistics, part: str) -> SizeStatistics | None:
    """Return the sizes of the keys or values; None if all are null."""
    sizes = statistics.sizes.get(part)
    if sizes is None or not sizes.histogram.total:
        return None
    quantiles = {name: min(sizes.histogram.quantile(share), float(sizes.largest)) for name, share in _QUANTILES.items()}
    return {"bytes": sizes.total, "largest": sizes.largest, "quantiles": quantiles}


def describe_time_order(statistics: RecordStatistics) -> TimeOrder:
    """Return the number of records earlier than the one before in their partition, and the largest step."""
    return {
        "backward": sum(run.backward for run in statistics.runs),
        "largest_step_ms": max((run.largest_step for run in statistics.runs), default=0),
    }


def describe_key_statistics(statistics: RecordStatistics) -> KeyStatistics:
    """Return how many keys there are, how often they occur, and whether each stays in its partition."""
    keys = statistics.keys
    moved = sorted(
        (occurrences for occurrences in keys.values() if len(occurrences.first) > 1), key=lambda each: each.first
    )
    distinct, error = estimate_cardinality(sorted(keys))
    return {
        "null": statistics.null_keys,
        "distinct": min(distinct, statistics.records - statistics.null_keys),
        "distinct_error": round(error, 4),
        "sampled": len(keys),
        "repeated": sum(occurrences.records > 1 for occurrences in keys.values()),
        "moved": len(moved),
        "moved_examples": [_describe_moved(occurrences) for occurrences in moved[:MAX_LISTED_KEYS]],
        "frequent": _list_frequent(statistics),
    }


def _describe_moved(occurrences: KeyCounts) -> MovedKey:
    return {
        "records": occurrences.records,
        "positions": [{"partition": partition, "offset": offset} for partition, offset in occurrences.first],
    }


def _list_frequent(statistics: RecordStatistics) -> list[FrequentKey]:
    """Return the most frequent keys of the sample, each with the 95 % interval of its share."""
    sample, total = statistics.sample, statistics.records - statistics.null_keys
    records = Counter(record.key_hash for record in sample)
    frequent: list[FrequentKey] = []
    for key_hash, number in sorted(records.items(), key=lambda item: (-item[1], item[0]))[:MAX_LISTED_KEYS]:
        share = number / len(sample)
        if number == 1 or share < FREQUENT:
            break
        low, high = find_share_interval(share, len(sample), _DEVIATIONS) if total > len(sample) else (share, share)
        partition, offset = min((each.partition, each.offset) for each in sample if each.key_hash == key_hash)
        example: RecordPosition = {"partition": partition, "offset": offset}
        frequent.append({"share": share, "low": low, "high": high, "example": example})
    return frequent


def find_share_interval(share: float, sampled: int, deviations: float) -> tuple[float, float]:
    """Return Wilson's interval of a share.

    Args:
        share: the share in a uniform sample.
        sampled: size of the sample.
        deviations: standard deviations on each side.
    """
    square = deviations * deviations / sampled
    middle = (share + square / 2) / (1 + square)
    half = deviations / (1 + square) * sqrt((share * (1 - share) + square / 4) / sampled)
    return max(middle - half, 0.0), min(middle + half, 1.0)
