"""Report entries of field profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Final

from contractlog.contracts.audit.field_drift import FieldDrift
from contractlog.contracts.audit.field_profiles import MASK, PATTERN_PREFIX, FieldProfile, ValueRange, estimate_distinct
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.report import FieldEntry, FieldValue, NumberBins, PersonalData, ValueEnds

__all__ = ["describe_field", "list_fields"]

MAX_VALUES: Final = 10  #: listed values of a field
BINS: Final = 24
QUANTILES: Final[Mapping[str, float]] = {"p1": 0.01, "p25": 0.25, "p50": 0.5, "p75": 0.75, "p99": 0.99}
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def list_fields(
    profiles: Sequence[tuple[str, FieldProfile]], conforming: int, drifts: Mapping[str, FieldDrift]
) -> list[FieldEntry]:
    """Return the entries of a part's fields, by name.

    Args:
        profiles: name and profile of each field.
        conforming: number of conforming records of the part.
        drifts: drift by field.
    """
    by_name = sorted(profiles, key=lambda item: item[0])
    return [describe_field(name, profile, conforming, drifts.get(name)) for name, profile in by_name]


def describe_field(name: str, profile: FieldProfile, conforming: int, drift: FieldDrift | None = None) -> FieldEntry:
    """Return the entry of a field."""
    distinct, error = estimate_distinct(profile)
    entry: FieldEntry = {
        "field": name,
        "records": profile.records,
        "absent": max(conforming - profile.records, 0),
        "nulls": profile.nulls,
        "values": profile.values,
        "kinds": dict(sorted(profile.kinds.items())),
        "distinct": distinct,
        "distinct_error": round(error, 4),
        "listed": _list_values(profile.listed),
        "ranges": [_describe_ends(kind, ends) for kind, ends in sorted(profile.ranges.items())],
        "quantiles": _find_quantiles(profile.numbers),
        "bins": _make_bins(profile.numbers, profile.ranges.get("number")),
        "lengths": _find_quantiles(profile.lengths),
        "sizes": _find_quantiles(profile.sizes),
        "personal_data": _list_patterns(profile.patterns),
    }
    if drift is not None:
        entry["drift"] = {
            "index": round(drift.index, 4),
            "lowest": round(drift.lowest, 4),
            "before": drift.before,
            "after": drift.after,
        }
    return entry


def _list_values(listed: Mapping[str, int] | None) -> list[FieldValue]:
    """Return the most frequent values; none if there are too many."""
    most = sorted((listed or {}).items(), key=lambda item: (-item[1], item[0]))[:MAX_VALUES]
    return [{"value": None if value.startswith(MASK) else value, "records": count} for value, count in most]


def _describe_ends(kind: str, ends: ValueRange) -> ValueEnds:
    if kind in {"time", "date"}:
        return {"kind": kind, "lowest": _format_time(kind, ends.lowest), "highest": _format_time(kind, ends.highest)}
    return {"kind": kind, "lowest": ends.lowest, "highest": ends.highest}


def _format_time(kind: str, microseconds: float | str) -> str:
    """Return a time as ISO text, or its number of microseconds if it is beyond the years 1 to 9999."""
    try:
        moment = _EPOCH + timedelta(microseconds=int(microseconds))
    except OverflowError:
        return f"{microseconds} µs"
    return moment.date().isoformat() if kind == "date" else moment.isoformat().replace("+00:00", "Z")


def _find_quantiles(histogram: NumberHistogram) -> dict[str, float]:
    if not histogram.counts:
        return {}
    return {name: histogram.quantile(share) for name, share in QUANTILES.items()}


def _make_bins(histogram: NumberHistogram, ends: ValueRange | None) -> NumberBins | None:
    """Return numbers counted in bins of equal width, for a picture."""
    if ends is None or not histogram.counts:
        return None
    low, high = float(ends.lowest), float(ends.highest)
    width = high / BINS - low / BINS  # the difference alone could overflow
    counts = [0] * BINS
    for bucket, count in histogram.counts.items():
        index = (histogram.middle(bucket) - low) / width if width and isfinite(width) else 0
        counts[min(max(int(index), 0), BINS - 1)] += count
    return {"from": low, "to": high, "counts": counts}


def _list_patterns(patterns: Mapping[str, int]) -> list[PersonalData]:
    return [
        {"pattern": pattern, "values": count}
        for pattern, count in sorted(patterns.items())
        if not pattern.startswith(PATTERN_PREFIX)
    ]
