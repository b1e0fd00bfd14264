"""Values of a field that a field of another topic does not have: references between topics.

The profiles of both fields have the lowest hashes of their distinct values. Up to the highest hash that both have, all
values of either field are known. So a value there that the other field lacks is an orphan for certain, and the share
of such values is that of a uniform sample.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Final

from contractlog.contracts.audit.field_profiles import (
    MAX_DISTINCT_HASHES,
    FieldProfile,
    FieldProfileKey,
    estimate_distinct,
)
from contractlog.contracts.audit.record_entries import find_share_interval
from contractlog.contracts.quality.measurement import SIGMAS, Measurement, NotMeasurable, measure_exactly

__all__ = ["count_orphans", "find_target"]

_ALL: Final = 1 << 64  #: more than any hash


def find_target(reference: str, part: str, profiles: Mapping[FieldProfileKey, FieldProfile]) -> FieldProfile:
    """Return the profile of the field that a reference names, as ``customers.id``.

    Topics and fields may have dots: the longest topic counts of which the audit has such a field. The topic alone names
    the whole key or value.

    Raises:
        NotMeasurable: the audit has no such field.
    """
    for topic, field in _split(reference):
        profile = profiles.get((topic, part, field))
        if profile is not None and profile.values:
            return profile
    raise NotMeasurable(f"the audit has no values of {reference}: audit its topic, too")


def count_orphans(profile: FieldProfile, target: FieldProfile) -> Measurement:
    """Return how many distinct values of a field another field lacks, of how many."""
    present = frozenset(target.distinct)
    bound = _ALL if len(present) < MAX_DISTINCT_HASHES else target.distinct[-1]
    compared = profile.distinct[: bisect_right(profile.distinct, bound)]
    orphans = sum(value not in present for value in compared)
    distinct, error = estimate_distinct(profile)
    if not error and len(compared) == len(profile.distinct):
        return measure_exactly(orphans, distinct)
    if not compared:
        raise NotMeasurable("the field has too few values to estimate which of them are missing")
    low, high = find_share_interval(orphans / len(compared), len(compared), SIGMAS)
    margin = SIGMAS * error * distinct
    return Measurement(max(int(low * (distinct - margin)), orphans), int(high * (distinct + margin)) + 1, distinct)


def _split(reference: str) -> Iterator[tuple[str, str]]:
    """Yield each topic and field that a reference may mean, the longest topic first."""
    yield reference, ""
    parts = reference.split(".")
    for end in range(len(parts) - 1, 0, -1):
        yield ".".join(parts[:end]), ".".join(parts[end:])
