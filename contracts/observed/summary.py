"""From a state to what a report says of each topic's parts: counts that add up, verdicts, what to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.report import (
    BROKEN_BELOW,
    Part,
    PartitionCounts,
    SchemaUse,
    SeriesPoint,
    TopicPart,
    Verdict,
    ViolationLine,
)
from contractlog.contracts.observed.states import AuditState, Cell, CellKey, Coverage, Violation, ViolationKey

__all__ = ["PARTS", "Uses", "iso", "summarize"]

PARTS: Final[tuple[Part, ...]] = ("value", "key")

Uses = Mapping[tuple[str, str, int], tuple[str, int]]  #: (topic, part, schema id) -> (subject, version)
Notes = Mapping[tuple[str, str], Sequence[str]]
_NOTHING: Final[Notes] = MappingProxyType({})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def summarize(state: AuditState, uses: Uses, *, notes: Notes = _NOTHING) -> list[TopicPart]:
    """Return an entry for each part of each topic that was covered, sorted by topic, values before keys.

    Args:
        state: what the audit left behind.
        uses: which version of which subject an id is, for a part of a topic.
        notes: what was not looked at and why, by topic and part.
    """
    observed = _observed(state)
    return [
        _entry(topic, part, observed[topic, part], uses, notes.get((topic, part), ()))
        for topic in sorted({coverage.topic for coverage in state.coverage})
        for part in PARTS
    ]


def iso(milliseconds: int) -> str:
    """Write a time since 1970 as ISO 8601 in UTC; empty for what no clock of ours can show."""
    try:
        at = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")


@dataclass(slots=True)
class _Observed:
    """What a state holds of one part of one topic."""

    coverage: list[Coverage] = field(default_factory=list)
    cells: list[tuple[CellKey, Cell]] = field(default_factory=list)
    violations: list[tuple[ViolationKey, Violation]] = field(default_factory=list)


def _observed(state: AuditState) -> Mapping[tuple[str, str], _Observed]:
    observed: defaultdict[tuple[str, str], _Observed] = defaultdict(_Observed)
    for coverage in sorted(state.coverage):
        for part in PARTS:
            observed[coverage.topic, part].coverage.append(coverage)
    for key, cell in sorted(state.cells.items(), key=lambda item: item[0]):
        observed[key.topic, key.part].cells.append((key, cell))
    for violated, violation in state.violations.items():
        observed[violated.topic, violated.part].violations.append((violated, violation))
    return observed


def _entry(topic: str, part: Part, observed: _Observed, uses: Uses, notes: Sequence[str]) -> TopicPart:
    said = [*notes, *_gaps(observed.coverage)]
    total = _total(cell for _, cell in observed.cells)
    if total.unaudited:
        read = sum(coverage.records for coverage in observed.coverage)
        said.append(f"{total.unaudited:,} of {read:,} records were not held against anything.")
        observed = _unheld(observed)
        total = _total(cell for _, cell in observed.cells)
    elif not total.conforming + total.violating:
        said.append("There is nothing but nulls." if total.tombstones else "There are no records.")
    partitions = _partitions(observed)
    schemas = _schemas(topic, part, observed, uses)
    judged = total.conforming + total.violating
    conformance = total.conforming / judged if judged else None
    return {
        "topic": topic,
        "part": part,
        "verdict": _verdict(total, conformance, schemas),
        "conformance": conformance,
        "records": sum(partition["records"] for partition in partitions),
        "conforming": total.conforming,
        "violating": total.violating,
        "tombstones": total.tombstones,
        "absent": sum(partition["absent"] for partition in partitions),
        "partitions": partitions,
        "schemas": schemas,
        "violations": [_violation(key, violation) for key, violation in sorted(observed.violations, key=_by_weight)],
        "series": _series(observed),
        "fields": [],
        "notes": said,
    }


def _unheld(observed: _Observed) -> _Observed:
    """Count the records of a part as read and no more; its ranges stay, with what is a tombstone or absent there."""
    cells = [
        (replace(key, schema_id=0), Cell(_neither(cell), cell.first_seen, cell.last_seen))
        for key, cell in observed.cells
    ]
    return _Observed(observed.coverage, cells)


def _neither(cell: Cell) -> dict[Outcome, int]:
    tombstones = cell.counts.get(Outcome.TOMBSTONE, 0)
    return {Outcome.TOMBSTONE: tombstones, Outcome.UNAUDITED: sum(cell.counts.values()) - tombstones}


# --- counting


@dataclass(frozen=True, slots=True)
class _Total:
    conforming: int = 0
    violating: int = 0
    tombstones: int = 0
    unaudited: int = 0

    @property
    def records(self) -> int:
        return self.conforming + self.violating + self.tombstones + self.unaudited


def _total(cells: Iterable[Cell]) -> _Total:
    counts: defaultdict[Outcome, int] = defaultdict(int)
    for cell in cells:
        for outcome, records in cell.counts.items():
            counts[outcome] += records
    violating = sum(records for outcome, records in counts.items() if outcome.violating)
    return _Total(counts[Outcome.CONFORMS], violating, counts[Outcome.TOMBSTONE], counts[Outcome.UNAUDITED])


def _partitions(observed: _Observed) -> list[PartitionCounts]:
    by_partition: defaultdict[int, list[Cell]] = defaultdict(list)
    for key, cell in observed.cells:
        by_partition[key.partition].append(cell)
    ranges: defaultdict[int, list[Coverage]] = defaultdict(list)
    for coverage in observed.coverage:
        ranges[coverage.partition].append(coverage)
    return [_partition(number, covered, _total(by_partition[number])) for number, covered in ranges.items()]


def _partition(number: int, covered: Collection[Coverage], total: _Total) -> PartitionCounts:
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
        "absent": end - start - total.records,
    }


def _gaps(coverage: Sequence[Coverage]) -> list[str]:
    """Say which offsets between the ranges nobody read; they count as absent."""
    return [
        f"Offsets {left.to_offset} to {right.from_offset} of partition {left.partition} were not read."
        for left, right in pairwise(coverage)
        if left.partition == right.partition and left.to_offset < right.from_offset
    ]


# --- judging


def _verdict(total: _Total, conformance: float | None, schemas: Sequence[SchemaUse]) -> Verdict:
    if conformance is None:
        return "unknown"
    if not total.violating:
        return "keeps"
    newest: dict[str, SchemaUse] = {}
    for use in schemas:  # ascending by version
        if use["subject"] is not None:
            newest[use["subject"]] = use
    broken = conformance < BROKEN_BELOW or any(use["conforming"] < use["records"] for use in newest.values())
    return "broken" if broken else "degraded"


# --- telling


def _schemas(topic: str, part: Part, observed: _Observed, uses: Uses) -> list[SchemaUse]:
    by_id: defaultdict[int, list[Cell]] = defaultdict(list)
    for key, cell in observed.cells:
        if key.schema_id:
            by_id[key.schema_id].append(cell)
    found = [
        _schema(schema_id, uses.get((topic, part, schema_id), (None, None)), cells)
        for schema_id, cells in by_id.items()
    ]
    return sorted(
        found, key=lambda use: (use["subject"] is None, use["subject"] or "", use["version"] or 0, use["schema_id"])
    )


def _schema(schema_id: int, version: tuple[str | None, int | None], cells: Sequence[Cell]) -> SchemaUse:
    total = _total(cells)
    return {
        "schema_id": schema_id,
        "subject": version[0],
        "version": version[1],
        "records": total.records,
        "conforming": total.conforming,
        "first_seen": iso(min(cell.first_seen for cell in cells)),
        "last_seen": iso(max(cell.last_seen for cell in cells)),
    }


def _by_weight(item: tuple[ViolationKey, Violation]) -> tuple[int, ViolationKey]:
    return -item[1].records, item[0]


def _violation(key: ViolationKey, violation: Violation) -> ViolationLine:
    return {
        "code": key.outcome.name,
        "records": violation.records,
        "schema_id": key.schema_id or None,
        "path": key.path,
        "field": key.field,
        "detail": violation.detail,
        "first_seen": iso(violation.first_seen),
        "last_seen": iso(violation.last_seen),
        "examples": [
            {"partition": example.partition, "offset": example.offset} for example in sorted(violation.examples)
        ],
    }


def _series(observed: _Observed) -> list[SeriesPoint]:
    points: defaultdict[tuple[str, int], list[Cell]] = defaultdict(list)
    for key, cell in observed.cells:
        if key.window:
            points[key.window, key.schema_id].append(cell)
    totals = {point: _total(cells) for point, cells in sorted(points.items())}
    return [
        {"window": window, "schema_id": schema_id or None, "records": total.records, "violating": total.violating}
        for (window, schema_id), total in totals.items()
    ]
