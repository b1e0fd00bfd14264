"""Schema ids that records carry: a mergeable state, and the gaps of what was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from contractlog.contracts.audit.mergeable_state import AuditState, Coverage
from contractlog.contracts.audit.outcomes import NO_ID, Outcome

__all__ = ["IdKey", "IdUsage", "IdUse", "find_gaps", "find_id_usage", "subtract_coverage"]

UNIDENTIFIED: Final = 0  #: key of the records whose ids are not known, so that they may be any


@dataclass(frozen=True, slots=True, order=True)
class IdKey:
    """A schema id in one part of a topic."""

    topic: str
    part: str
    schema_id: int


@dataclass(frozen=True, slots=True)
class IdUse:
    """Number of records, with the first and last timestamp (milliseconds since 1970, UTC)."""

    records: int
    first_seen: int
    last_seen: int

    def merge(self, other: IdUse) -> IdUse:
        """Return the sum of both."""
        first, last = min(self.first_seen, other.first_seen), max(self.last_seen, other.last_seen)
        return IdUse(self.records + other.records, first, last)


@dataclass(frozen=True, slots=True)
class IdUsage:
    """The ids that the records of some ranges carry."""

    coverage: frozenset[Coverage] = frozenset()
    uses: Mapping[IdKey, IdUse] = field(default_factory=dict)
    unidentified: Mapping[IdKey, int] = field(default_factory=dict)  #: records that may carry any id, under id 0
    times: Mapping[str, tuple[int, int]] = field(default_factory=dict)  #: first and last timestamp of each topic

    def merge(self, other: IdUsage) -> IdUsage:
        """Return both combined; their ranges must not overlap."""
        uses = dict(self.uses)
        for key, use in other.uses.items():
            uses[key] = uses[key].merge(use) if key in uses else use
        unidentified = dict(self.unidentified)
        for key, records in other.unidentified.items():
            unidentified[key] = unidentified.get(key, 0) + records
        times = dict(self.times)
        for topic, (first, last) in other.times.items():
            before = times.get(topic, (first, last))
            times[topic] = (min(before[0], first), max(before[1], last))
        return IdUsage(self.coverage | other.coverage, uses, unidentified, times)


def find_id_usage(state: AuditState) -> IdUsage:
    """Return the ids that an audit has counted.

    Parts that are not audited have no ids; unknown ids beyond the limit, and unknown guids, are not counted by id.
    """
    uses: dict[IdKey, IdUse] = {}
    unidentified: dict[IdKey, int] = {}
    times: dict[str, tuple[int, int]] = {}
    for key, cell in state.cells.items():
        if cell.first_seen <= cell.last_seen:
            before = times.get(key.topic, (cell.first_seen, cell.last_seen))
            times[key.topic] = (min(before[0], cell.first_seen), max(before[1], cell.last_seen))
        for outcome, records in cell.counts.items():
            id_key = IdKey(key.topic, key.part, key.schema_id)
            if outcome is Outcome.UNAUDITED or (outcome is Outcome.UNKNOWN_SCHEMA_ID and not key.schema_id):
                id_key = IdKey(key.topic, key.part, UNIDENTIFIED)
                unidentified[id_key] = unidentified.get(id_key, 0) + records
            elif outcome not in NO_ID:
                use = IdUse(records, cell.first_seen, cell.last_seen)
                uses[id_key] = uses[id_key].merge(use) if id_key in uses else use
    return IdUsage(state.coverage, uses, unidentified, times)


def find_gaps(ranges: Iterable[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of ``start`` to ``end`` (exclusive) that no range contains.

    >>> list(find_gaps([(5, 9), (0, 3)], 0, 10))
    [(3, 5), (9, 10)]
    """
    position = start
    for first, last in sorted(ranges):
        if position >= end:
            return
        if first > position:
            yield position, min(first, end)
        position = max(position, last)
    if position < end:
        yield position, end


def subtract_coverage(
    coverage: Iterable[Coverage], logs: Mapping[tuple[str, int], tuple[int, int]]
) -> dict[tuple[str, int], list[tuple[int, int]]]:
    """Return the offsets of each log that were not read; logs without any are left out.

    Args:
        coverage: the ranges that were read.
        logs: first offset and end (exclusive) of each topic and partition.
    """
    ranges: dict[tuple[str, int], list[tuple[int, int]]] = {log: [] for log in logs}
    for each in coverage:
        if (each.topic, each.partition) in ranges:
            ranges[each.topic, each.partition].append((each.from_offset, each.to_offset))
    gaps = {log: list(find_gaps(ranges[log], *bounds)) for log, bounds in logs.items()}
    return {log: missing for log, missing in gaps.items() if missing}
