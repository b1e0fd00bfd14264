"""State of a back-test: how many records a proposed schema can read, which it cannot, and why.

States form a commutative monoid, as those of audits: the result does not depend on how a range was split. Ids and
causes may come from hostile records, so only the lowest of each kind are counted separately;
``limit_readability(limit_readability(a).merge(limit_readability(b))) == limit_readability(a.merge(b))``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from heapq import nsmallest
from typing import Final, TypeVar

from contractlog.contracts.audit.mergeable_state import MAX_EXAMPLES, MAX_PATHS, MAX_UNKNOWN_IDS, Coverage

__all__ = [
    "ReadCounts",
    "ReadKey",
    "ReadOutcome",
    "ReadabilityState",
    "UnreadableCounts",
    "UnreadableExample",
    "UnreadableKey",
    "limit_readability",
]

K = TypeVar("K")
V = TypeVar("V")


class ReadOutcome(StrEnum):
    """Outcome of reading a record with the proposed schema."""

    READABLE = "readable"
    UNREADABLE = "unreadable"  #: the record conforms to its own schema, and the proposed schema cannot read it
    VIOLATING = "violating"  #: cannot be read, but it does not conform to its own schema either: an audit reports it
    NOT_USABLE = "not_usable"  #: validators cannot use the schema of the record
    TOMBSTONE = "tombstones"
    NOT_FRAMED = "not_framed"
    OTHER_ID = "other_ids"  #: the id is of no version of the subject: of another subject, or unknown


@dataclass(frozen=True, slots=True, order=True)
class ReadKey:
    """Key by which records are counted."""

    topic: str
    schema_id: int  #: 0 if the record carries no id
    outcome: ReadOutcome


@dataclass(frozen=True, slots=True)
class ReadCounts:
    """Number of records, with the first and last timestamp (milliseconds since 1970, UTC)."""

    records: int
    first_seen: int
    last_seen: int

    def merge(self, other: ReadCounts) -> ReadCounts:
        """Return the sum of both."""
        first, last = min(self.first_seen, other.first_seen), max(self.last_seen, other.last_seen)
        return ReadCounts(self.records + other.records, first, last)


@dataclass(frozen=True, slots=True, order=True)
class UnreadableExample:
    """A record that the proposed schema cannot read."""

    partition: int
    offset: int
    path: str  #: path of the value that cannot be read, with positions: ``legs[2].carrier``


@dataclass(frozen=True, slots=True, order=True)
class UnreadableKey:
    """Key by which unreadable records are grouped: the cause of the first failure of each."""

    topic: str
    schema_id: int
    code: str  #: ``READER_MISMATCH`` if the schemas do not match here, else the outcome of the value
    pointer: str  #: JSON Pointer into the proposed JSON Schema; empty for Avro
    field: str  #: path of the value without positions, as ``legs[].carrier``; empty for the record as a whole
    reason: str  #: why the schemas do not match; empty if the cause is in the value


@dataclass(frozen=True, slots=True)
class UnreadableCounts:
    """Records that cannot be read for the same cause: their count, time range and lowest positions."""

    records: int
    first_seen: int
    last_seen: int
    examples: tuple[UnreadableExample, ...]  #: ascending; the lowest ``MAX_EXAMPLES``
    detail: str  #: for people; of the lowest example

    def merge(self, other: UnreadableCounts) -> UnreadableCounts:
        """Return the counts of both combined."""
        lowest = min(self, other, key=lambda counts: counts.examples[:1])
        return UnreadableCounts(
            self.records + other.records,
            min(self.first_seen, other.first_seen),
            max(self.last_seen, other.last_seen),
            tuple(nsmallest(MAX_EXAMPLES, {*self.examples, *other.examples})),
            lowest.detail,
        )


@dataclass(frozen=True, slots=True)
class ReadabilityState:
    """The complete result of a back-test."""

    coverage: frozenset[Coverage] = frozenset()
    counts: Mapping[ReadKey, ReadCounts] = field(default_factory=dict)
    unreadable: Mapping[UnreadableKey, UnreadableCounts] = field(default_factory=dict)

    def merge(self, other: ReadabilityState) -> ReadabilityState:
        """Return both states combined; their ranges must not overlap."""
        return ReadabilityState(
            self.coverage | other.coverage,
            _merge_values(self.counts, other.counts.items(), ReadCounts.merge),
            _merge_values(self.unreadable, other.unreadable.items(), UnreadableCounts.merge),
        )


def limit_readability(state: ReadabilityState) -> ReadabilityState:
    """Return the state with other ids and causes beyond the limits combined.

    Other ids beyond the limit count as id 0, causes beyond it under their schema id alone.
    """
    others: defaultdict[str, set[int]] = defaultdict(set)
    for key in state.counts:
        if key.outcome is ReadOutcome.OTHER_ID and key.schema_id:
            others[key.topic].add(key.schema_id)
    counted = {topic: frozenset(nsmallest(MAX_UNKNOWN_IDS, ids)) for topic, ids in others.items()}
    counts = _merge_values(
        {},
        (
            (key if _is_counted_by_id(key, counted) else replace(key, schema_id=0), count)
            for key, count in state.counts.items()
        ),
        ReadCounts.merge,
    )
    causes: defaultdict[tuple[str, int], set[UnreadableKey]] = defaultdict(set)
    for cause in state.unreadable:
        if cause != _without_cause(cause):
            causes[cause.topic, cause.schema_id].add(cause)
    lowest = frozenset(cause for group in causes.values() for cause in nsmallest(MAX_PATHS, group))
    unreadable = _merge_values(
        {},
        ((cause if cause in lowest else _without_cause(cause), count) for cause, count in state.unreadable.items()),
        UnreadableCounts.merge,
    )
    return ReadabilityState(state.coverage, counts, unreadable)


def _is_counted_by_id(key: ReadKey, counted: Mapping[str, frozenset[int]]) -> bool:
    return key.outcome is not ReadOutcome.OTHER_ID or key.schema_id in counted.get(key.topic, ())


OTHER_CAUSES: Final = "OTHER_CAUSES"


def _without_cause(key: UnreadableKey) -> UnreadableKey:
    return UnreadableKey(key.topic, key.schema_id, OTHER_CAUSES, "", "", "")


def _merge_values(left: Mapping[K, V], right: Iterable[tuple[K, V]], merge: Callable[[V, V], V]) -> dict[K, V]:
    united = dict(left)
    for key, value in right:
        united[key] = merge(united[key], value) if key in united else value
    return united
