"""Report entries made from a state: consistent counts, verdicts and notes for each part of a topic.

Every offset is accounted for: conforming + violating + tombstones + unaudited + absent = the range.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from contractlog.compatibility.name_lists import list_first
from contractlog.contracts.audit.field_drift import SHIFT, FieldDrift
from contractlog.contracts.audit.field_entries import list_fields
from contractlog.contracts.audit.field_profiles import FieldProfile, FieldProfileKey
from contractlog.contracts.audit.mergeable_state import (
    AuditState,
    Cell,
    CellKey,
    Coverage,
    ViolationCounts,
    ViolationKey,
    describe_unsampled_fields,
)
from contractlog.contracts.audit.outcomes import Outcome, OutcomeGroup
from contractlog.contracts.audit.producers import ProducerCounts, ProducerKey
from contractlog.contracts.audit.record_entries import (
    describe_key_statistics,
    describe_size_statistics,
    describe_time_order,
)
from contractlog.contracts.audit.record_statistics import RecordStatistics
from contractlog.contracts.audit.report import (
    PARTS,
    THRESHOLD,
    AuditVerdict,
    Part,
    PartitionCounts,
    SchemaUse,
    SeriesPoint,
    StrategyUse,
    TopicPart,
)
from contractlog.contracts.audit.rule_counts import (
    RuleCounts,
    RuleDescription,
    RuleKey,
    describe_unevaluated,
    list_rules,
)
from contractlog.contracts.audit.time_text import format_timestamp
from contractlog.contracts.audit.violation_entries import list_producers, list_violations

__all__ = [
    "PartState",
    "RecordTotals",
    "VersionUse",
    "VersionUses",
    "count_partitions",
    "describe_gaps",
    "mark_unaudited",
    "newest_audited",
    "newest_in_use",
    "split_by_part",
    "sum_cells",
    "summarize",
]

Notes = Mapping[tuple[str, str], Sequence[str]]
Strategies = Mapping[tuple[str, str], StrategyUse]
Drifts = Mapping[FieldProfileKey, FieldDrift]
_NOTHING: Final[Notes] = MappingProxyType({})
_NO_STRATEGIES: Final[Strategies] = MappingProxyType({})
_NO_DRIFTS: Final[Drifts] = MappingProxyType({})
_NO_REASONS: Final[Mapping[int, str]] = MappingProxyType({})
Rules = Mapping[int, Sequence[RuleDescription]]
_NO_RULES: Final[Rules] = MappingProxyType({})
_NAMED: Final = 10  #: maximum number of unusable schemas named per part


class VersionUse(NamedTuple):
    """The version that a schema id refers to."""

    subject: str
    version: int
    expected: bool = True  #: True if the topic's strategy allows the subject


VersionUses = Mapping[tuple[str, str, int], VersionUse]  #: keyed by topic, part and schema id


def summarize(
    state: AuditState,
    uses: VersionUses,
    *,
    notes: Notes = _NOTHING,
    strategies: Strategies = _NO_STRATEGIES,
    unusable: Mapping[int, str] = _NO_REASONS,
    threshold: float = THRESHOLD,
    drifts: Drifts = _NO_DRIFTS,
    rules: Rules = _NO_RULES,
) -> list[TopicPart]:
    """Return an entry for each part of each covered topic, sorted by topic, values before keys.

    Args:
        state: the state of the audit.
        uses: subject and version of each schema id, by topic and part.
        notes: sentences about what was not checked, and why, by topic and part.
        strategies: the subject name strategy of each part of a topic.
        unusable: the reason why validators cannot use a schema, by id, as a single line.
        threshold: conformance below it makes the verdict ``failing``.
        drifts: drift of the values that were read last, by topic, part and field.
        rules: the rules of schemas, by id.
    """
    observed = split_by_part(state)
    drifts_by_part: defaultdict[tuple[str, str], dict[str, FieldDrift]] = defaultdict(dict)
    for (topic, part, name), drift in drifts.items():
        drifts_by_part[topic, part][name] = drift
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
            drifts=drifts_by_part[topic, part],
            rules=rules,
        )
        for topic in sorted({coverage.topic for coverage in state.coverage})
        for part in PARTS
    ]


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
    drifts: Mapping[str, FieldDrift],
    rules: Rules,
) -> TopicPart:
    sentences = [*notes, *describe_gaps(observed.coverage), *_describe_shifts(drifts)]
    total = sum_cells(cell for _, cell in observed.cells)
    if total.without_schema:
        read = sum(coverage.records for coverage in observed.coverage)
        sentences.append(f"{total.unaudited:,} of {read:,} records were not checked against any schema.")
        observed = mark_unaudited(observed)
        total = sum_cells(cell for _, cell in observed.cells)
    elif not total.audited + total.unusable:
        sentences.append("All records are tombstones." if total.tombstones else "There are no records.")
    partitions = count_partitions(observed)
    schemas = _schemas(topic, part, observed, uses)
    if total.unusable:
        sentences += _unusable_notes(observed, schemas, unusable)
    conformance = total.conforming / total.audited if total.audited else None
    missed = _missed_thresholds(conformance, schemas, threshold)
    entry: TopicPart = {
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
        "violations": list_violations(observed.violations, producers_named=bool(observed.producers)),
        "producers": list_producers(observed.producers, total.records, total.violating),
        "series": _series(observed),
        "fields": list_fields(observed.profiles, total.conforming, drifts),
        "notes": sentences,
    }
    used = {use["schema_id"]: rules[use["schema_id"]] for use in schemas if use["schema_id"] in rules}
    if used:
        entry["rules"] = list_rules(used, observed.rules)
        sentences += describe_unevaluated(entry["rules"])
    if observed.statistics.records == entry["records"]:  # else a state of an earlier release lacks some
        _add_statistics(entry, observed.statistics)
    return entry


def _describe_shifts(drifts: Mapping[str, FieldDrift]) -> list[str]:
    """Return a sentence on the fields whose new values are surely distributed otherwise than those before."""
    shifted = {name: drift.index for name, drift in drifts.items() if drift.lowest > SHIFT}
    if not shifted:
        return []
    farthest = sorted(shifted, key=lambda name: (-shifted[name], name))
    named = list_first([f"`{name}` ({shifted[name]:.2f})" for name in farthest], _NAMED)
    return [f"The distribution of new values has shifted (population stability index): {named}."]


def _add_statistics(entry: TopicPart, statistics: RecordStatistics) -> None:
    entry["sizes"] = describe_size_statistics(statistics, entry["part"])
    if entry["part"] == "value":
        entry["time_order"] = describe_time_order(statistics)
    else:
        entry["keys"] = describe_key_statistics(statistics)


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
    """Yield notes on records that are not audited: of unusable schemas, and with encrypted bodies."""
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
    encrypted = sum(cell.counts.get(Outcome.ENCRYPTED, 0) for _, cell in observed.cells)
    if encrypted:
        code = Outcome.ENCRYPTED.name
        yield f"The bodies of {encrypted:,} records are encrypted, so they are not audited (`{code}`)."


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


@dataclass(slots=True)
class PartState:
    """The contents of a state for one part of one topic."""

    coverage: list[Coverage] = field(default_factory=list)
    cells: list[tuple[CellKey, Cell]] = field(default_factory=list)
    violations: list[tuple[ViolationKey, ViolationCounts]] = field(default_factory=list)
    producers: list[tuple[ProducerKey, ProducerCounts]] = field(default_factory=list)
    profiles: list[tuple[str, FieldProfile]] = field(default_factory=list)
    statistics: RecordStatistics = field(default_factory=RecordStatistics)  #: of the topic
    rules: list[tuple[RuleKey, RuleCounts]] = field(default_factory=list)


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
    for producer, records in sorted(state.producers.items(), key=lambda item: item[0]):
        observed[producer.topic, producer.part].producers.append((producer, records))
    for (topic, part_name, field_name), profile in state.profiles.items():
        observed[topic, part_name].profiles.append((field_name, profile))
    for rule, counts in state.rules.items():
        observed[rule.topic, rule.part].rules.append((rule, counts))
    for topic, statistics in state.statistics.items():
        for part in PARTS:
            observed[topic, part].statistics = statistics
    return observed


def mark_unaudited(observed: PartState) -> PartState:
    """Return a part with its records counted as read but not audited; tombstones and absent offsets stay."""
    cells = [
        (replace(key, schema_id=0), Cell(_unaudited_counts(cell), cell.first_seen, cell.last_seen))
        for key, cell in observed.cells
    ]
    producers = [(key, replace(counts, violating=0)) for key, counts in observed.producers]
    return PartState(observed.coverage, cells, producers=producers, statistics=observed.statistics)


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
    unusable: int = 0  #: records whose schema validators cannot use, or whose body is encrypted

    @property
    def audited(self) -> int:
        """Number of audited records, the base of conformance."""
        return self.conforming + self.violating

    @property
    def unaudited(self) -> int:
        """Number of records that could not be checked."""
        return self.without_schema + self.unusable

    @property
    def records(self) -> int:
        """Number of all records."""
        return self.audited + self.tombstones + self.unaudited


def sum_cells(cells: Iterable[Cell]) -> RecordTotals:
    """Return the sum of some cells."""
    counts: defaultdict[Outcome, int] = defaultdict(int)
    for cell in cells:
        for outcome, records in cell.counts.items():
            counts[outcome] += records
    groups = dict.fromkeys(OutcomeGroup, 0)
    for outcome, records in counts.items():
        groups[outcome.group] += records
    without_schema = counts[Outcome.UNAUDITED]
    return RecordTotals(
        groups[OutcomeGroup.CONFORMING],
        groups[OutcomeGroup.VIOLATING],
        groups[OutcomeGroup.TOMBSTONES],
        without_schema,
        groups[OutcomeGroup.UNAUDITED] - without_schema,
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
