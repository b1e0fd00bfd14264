"""What one pass over a range of offsets leaves behind, and how such states merge.

States form a commutative monoid: ``merge(audit(A), audit(B)) == audit(A | B)``, exactly. They are kept as tables, one
row per value below; ``spark_validation`` writes those tables as Parquet, with the members of each class as columns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import reduce
from heapq import nsmallest
from typing import Final, TypeVar

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.samples import FieldSample, merge_samples

__all__ = ["MAX_EXAMPLES", "AuditState", "Cell", "CellKey", "Coverage", "Example", "Violation", "ViolationKey", "merge"]

MAX_EXAMPLES: Final = 10

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True, order=True)
class Coverage:
    """A range of offsets that was read to its end, once."""

    topic: str
    partition: int
    from_offset: int
    to_offset: int  #: exclusive
    records: int  #: read in the range; the rest of it is absent from the log (compaction, transactions)


@dataclass(frozen=True, slots=True, order=True)
class CellKey:
    """What counts are kept by."""

    topic: str
    part: str  #: ``key`` or ``value``
    partition: int
    window: str  #: UTC day of the record's timestamp, ISO; empty when the record has none
    schema_id: int  #: 0 where the record carries none


@dataclass(frozen=True, slots=True)
class Cell:
    """Counts per outcome, and when the first and last such record was written (milliseconds since 1970, UTC)."""

    counts: dict[Outcome, int]
    first_seen: int
    last_seen: int

    def merged(self, other: Cell) -> Cell:
        """Return the cell of both together."""
        counts = dict(self.counts)
        for outcome, records in other.counts.items():
            counts[outcome] = counts.get(outcome, 0) + records
        return Cell(counts, min(self.first_seen, other.first_seen), max(self.last_seen, other.last_seen))


@dataclass(frozen=True, slots=True, order=True)
class Example:
    """Where a record can be looked at."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True, order=True)
class ViolationKey:
    """What violations are grouped by."""

    topic: str
    part: str
    outcome: Outcome
    schema_id: int  #: 0 where the record carries none
    path: str  #: JSON Pointer to the deepest failing node of the schema; empty for a record as a whole
    field: str  #: the value's path, as ``legs[].carrier``; empty for a record as a whole


@dataclass(frozen=True, slots=True)
class Violation:
    """How many records broke their contract in one way, when, and the lowest positions of such records."""

    records: int
    first_seen: int
    last_seen: int
    examples: tuple[Example, ...]  #: ascending; the lowest ``MAX_EXAMPLES``, so merging is exact
    detail: str = ""  #: for people; of the lowest example

    def merged(self, other: Violation) -> Violation:
        """Return the violation of both together."""
        lowest = min(self, other, key=lambda violation: violation.examples[:1])
        return Violation(
            self.records + other.records,
            min(self.first_seen, other.first_seen),
            max(self.last_seen, other.last_seen),
            tuple(nsmallest(MAX_EXAMPLES, {*self.examples, *other.examples})),
            lowest.detail,
        )


@dataclass(frozen=True, slots=True)
class AuditState:
    """Everything that a pass leaves behind."""

    coverage: frozenset[Coverage] = frozenset()
    cells: dict[CellKey, Cell] = field(default_factory=dict)
    violations: dict[ViolationKey, Violation] = field(default_factory=dict)
    samples: dict[tuple[str, str, str], FieldSample] = field(default_factory=dict)  #: by topic, part and field
    unsampled: frozenset[tuple[str, str, str]] = frozenset()  #: fields whose samples were left out, see ``bounds``

    def merged(self, other: AuditState) -> AuditState:
        """Return the state of both together; their ranges do not overlap."""
        return AuditState(
            self.coverage | other.coverage,
            _union(self.cells, other.cells, Cell.merged),
            _union(self.violations, other.violations, Violation.merged),
            _union(self.samples, other.samples, merge_samples),
            self.unsampled | other.unsampled,
        )

    def without(self, topics: Collection[str]) -> AuditState:
        """Return the state without some topics."""
        return AuditState(
            frozenset(one for one in self.coverage if one.topic not in topics),
            {key: cell for key, cell in self.cells.items() if key.topic not in topics},
            {key: violation for key, violation in self.violations.items() if key.topic not in topics},
            {key: sample for key, sample in self.samples.items() if key[0] not in topics},
            frozenset(key for key in self.unsampled if key[0] not in topics),
        )


def merge(states: Iterable[AuditState]) -> AuditState:
    """Return the state of all together."""
    return reduce(AuditState.merged, states, AuditState())


def _union(left: dict[K, V], right: dict[K, V], merged: Callable[[V, V], V]) -> dict[K, V]:
    united = dict(left)
    for key, value in right.items():
        united[key] = merged(united[key], value) if key in united else value
    return united
