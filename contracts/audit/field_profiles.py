"""Profiles of fields: summaries of their values, in counts that merge exactly.

Everything here is a sum, a minimum or maximum, or a choice of the lowest, so the profile of a range is the same however
the range was split:

- distinct values by the lowest hashes (a KMV sketch): exact up to ``MAX_DISTINCT_HASHES``, an estimate beyond;
- the values themselves, with their counts, while they are few; none once there are too many;
- numbers and lengths in histograms with a bounded relative error.

Texts are confidential. Unless the audit was to show them, a profile has their hash in place of a value and no lowest or
highest text. Personal data is searched for by pattern and only counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge, nsmallest
from itertools import groupby, islice
from math import sqrt
from typing import Final

from contractlog.contracts.audit.number_histograms import NumberHistogram

__all__ = [
    "MASK",
    "MAX_DISTINCT_HASHES",
    "MAX_FIELDS_PER_PART",
    "MAX_LISTED_VALUES",
    "MAX_PROFILES",
    "PATTERN_PREFIX",
    "FieldProfile",
    "FieldProfileKey",
    "ValueRange",
    "estimate_cardinality",
    "estimate_distinct",
    "limit_profiles",
]

PATTERN_PREFIX: Final = "pattern:"  #: of the name under which texts that match a regular expression are counted
MASK: Final = "\0#"  #: begins the hash of a confidential text, in place of the text
MAX_DISTINCT_HASHES: Final = 512
MAX_LISTED_VALUES: Final = 100  #: distinct values of a field that are counted one by one
MAX_FIELDS_PER_PART: Final = 2_500  #: profiled fields of a part: the lowest names
MAX_PROFILES: Final = 50_000  #: of all topics together
_HASHES: Final = 1 << 64

FieldProfileKey = tuple[str, str, str]
"""Topic, part and path of the field."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """The lowest and highest value of one kind: numbers, times in microseconds since 1970 (UTC), or texts."""

    lowest: float | str
    highest: float | str


@dataclass(frozen=True, slots=True)
class FieldProfile:
    """Summary of the values of a field; only conforming records count."""

    records: int  #: records with at least one value or null
    nulls: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)  #: values by kind, such as ``text`` and ``number``
    distinct: tuple[int, ...] = ()  #: lowest hashes of the distinct values, ascending
    listed: Mapping[str, int] | None = field(default_factory=dict)  #: count of each value; None if they are too many
    ranges: Mapping[str, ValueRange] = field(default_factory=dict)  #: by kind
    numbers: NumberHistogram = field(default_factory=NumberHistogram)
    lengths: NumberHistogram = field(default_factory=NumberHistogram)  #: characters of texts, or bytes
    sizes: NumberHistogram = field(default_factory=NumberHistogram)  #: values per record with at least one
    patterns: Mapping[str, int] = field(default_factory=dict)  #: values that look like personal data, by pattern

    @property
    def values(self) -> int:
        """Number of values, without nulls."""
        return sum(self.kinds.values())

    def merge(self, other: FieldProfile) -> FieldProfile:
        """Return the profile of the records of both, which have no record in common."""
        return FieldProfile(
            self.records + other.records,
            self.nulls + other.nulls,
            _add_counts(self.kinds, other.kinds),
            merge_distinct(self.distinct, other.distinct),
            _add_listed(self.listed, other.listed),
            _merge_ranges(self.ranges, other.ranges),
            self.numbers.merge(other.numbers),
            self.lengths.merge(other.lengths),
            self.sizes.merge(other.sizes),
            _add_counts(self.patterns, other.patterns),
        )


def merge_distinct(left: Iterable[int], right: Iterable[int]) -> tuple[int, ...]:
    """Return the lowest of two ascending sequences of hashes, each once."""
    return tuple(value for value, _ in islice(groupby(merge(left, right)), MAX_DISTINCT_HASHES))


def estimate_distinct(profile: FieldProfile) -> tuple[int, float]:
    """Return the number of distinct values and its relative standard error; exact numbers have 0."""
    estimate, error = estimate_cardinality(profile.distinct)
    return min(estimate, profile.values), error


def estimate_cardinality(lowest: Sequence[int]) -> tuple[int, float]:
    """Estimate the number of distinct values, and its relative standard error, from their lowest hashes."""
    if len(lowest) < MAX_DISTINCT_HASHES:
        return len(lowest), 0.0
    return (MAX_DISTINCT_HASHES - 1) * _HASHES // max(lowest[-1], 1), 1 / sqrt(MAX_DISTINCT_HASHES - 2)


def limit_profiles(profiles: Mapping[FieldProfileKey, FieldProfile]) -> dict[FieldProfileKey, FieldProfile]:
    """Return the profiles of the lowest fields of each part, and of the lowest parts, within the limits."""
    if len(profiles) <= MAX_FIELDS_PER_PART:
        return dict(profiles)
    fields: dict[tuple[str, str], list[str]] = {}
    for topic, part, name in profiles:
        fields.setdefault((topic, part), []).append(name)
    lowest = {key: nsmallest(MAX_FIELDS_PER_PART, names) for key, names in fields.items()}
    keys = ((*part, name) for part in sorted(lowest) for name in lowest[part])
    return {key: profiles[key] for key in islice(keys, MAX_PROFILES)}


def _add_counts(left: Mapping[str, int], right: Mapping[str, int]) -> Mapping[str, int]:
    counts = dict(left)
    for name, count in right.items():
        counts[name] = counts.get(name, 0) + count
    return counts


def _add_listed(left: Mapping[str, int] | None, right: Mapping[str, int] | None) -> Mapping[str, int] | None:
    if left is None or right is None:
        return None
    counts = _add_counts(left, right)
    return counts if len(counts) <= MAX_LISTED_VALUES else None


def _merge_ranges(left: Mapping[str, ValueRange], right: Mapping[str, ValueRange]) -> Mapping[str, ValueRange]:
    ranges = dict(left)
    for kind, other in right.items():
        existing = ranges.get(kind)
        ranges[kind] = other if existing is None else _widen(existing, other)
    return ranges


def _widen(left: ValueRange, right: ValueRange) -> ValueRange:
    # Only values of one kind are compared, so both ends are numbers or both are texts.
    return ValueRange(
        min(left.lowest, right.lowest),
        max(left.highest, right.highest),
    )
