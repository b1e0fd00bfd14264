"""Record counts per part of each topic, in which every offset is accounted for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import PARTS, PartitionCounts
from contractlog.contracts.audit.state import AuditState, Cell, CellKey, Coverage, ViolationCounts, ViolationKey

__all__ = [
    "PartState",
    "RecordTotals",
    "count_partitions",
    "describe_gaps",
    "mark_unaudited",
    "split_by_part",
    "sum_cells",
]


@dataclass(slots=True)
class PartState:
    """The contents of a state for one part of one topic."""

    coverage: list[Coverage] = field(default_factory=list)
    cells: list[tuple[CellKey, Cell]] = field(default_factory=list)
    violations: list[tuple[ViolationKey, ViolationCounts]] = field(default_factory=list)


def split_by_part(state: AuditState) -> Mapping[tuple[str, str], PartState]:
    """Return the contents of a state by topic and part, for all parts that it covers."""
    observed: defaultdict[tuple[str, str], PartState] = defaultdict(PartState)
    for coverage in sorted(state.coverage):
        for part in PARTS:
            observed[coverage.topic, part].coverage.append(coverage)
    for key, cell in sorted(state.cells.items(), key=lambda item: item[0]):
        observed[key.topic, key.part].cells.append((key, cell))
    for violated, violation in state.violations.items():
        observed[violated.topic, violated.part].violations.append((violated, violation))
    return observed


def mark_unaudited(observed: PartState) -> PartState:
    """Return a part with its records counted as read but not audited; tombstones and absent offsets stay."""
    cells = [
        (replace(key, schema_id=0), Cell(_unaudited_counts(cell), cell.first_seen, cell.last_seen))
        for key, cell in observed.cells
    ]
    return PartState(observed.coverage, cells)


def _unaudited_counts(cell: Cell) -> dict[Outcome, int]:
    tombstones = cell.counts.get(Outcome.TOMBSTONE, 0)
    return {Outcome.TOMBSTONE: tombstones, Outcome.UNAUDITED: sum(cell.counts.values()) - tombstones}


@dataclass(frozen=True, slots=True)
class RecordTotals:
    """Record counts by result."""

    conforming: int = 0
    violating: int = 0
    tombstones: int = 0
    without_schema: int = 0  #: records of a part without a schema
    unusable: int = 0  #: records whose schema validators cannot use

    @property
    def judged(self) -> int:
        """Number of audited records, the base of conformance."""
        return self.conforming + self.violating

    @property
    def unaudited(self) -> int:
        """Number of records that could not be checked."""
        return self.without_schema + self.unusable

    @property
    def records(self) -> int:
        """Number of all records."""
        return self.judged + self.tombstones + self.unaudited


def sum_cells(cells: Iterable[Cell]) -> RecordTotals:
    """Return the sum of some cells."""
    counts: defaultdict[Outcome, int] = defaultdict(int)
    for cell in cells:
        for outcome, records in cell.counts.items():
            counts[outcome] += records
    violating = sum(records for outcome, records in counts.items() if outcome.violating)
    return RecordTotals(
        counts[Outcome.CONFORMS],
        violating,
        counts[Outcome.TOMBSTONE],
        counts[Outcome.UNAUDITED],
        counts[Outcome.SCHEMA_NOT_USABLE],
    )


def count_partitions(observed: PartState) -> list[PartitionCounts]:
    """Return the counts of each partition."""
    by_partition: defaultdict[int, list[Cell]] = defaultdict(list)
    for key, cell in observed.cells:
        by_partition[key.partition].append(cell)
    ranges: defaultdict[int, list[Coverage]] = defaultdict(list)
    for coverage in observed.coverage:
        ranges[coverage.partition].append(coverage)
    return [_count_partition(number, covered, sum_cells(by_partition[number])) for number, covered in ranges.items()]


def _count_partition(number: int, covered: Collection[Coverage], total: RecordTotals) -> PartitionCounts:
    start = min(coverage.from_offset for coverage in covered)
    end = max(coverage.to_offset for coverage in covered)
    return {
        "partition": number,
        "from_offset": start,
        "to_offset": end,
        "records": total.records,
        "conforming": total.conforming,
        "violating": total.violating,
        "tombstones": total.tombstones,
        "unaudited": total.unaudited,
        "absent": end - start - total.records,
    }


def describe_gaps(coverage: Sequence[Coverage]) -> list[str]:
    """Return sentences about unread offsets between the ranges, which count as absent."""
    return [
        f"Offsets {left.to_offset} to {right.from_offset} of partition {left.partition} were not read."
        for left, right in pairwise(coverage)
        if left.partition == right.partition and left.to_offset < right.from_offset
    ]
