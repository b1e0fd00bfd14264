"""Report entries made from a state: consistent counts, verdicts and notes for each part of a topic."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.part_counts import (
    PartState,
    RecordTotals,
    count_partitions,
    describe_gaps,
    mark_unaudited,
    split_by_part,
    sum_cells,
)
from contractlog.contracts.audit.report import (
    PARTS,
    THRESHOLD,
    AuditVerdict,
    Part,
    SchemaUse,
    SeriesPoint,
    StrategyUse,
    TopicPart,
    ViolationLine,
)
from contractlog.contracts.audit.state import AuditState, Cell, ViolationCounts, ViolationKey
from contractlog.contracts.audit.state_limits import describe_unsampled_fields

__all__ = ["VersionUse", "VersionUses", "format_timestamp", "newest_audited", "newest_in_use", "summarize"]


class VersionUse(NamedTuple):
    """The version that a schema id refers to."""

    subject: str
    version: int
    expected: bool = True  #: True if the topic's strategy allows the subject


VersionUses = Mapping[tuple[str, str, int], VersionUse]  #: keyed by topic, part and schema id
Notes = Mapping[tuple[str, str], Sequence[str]]
Strategies = Mapping[tuple[str, str], StrategyUse]
_NOTHING: Final[Notes] = MappingProxyType({})
_NO_STRATEGIES: Final[Strategies] = MappingProxyType({})
_NO_REASONS: Final[Mapping[int, str]] = MappingProxyType({})
_NAMED: Final = 10  #: maximum number of unusable schemas named per part
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def summarize(
    state: AuditState,
    uses: VersionUses,
    *,
    notes: Notes = _NOTHING,
    strategies: Strategies = _NO_STRATEGIES,
    unusable: Mapping[int, str] = _NO_REASONS,
    threshold: float = THRESHOLD,
) -> list[TopicPart]:
    """Return an entry for each part of each covered topic, sorted by topic, values before keys.

    Args:
        state: the state of the audit.
        uses: subject and version of each schema id, by topic and part.
        notes: sentences about what was not checked, and why, by topic and part.
        strategies: the subject name strategy of each part of a topic.
        unusable: the reason why validators cannot use a schema, by id, as a single line.
        threshold: conformance below it makes the verdict ``failing``.
    """
    observed = split_by_part(state)
    unsampled = describe_unsampled_fields(state)
    return [
        _entry(
            topic,
            part,
            observed[topic, part],
            uses,
            notes=[*notes.get((topic, part), ()), *unsampled.get((topic, part), ())],
            unusable=unusable,
            strategy=strategies.get((topic, part)),
            threshold=threshold,
        )
        for topic in sorted({coverage.topic for coverage in state.coverage})
        for part in PARTS
    ]


def format_timestamp(milliseconds: int) -> str:
    """Format milliseconds since 1970 as ISO 8601 in UTC; empty if out of range."""
    try:
        at = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")


def _entry(
    topic: str,
    part: Part,
    observed: PartState,
    uses: VersionUses,
    *,
    notes: Sequence[str],
    unusable: Mapping[int, str],
    strategy: StrategyUse | None,
    threshold: float,
) -> TopicPart:
    sentences = [*notes, *describe_gaps(observed.coverage)]
    total = sum_cells(cell for _, cell in observed.cells)
    if total.without_schema:
        read = sum(coverage.records for coverage in observed.coverage)
        sentences.append(f"{total.unaudited:,} of {read:,} records were not checked against any schema.")
        observed = mark_unaudited(observed)
        total = sum_cells(cell for _, cell in observed.cells)
    elif not total.judged + total.unusable:
        sentences.append("There is nothing but nulls." if total.tombstones else "There are no records.")
    partitions = count_partitions(observed)
    schemas = _schemas(topic, part, observed, uses)
    if total.unusable:
        sentences += _unusable_notes(observed, schemas, unusable)
    conformance = total.conforming / total.judged if total.judged else None
    missed = _missed_thresholds(conformance, schemas, threshold)
    return {
        "topic": topic,
        "part": part,
        "verdict": _verdict(total, conformance, missed),
        "threshold": threshold,
        "missed": missed,
        "conformance": conformance,
        "strategy": strategy,
        "records": sum(partition["records"] for partition in partitions),
        "conforming": total.conforming,
        "violating": total.violating,
        "tombstones": total.tombstones,
        "unaudited": total.unaudited,
        "absent": sum(partition["absent"] for partition in partitions),
        "partitions": partitions,
        "schemas": schemas,
        "violations": [_violation(key, violation) for key, violation in sorted(observed.violations, key=_by_weight)],
        "series": _series(observed),
        "fields": [],
        "notes": sentences,
    }


def _verdict(total: RecordTotals, conformance: float | None, missed: Sequence[str]) -> AuditVerdict:
    if conformance is None:
        return "unknown"
    if not total.violating:
        return "passing"
    return "failing" if missed else "degraded"


def _missed_thresholds(
    conformance: float | None, schemas: Sequence[SchemaUse], threshold: float
) -> list[Literal["all versions", "newest version"]]:
    """Return which conformance is below the threshold: of all versions, or of a newest version in use."""
    missed: list[Literal["all versions", "newest version"]] = []
    if conformance is not None and conformance < threshold:
        missed.append("all versions")
    if conformance is not None and any(
        use["conforming"] / (use["conforming"] + use["violating"]) < threshold for use in newest_audited(schemas)
    ):
        missed.append("newest version")
    return missed


def newest_in_use(schemas: Sequence[SchemaUse]) -> list[SchemaUse]:
    """Return the newest version in use of each subject that the part's strategy allows."""
    newest: dict[str, SchemaUse] = {}
    for use in schemas:
        subject = use["subject"]
        if (
            subject is not None
            and use["expected"]
            and (use["version"] or 0) >= (newest.get(subject, use)["version"] or 0)
        ):
            newest[subject] = use
    return list(newest.values())


def newest_audited(schemas: Sequence[SchemaUse]) -> list[SchemaUse]:
    """Return the newest version in use of each subject, among those with audited records."""
    return newest_in_use([use for use in schemas if use["conforming"] + use["violating"]])


def _unusable_notes(observed: PartState, schemas: Sequence[SchemaUse], reasons: Mapping[int, str]) -> Iterator[str]:
    """Yield notes on the schemas that validators cannot use: number of records, reason and remedy."""
    records: Counter[int] = Counter()
    for key, cell in observed.cells:
        records[key.schema_id] += cell.counts.get(Outcome.SCHEMA_NOT_USABLE, 0)
    versions = {use["schema_id"]: use for use in schemas if use["subject"]}
    unusable = sorted(schema_id for schema_id, number in records.items() if number)
    for schema_id in unusable[:_NAMED]:
        number, use = records[schema_id], versions.get(schema_id)
        named = f" (version {use['version']} of `{use['subject']}`)" if use else ""
        why = f": {reasons[schema_id]}" if schema_id in reasons else ""
        yield (
            f"{number:,} {'record carries' if number == 1 else 'records carry'} schema id {schema_id}{named}, which "
            f"validators cannot use{why}. Such records are not audited (`{Outcome.SCHEMA_NOT_USABLE.name}`): register "
            "a corrected version, and write with it."
        )
    if len(unusable) > _NAMED:
        yield f"The same holds for {len(unusable) - _NAMED:,} further schema ids."


def _schemas(topic: str, part: Part, observed: PartState, uses: VersionUses) -> list[SchemaUse]:
    by_id: defaultdict[int, list[Cell]] = defaultdict(list)
    for key, cell in observed.cells:
        if key.schema_id:
            by_id[key.schema_id].append(cell)
    schema_uses = [_schema(schema_id, uses.get((topic, part, schema_id)), cells) for schema_id, cells in by_id.items()]
    return sorted(
        schema_uses,
        key=lambda use: (
            use["subject"] is None,
            not use["expected"],
            use["subject"] or "",
            use["version"] or 0,
            use["schema_id"],
        ),
    )


def _schema(schema_id: int, use: VersionUse | None, cells: Sequence[Cell]) -> SchemaUse:
    total = sum_cells(cells)
    return {
        "schema_id": schema_id,
        "subject": None if use is None else use.subject,
        "version": None if use is None else use.version,
        "expected": use is not None and use.expected,
        "records": total.records,
        "conforming": total.conforming,
        "violating": total.violating,
        "first_seen": format_timestamp(min(cell.first_seen for cell in cells)),
        "last_seen": format_timestamp(max(cell.last_seen for cell in cells)),
    }


def _by_weight(item: tuple[ViolationKey, ViolationCounts]) -> tuple[int, ViolationKey]:
    return -item[1].records, item[0]


def _violation(key: ViolationKey, violation: ViolationCounts) -> ViolationLine:
    return {
        "code": key.outcome.name,
        "records": violation.records,
        "schema_id": key.schema_id or None,
        "path": key.path,
        "field": key.field,
        "detail": violation.detail,
        "first_seen": format_timestamp(violation.first_seen),
        "last_seen": format_timestamp(violation.last_seen),
        "examples": [
            {"partition": example.partition, "offset": example.offset} for example in sorted(violation.examples)
        ],
    }


def _series(observed: PartState) -> list[SeriesPoint]:
    points: defaultdict[tuple[str, int], list[Cell]] = defaultdict(list)
    for key, cell in observed.cells:
        if key.window:
            points[key.window, key.schema_id].append(cell)
    totals = {point: sum_cells(cells) for point, cells in sorted(points.items())}
    return [
        {"window": window, "schema_id": schema_id or None, "records": total.records, "violating": total.violating}
        for (window, schema_id), total in totals.items()
    ]
