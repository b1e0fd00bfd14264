"""From a state to what a report says of each topic's parts: counts that add up, verdicts, what to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final

from contractlog.contracts.observed.counting import (
    Observed,
    Total,
    gaps,
    observe,
    partition_counts,
    total_of,
    unheld,
)
from contractlog.contracts.observed.report import (
    BROKEN_BELOW,
    PARTS,
    Part,
    SchemaUse,
    SeriesPoint,
    TopicPart,
    Verdict,
    ViolationLine,
)
from contractlog.contracts.observed.states import AuditState, Cell, Violation, ViolationKey

__all__ = ["Uses", "iso", "summarize"]

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
    observed = observe(state)
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


def _entry(topic: str, part: Part, observed: Observed, uses: Uses, notes: Sequence[str]) -> TopicPart:
    said = [*notes, *gaps(observed.coverage)]
    total = total_of(cell for _, cell in observed.cells)
    if total.unaudited:
        read = sum(coverage.records for coverage in observed.coverage)
        said.append(f"{total.unaudited:,} of {read:,} records were not held against anything.")
        observed = unheld(observed)
        total = total_of(cell for _, cell in observed.cells)
    elif not total.conforming + total.violating:
        said.append("There is nothing but nulls." if total.tombstones else "There are no records.")
    partitions = partition_counts(observed)
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


def _verdict(total: Total, conformance: float | None, schemas: Sequence[SchemaUse]) -> Verdict:
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


def _schemas(topic: str, part: Part, observed: Observed, uses: Uses) -> list[SchemaUse]:
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
    total = total_of(cells)
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


def _series(observed: Observed) -> list[SeriesPoint]:
    points: defaultdict[tuple[str, int], list[Cell]] = defaultdict(list)
    for key, cell in observed.cells:
        if key.window:
            points[key.window, key.schema_id].append(cell)
    totals = {point: total_of(cells) for point, cells in sorted(points.items())}
    return [
        {"window": window, "schema_id": schema_id or None, "records": total.records, "violating": total.violating}
        for (window, schema_id), total in totals.items()
    ]
