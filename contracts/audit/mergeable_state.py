"""Audit states: the result of reading offset ranges, the merge of results, and limits on their size.

States form a commutative monoid: ``merge(audit(A), audit(B)) == audit(A | B)``, exactly. They are stored as tables with
one row per value of the classes below; ``spark_validation`` writes these tables as Parquet, with the members of each
class as columns.

Ids, paths, producers and field names may come from hostile records, so only the lowest of each kind are retained. Times
may, too, so windows are merged into longer ones if there are many. The result does not depend on how a range was split:
``limit_state(limit_state(a).merge(limit_state(b))) == limit_state(a.merge(b))``.
Only the result of ``limit_samples`` may depend on it, which limits the memory for samples; omitted fields are named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from heapq import nsmallest
from typing import Final, TypeVar

from contractlog.contracts.audit.field_profiles import FieldProfile, FieldProfileKey, limit_profiles
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.producers import (
    ProducerCounts,
    ProducerKey,
    limit_producers,
    lowest_producers,
    pool_producers,
)
from contractlog.contracts.audit.record_origins import TopicOrigins
from contractlog.contracts.audit.record_statistics import RecordStatistics
from contractlog.contracts.audit.rule_counts import RuleCounts, RuleKey
from contractlog.contracts.audit.value_samples import FieldSample, merge_samples
from contractlog.contracts.audit.windows import find_window_lengths

__all__ = [
    "MAX_EXAMPLES",
    "MAX_FIELDS",
    "MAX_PATHS",
    "MAX_SAMPLED_VALUES",
    "MAX_UNKNOWN_IDS",
    "NO_TIMESTAMP",
    "AuditState",
    "Cell",
    "CellKey",
    "Coverage",
    "ViolationCounts",
    "ViolationExample",
    "ViolationKey",
    "describe_unsampled_fields",
    "limit_samples",
    "limit_state",
    "merge_states",
]

MAX_EXAMPLES: Final = 10
NO_TIMESTAMP: Final = 2**63 - 1  #: sorts after all times

K = TypeVar("K")
V = TypeVar("V")
MAX_UNKNOWN_IDS: Final = 100  #: unknown ids per part that are counted separately; the others count as id 0
MAX_PATHS: Final = 100  #: paths per outcome and id that are counted separately; the others count without path
MAX_FIELDS: Final = 64  #: sampled fields per part; every value includes its row, so the cost is quadratic
MAX_UNSAMPLED: Final = 1_000  #: fields per part that are named as omitted
_NAMED_FIELDS: Final = 3
MAX_SAMPLED_VALUES: Final = 4_000_000  #: of all topics together


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
    window: str  #: UTC hour of the record's timestamp, or a longer window; empty if the record has no timestamp
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
    """A violating record that serves as an example.

    Its values are masked unless the audit was to show them. Texts are empty, and numbers -1, if they are unknown:
    states of earlier releases have positions only.
    """

    partition: int
    offset: int
    timestamp: int = NO_TIMESTAMP  #: milliseconds since 1970, UTC
    producer: str = ""
    size: int = -1  #: bytes of the key or value
    failed_at: int = -1  #: byte of the body, which is the key or value without its frame
    key: str = ""  #: of examples of values
    headers: tuple[tuple[str, str], ...] = ()  #: names and values of the first headers
    decoded: str = ""  #: the body as far as it can be read
    excerpt: str = ""  #: bytes around the failure; only if values are shown


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
    producers: dict[str, int] = field(default_factory=dict)  #: records by producer, of those that name one
    first: ViolationExample | None = None  #: the first by time, then by position; None if unknown

    def merge(self, other: ViolationCounts) -> ViolationCounts:
        """Return the counts of both combined."""
        lowest = min(self, other, key=lambda violation: (not violation.examples, violation.examples[:1]))
        producers = dict(self.producers)
        for name, records in other.producers.items():
            producers[name] = producers.get(name, 0) + records
        return ViolationCounts(
            self.records + other.records,
            min(self.first_seen, other.first_seen),
            max(self.last_seen, other.last_seen),
            tuple(nsmallest(MAX_EXAMPLES, {*self.examples, *other.examples})),
            lowest.detail,
            producers,
            min(filter(None, (self.first, other.first)), key=lambda first: (first.timestamp, first), default=None),
        )


@dataclass(frozen=True, slots=True)
class AuditState:
    """The complete result of an audit pass."""

    coverage: frozenset[Coverage] = frozenset()
    cells: dict[CellKey, Cell] = field(default_factory=dict)
    violations: dict[ViolationKey, ViolationCounts] = field(default_factory=dict)
    samples: dict[tuple[str, str, str], FieldSample] = field(default_factory=dict)  #: keyed by topic, part and field
    unsampled: frozenset[tuple[str, str, str]] = (
        frozenset()
    )  #: fields whose samples were omitted, see ``limit_samples``
    producers: dict[ProducerKey, ProducerCounts] = field(default_factory=dict)
    profiles: dict[FieldProfileKey, FieldProfile] = field(default_factory=dict)
    statistics: dict[str, RecordStatistics] = field(default_factory=dict)  #: by topic
    origins: dict[str, TopicOrigins] = field(default_factory=dict)  #: by topic, of those whose headers have any
    rules: dict[RuleKey, RuleCounts] = field(default_factory=dict)

    def merge(self, other: AuditState) -> AuditState:
        """Return both states combined; their ranges must not overlap."""
        return AuditState(
            self.coverage | other.coverage,
            _merge_values(self.cells, other.cells, Cell.merge),
            _merge_values(self.violations, other.violations, ViolationCounts.merge),
            _merge_values(self.samples, other.samples, merge_samples),
            self.unsampled | other.unsampled,
            _merge_values(self.producers, other.producers, ProducerCounts.merge),
            _merge_values(self.profiles, other.profiles, FieldProfile.merge),
            _merge_values(self.statistics, other.statistics, RecordStatistics.merge),
            _merge_values(self.origins, other.origins, TopicOrigins.merge),
            _merge_values(self.rules, other.rules, RuleCounts.merge),
        )

    def without(self, topics: Collection[str]) -> AuditState:
        """Return the state without some topics."""
        return AuditState(
            frozenset(coverage for coverage in self.coverage if coverage.topic not in topics),
            {key: cell for key, cell in self.cells.items() if key.topic not in topics},
            {key: violation for key, violation in self.violations.items() if key.topic not in topics},
            {key: sample for key, sample in self.samples.items() if key[0] not in topics},
            frozenset(key for key in self.unsampled if key[0] not in topics),
            {key: counts for key, counts in self.producers.items() if key.topic not in topics},
            {key: profile for key, profile in self.profiles.items() if key[0] not in topics},
            {topic: statistics for topic, statistics in self.statistics.items() if topic not in topics},
            {topic: origins for topic, origins in self.origins.items() if topic not in topics},
            {key: counts for key, counts in self.rules.items() if key.topic not in topics},
        )


def merge_states(states: Iterable[AuditState]) -> AuditState:
    """Return all states combined."""
    return reduce(AuditState.merge, states, AuditState())


def _merge_values(left: dict[K, V], right: dict[K, V], merged: Callable[[V, V], V]) -> dict[K, V]:
    united = dict(left)
    for key, value in right.items():
        united[key] = merged(united[key], value) if key in united else value
    return united


def limit_state(state: AuditState) -> AuditState:
    """Return the state with everything beyond the limits combined."""
    unknown = _lowest_unknown_ids(state.violations)
    cells: dict[CellKey, Cell] = {}
    lengths = find_window_lengths((key.topic, key.part, key.partition, key.window) for key in state.cells)
    for key, cell in state.cells.items():
        counted = (
            key
            if _is_counted_by_id(unknown, key.topic, key.part, key.schema_id, cell.counts)
            else replace(key, schema_id=0)
        )
        if len(counted.window) > lengths.get((key.topic, key.part), 0):
            counted = replace(counted, window=counted.window[: lengths[key.topic, key.part]])
        cells[counted] = cells[counted].merge(cell) if counted in cells else cell
    renamed = {
        key: key
        if _is_counted_by_id(unknown, key.topic, key.part, key.schema_id, (key.outcome,))
        else replace(key, schema_id=0)
        for key in state.violations
    }
    paths = _counted_paths(renamed.values())
    violations: dict[ViolationKey, ViolationCounts] = {}
    producers = lowest_producers(state.producers)
    for line, violation in state.violations.items():
        named = renamed[line]
        if (named.path, named.field) not in paths[_without_path(named)]:
            named = _without_path(named)
        violations[named] = violations[named].merge(violation) if named in violations else violation
    for line, violation in violations.items():
        if violation.producers:
            pooled = pool_producers(violation.producers, producers.get((line.topic, line.part), frozenset()))
            violations[line] = replace(violation, producers=pooled)
    whole = state.samples.keys() - state.unsampled
    fields = _lowest_fields(whole, MAX_FIELDS)
    samples = {name: sample for name, sample in state.samples.items() if name in whole and name[2] in fields[name[:2]]}
    left_out = _lowest_fields(state.unsampled | (state.samples.keys() - samples.keys()), MAX_UNSAMPLED)
    unsampled = frozenset((*part_key, name) for part_key, names in left_out.items() for name in names)
    counted_producers = limit_producers(state.producers, producers)
    profiles = limit_profiles(state.profiles)
    return AuditState(
        state.coverage,
        cells,
        violations,
        samples,
        unsampled,
        counted_producers,
        profiles,
        state.statistics,
        state.origins,
        state.rules,
    )


def limit_samples(state: AuditState, maximum: int = MAX_SAMPLED_VALUES) -> AuditState:
    """Return the state with a limited number of sampled values.

    Fields are omitted from the part with the most values first, last name first.
    """
    sizes: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (topic, part, name), sample in state.samples.items():
        sizes[topic, part][name] = len(sample.values)
    totals = {part_key: sum(fields.values()) for part_key, fields in sizes.items()}
    excess = sum(totals.values()) - maximum
    if excess <= 0:
        return state
    left_out: set[tuple[str, str, str]] = set()
    while excess > 0:
        part_key = max(sorted(totals), key=totals.__getitem__)
        name = max(sizes[part_key])
        size = sizes[part_key].pop(name)
        totals[part_key] -= size
        excess -= size
        left_out.add((*part_key, name))
    samples = {key: sample for key, sample in state.samples.items() if key not in left_out}
    return replace(state, samples=samples, unsampled=state.unsampled | left_out)


def describe_unsampled_fields(state: AuditState) -> dict[tuple[str, str], list[str]]:
    """Return sentences about the fields without samples, by topic and part."""
    notes: dict[tuple[str, str], list[str]] = {}
    for (topic, part), names in _lowest_fields(state.unsampled, MAX_UNSAMPLED).items():
        sampled = sum(key[:2] == (topic, part) for key in state.samples)
        count = f"{len(names):,}" if len(names) < MAX_UNSAMPLED else f"at least {len(names):,}"
        first = ", ".join(f"`{name}`" for name in sorted(names)[:_NAMED_FIELDS])
        rest = ", …" if len(names) > _NAMED_FIELDS else ""
        left_out = f"left out of {count} to bound memory ({first}{rest})"
        notes[topic, part] = [
            f"Samples of values were kept of {sampled:,} fields and {left_out}; lineage does not see those."
        ]
    return notes


def _lowest_unknown_ids(violations: Iterable[ViolationKey]) -> Mapping[tuple[str, str], frozenset[int]]:
    by_part: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for key in violations:
        if key.outcome is Outcome.UNKNOWN_SCHEMA_ID and key.schema_id:
            by_part[key.topic, key.part].add(key.schema_id)
    return {part: frozenset(nsmallest(MAX_UNKNOWN_IDS, ids)) for part, ids in by_part.items()}


def _is_counted_by_id(
    unknown: Mapping[tuple[str, str], frozenset[int]],
    topic: str,
    part: str,
    schema_id: int,
    outcomes: Iterable[Outcome],
) -> bool:
    return Outcome.UNKNOWN_SCHEMA_ID not in outcomes or schema_id in unknown.get((topic, part), ())


def _without_path(key: ViolationKey) -> ViolationKey:
    return replace(key, path="", field="")


def _counted_paths(keys: Iterable[ViolationKey]) -> Mapping[ViolationKey, frozenset[tuple[str, str]]]:
    by_key: defaultdict[ViolationKey, set[tuple[str, str]]] = defaultdict(set)
    for key in keys:
        by_key[_without_path(key)].add((key.path, key.field))
    return {key: frozenset({("", ""), *nsmallest(MAX_PATHS, paths - {("", "")})}) for key, paths in by_key.items()}


def _lowest_fields(names: Iterable[tuple[str, str, str]], maximum: int) -> Mapping[tuple[str, str], frozenset[str]]:
    by_part: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for topic, part, name in names:
        by_part[topic, part].add(name)
    return {key: frozenset(nsmallest(maximum, fields)) for key, fields in by_part.items()}
