"""Producers of records, as their headers name them: counts per producer, limited to the lowest names.

The names come from records, so each topic part has at most ``MAX_PRODUCERS`` of them, and each kind of violation at
most ``MAX_VIOLATION_PRODUCERS``; all others are counted together. Names beyond a limit are never among the lowest of a
larger range, so the counts do not depend on how a range was divided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from heapq import nsmallest
from typing import Final

__all__ = [
    "DEFAULT_PRODUCER_HEADERS",
    "MAX_NAME_BYTES",
    "MAX_PRODUCERS",
    "MAX_VIOLATION_PRODUCERS",
    "OTHER_PRODUCERS",
    "ProducerCounts",
    "ProducerKey",
    "limit_producers",
    "lowest_producers",
    "parse_producer",
    "pool_producers",
]

DEFAULT_PRODUCER_HEADERS: Final = ("producer", "service", "service.name", "client.id")
OTHER_PRODUCERS: Final = ""  #: stands for all producers beyond a limit; no producer has an empty name
MAX_PRODUCERS: Final = 100  #: per topic part
MAX_VIOLATION_PRODUCERS: Final = 20  #: per kind of violation
MAX_NAME_BYTES: Final = 128


@dataclass(frozen=True, slots=True, order=True)
class ProducerKey:
    """A producer of the records of one part of a topic."""

    topic: str
    part: str
    producer: str  #: ``OTHER_PRODUCERS`` for all beyond the limit


@dataclass(frozen=True, slots=True)
class ProducerCounts:
    """Records of a producer, with the first and last timestamp (milliseconds since 1970, UTC)."""

    records: int
    violating: int
    first_seen: int
    last_seen: int

    def merge(self, other: ProducerCounts) -> ProducerCounts:
        """Return the sum of both."""
        return ProducerCounts(
            self.records + other.records,
            self.violating + other.violating,
            min(self.first_seen, other.first_seen),
            max(self.last_seen, other.last_seen),
        )


def parse_producer(value: bytes) -> str:
    """Return the name in a header's value; bytes that are not UTF-8 are replaced, and long names are cut.

    >>> parse_producer(b"boarding-2"), len(parse_producer(b"x" * 1_000))
    ('boarding-2', 129)
    """
    if len(value) <= MAX_NAME_BYTES:
        return value.decode(errors="replace")
    return f"{value[:MAX_NAME_BYTES].decode(errors='ignore')}…"


def lowest_producers(keys: Iterable[ProducerKey]) -> Mapping[tuple[str, str], frozenset[str]]:
    """Return the names that are counted separately, by topic and part."""
    by_part: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for key in keys:
        by_part[key.topic, key.part].add(key.producer)
    return {part: frozenset(_lowest(names, MAX_PRODUCERS)) for part, names in by_part.items()}


def limit_producers(
    producers: Mapping[ProducerKey, ProducerCounts], lowest: Mapping[tuple[str, str], frozenset[str]]
) -> dict[ProducerKey, ProducerCounts]:
    """Return the counts with those of all other producers combined."""
    limited: dict[ProducerKey, ProducerCounts] = {}
    for key, counts in producers.items():
        name = key.producer if key.producer in lowest[key.topic, key.part] else OTHER_PRODUCERS
        target = ProducerKey(key.topic, key.part, name)
        limited[target] = limited[target].merge(counts) if target in limited else counts
    return limited


def pool_producers(counts: Mapping[str, int], lowest: Collection[str]) -> dict[str, int]:
    """Return the records of a kind of violation by producer, those beyond its limit combined."""
    counted = set(_lowest((name for name in counts if name in lowest), MAX_VIOLATION_PRODUCERS))
    if len(counted) == len(counts):
        return dict(counts)
    pooled: dict[str, int] = {}
    for name, records in counts.items():
        target = name if name in counted else OTHER_PRODUCERS
        pooled[target] = pooled.get(target, 0) + records
    return pooled


def _lowest(names: Iterable[str], maximum: int) -> list[str]:
    return nsmallest(maximum, (name for name in names if name != OTHER_PRODUCERS))
