"""Drift of fields: how much the distribution of a field's values has changed between two profiles.

The measure is the population stability index (PSI): over categories with the shares p before and q after, the sum of
(q - p) · ln(q / p). It is 0 for equal shares; by convention, less than 0.1 is stable and more than 0.25 is a shift.
The categories are the most frequent values if a field has few distinct values, otherwise ranges of its numbers or
lengths that had about equal shares before. Null is a category, too.

With few values, the index can be far from 0 by chance alone. If two samples of n and m values come from one population,
n·m / (n + m) times their index has a chi-squared distribution, with one degree of freedom fewer than there are
categories. This distribution determines how much of an index may be due to chance.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Final

from contractlog.contracts.audit.field_profiles import FieldProfile, FieldProfileKey, estimate_distinct
from contractlog.contracts.audit.number_histograms import NumberHistogram

__all__ = ["SHIFT", "FieldDrift", "find_drifts", "measure_drift"]

SHIFT: Final = 0.25  #: an index above it is called a shift
MAX_CATEGORIES: Final = 12  #: maximum of frequent values, besides null and all other values
RANGES: Final = 10  #: number of ranges of numbers or lengths
_SIGMAS: Final = 3  #: standard errors
#: whole numbers are identifiers if at least this share of them is distinct; the estimated share is off by up to 0.13
_IDENTIFIER: Final = 0.85
_SMOOTHING: Final = 0.5  #: added to each count, as a category may be empty


@dataclass(frozen=True, slots=True)
class FieldDrift:
    """Population stability index of a field, and how much of it is not due to chance."""

    index: float
    lowest: float  #: the index without the part that may be due to chance; 0 if all of it may be
    before: int  #: values and nulls
    after: int


def find_drifts(
    before: Mapping[FieldProfileKey, FieldProfile], after: Mapping[FieldProfileKey, FieldProfile]
) -> dict[FieldProfileKey, FieldDrift]:
    """Return the drift of each field that has a distribution before and after."""
    drifts = {key: measure_drift(before[key], profile) for key, profile in after.items() if key in before}
    return {key: drift for key, drift in drifts.items() if drift is not None}


def measure_drift(before: FieldProfile, after: FieldProfile) -> FieldDrift | None:
    """Return the drift between two profiles; None if they have no distribution to compare.

    Times have none, nor do whole numbers that are nearly all distinct, such as ids: new records always have new values.
    """
    categories = _count_categories(before, after)
    if categories is None:
        return None
    counts = [(left + _SMOOTHING, right + _SMOOTHING) for left, right in categories]
    before_total, after_total = (sum(column) for column in zip(*counts, strict=True))
    index = sum(
        (right / after_total - left / before_total) * log(right / after_total / (left / before_total))
        for left, right in counts
    )
    freedom = len(counts) - 1
    chance = (freedom + _SIGMAS * sqrt(2 * freedom)) * (1 / before_total + 1 / after_total)
    return FieldDrift(index, max(index - chance, 0.0), before.values + before.nulls, after.values + after.nulls)


def _count_categories(before: FieldProfile, after: FieldProfile) -> list[tuple[int, int]] | None:
    """Return the values of each category before and after; None if there is no distribution."""
    if not before.values or not after.values:
        return None
    if before.listed and after.listed:
        pairs = _pair_listed(before.listed, after.listed)
    elif before.numbers.counts and after.numbers.counts:
        if _has_identifiers(before) and _has_identifiers(after):
            return None
        pairs = _pair_ranges(before.numbers, after.numbers)
    elif before.lengths.counts and after.lengths.counts:
        pairs = _pair_ranges(before.lengths, after.lengths)
    else:
        return None
    pairs.append((before.nulls, after.nulls))
    used = [pair for pair in pairs if any(pair)]
    return used if len(used) > 1 else None


def _pair_listed(before: Mapping[str, int], after: Mapping[str, int]) -> list[tuple[int, int]]:
    frequent = sorted(before, key=lambda value: (-before[value], value))[:MAX_CATEGORIES]
    named = [(before[value], after.get(value, 0)) for value in frequent]
    others = tuple(sum(counts.values()) - sum(counts.get(value, 0) for value in frequent) for counts in (before, after))
    return [*named, (others[0], others[1])]


def _pair_ranges(before: NumberHistogram, after: NumberHistogram) -> list[tuple[int, int]]:
    """Count both histograms by ranges of buckets that have about equal shares before."""
    empty = NumberHistogram({}, max(before.dropped_bits, after.dropped_bits))
    earlier, later = before.merge(empty).counts, after.merge(empty).counts
    ends = _cut_evenly(earlier)
    return list(zip(_count_ranges(earlier, ends), _count_ranges(later, ends), strict=True))


def _cut_evenly(counts: Mapping[int, int]) -> list[int]:
    """Return the ends of the ranges: the bucket below the lowest one, then the last bucket of each range.

    Later buckets up to the first end are new lows, and those above the last end are new highs.
    """
    share, total, passed = sum(counts.values()) / RANGES, 0, 0
    buckets = sorted(counts)
    ends = [buckets[0] - 1]
    for bucket in buckets[:-1]:
        total += counts[bucket]
        if total >= share * (passed + 1):
            ends.append(bucket)
            passed = int(total / share)
    return [*ends, buckets[-1]]


def _count_ranges(counts: Mapping[int, int], ends: Sequence[int]) -> list[int]:
    ranges: Counter[int] = Counter()
    for bucket, count in counts.items():
        ranges[bisect_left(ends, bucket)] += count
    return [ranges[index] for index in range(len(ends) + 1)]


def _has_identifiers(profile: FieldProfile) -> bool:
    """Return true if a field has whole numbers that are nearly all distinct."""
    ends = profile.ranges.get("number")
    whole = ends is not None and all(float(end).is_integer() for end in (ends.lowest, ends.highest))
    return whole and estimate_distinct(profile)[0] >= _IDENTIFIER * profile.values
