"""Audit states: the result of reading ranges of offsets, and the merge of such results.

States form a commutative monoid: ``merge(audit(A), audit(B)) == audit(A | B)``, exactly. They are stored as tables with
one row per value of the classes below; ``spark_validation`` writes these tables as Parquet, with the members of each
class as columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import reduce
from heapq import nsmallest
from typing import Final, TypeVar

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.samples import FieldSample, merge_samples

__all__ = [
    "MAX_EXAMPLES",
    "AuditState",
    "Cell",
    "CellKey",
    "Coverage",
    "ViolationCounts",
    "ViolationExample",
    "ViolationKey",
    "merge_states",
]

MAX_EXAMPLES: Final = 10

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, order=True)
class Coverage:
    """A range of offsets that was read completely, and once."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int  #: exclusive
    records: int  #: records read in the range; the other offsets are absent from the log (compaction, transactions)


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """Key by which records are counted."""

    topic: str
    part: str  #: ``key`` or ``value``
    partition: int
    window: str  #: UTC day of the record's timestamp, ISO; empty if the record has no timestamp
    schema_id: int  #: 0 if the record carries no id


@dataclass(frozen=True, slots=True)
class Cell:
    """Record counts per outcome, with the first and last timestamp (milliseconds since 1970, UTC)."""

    counts: dict[Outcome, int]
    first_seen: int
    last_seen: int

    def merge(self, other: Cell) -> Cell:
        """Return the sum of both cells."""
        counts = dict(self.counts)
        for outcome, records in other.counts.items():
            counts[outcome] = counts.get(outcome, 0) + records
        return Cell(counts, min(self.first_seen, other.first_seen), max(self.last_seen, other.last_seen))


@dataclass(frozen=True, slots=True, order=True)
class ViolationExample:
    """Position of a record that serves as an example."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True, order=True)
class ViolationKey:
    """Key by which violations are grouped."""

    topic: str
    part: str
    outcome: Outcome
    schema_id: int  #: 0 if the record carries no id
    path: str  #: JSON Pointer to the deepest failing node of the schema; empty for the record as a whole
    field: str  #: path of the value, as ``legs[].carrier``; empty for the record as a whole


@dataclass(frozen=True, slots=True)
class ViolationCounts:
    """Records that broke their contract in the same way: their count, time range and lowest positions."""

    records: int
    first_seen: int
    last_seen: int
    examples: tuple[ViolationExample, ...]  #: ascending; the lowest ``MAX_EXAMPLES``, which makes merging exact
    detail: str = ""  #: for people; taken from the lowest example

    def merge(self, other: ViolationCounts) -> ViolationCounts:
        """Return the counts of both combined."""
        lowest = min(self, other, key=lambda violation: violation.examples[:1])
        return ViolationCounts(
            self.records + other.records,
            min(self.first_seen, other.first_seen),
            max(self.last_seen, other.last_seen),
            tuple(nsmallest(MAX_EXAMPLES, {*self.examples, *other.examples})),
            lowest.detail,
        )


@dataclass(frozen=True, slots=True)
class AuditState:
    """The complete result of an audit pass."""

    coverage: frozenset[Coverage] = frozenset()
    cells: dict[CellKey, Cell] = field(default_factory=dict)
    violations: dict[ViolationKey, ViolationCounts] = field(default_factory=dict)
    samples: dict[tuple[str, str, str], FieldSample] = field(default_factory=dict)  #: keyed by topic, part and field
    unsampled: frozenset[tuple[str, str, str]] = frozenset()  #: fields whose samples were omitted, see ``bounds``

    def merge(self, other: AuditState) -> AuditState:
        """Return both states combined; their ranges must not overlap."""
        return AuditState(
            self.coverage | other.coverage,
            _merge_values(self.cells, other.cells, Cell.merge),
            _merge_values(self.violations, other.violations, ViolationCounts.merge),
            _merge_values(self.samples, other.samples, merge_samples),
            self.unsampled | other.unsampled,
        )

    def without(self, topics: Collection[str]) -> AuditState:
        """Return the state without some topics."""
        return AuditState(
            frozenset(coverage for coverage in self.coverage if coverage.topic not in topics),
            {key: cell for key, cell in self.cells.items() if key.topic not in topics},
            {key: violation for key, violation in self.violations.items() if key.topic not in topics},
            {key: sample for key, sample in self.samples.items() if key[0] not in topics},
            frozenset(key for key in self.unsampled if key[0] not in topics),
        )


def merge_states(states: Iterable[AuditState]) -> AuditState:
    """Return all states combined."""
    return reduce(AuditState.merge, states, AuditState())


def _merge_values(left: dict[K, V], right: dict[K, V], merged: Callable[[V, V], V]) -> dict[K, V]:
    united = dict(left)
    for key, value in right.items():
        united[key] = merged(united[key], value) if key in united else value
    return united
