"""Limits on the size of a state, whose ids, paths and field names may come from hostile records.

The lowest of each kind are retained, so the result does not depend on how a range was split:
``limit_state(limit_state(a).merge(limit_state(b))) == limit_state(a.merge(b))``. Only the result of ``limit_samples``
may depend on it, which limits the memory for samples; omitted fields are named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import nsmallest
from typing import Final

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.state import AuditState, Cell, CellKey, ViolationCounts, ViolationKey

__all__ = [
    "MAX_FIELDS",
    "MAX_PATHS",
    "MAX_SAMPLED_VALUES",
    "MAX_UNKNOWN_IDS",
    "describe_unsampled_fields",
    "limit_samples",
    "limit_state",
]

MAX_UNKNOWN_IDS: Final = 100  #: unknown ids per part that are counted separately; the others count as id 0
MAX_PATHS: Final = 100  #: paths per outcome and id that are counted separately; the others count without path
MAX_FIELDS: Final = 64  #: sampled fields per part; every value includes its row, so the cost is quadratic
MAX_UNSAMPLED: Final = 1_000  #: fields per part that are named as omitted
_NAMED: Final = 3
MAX_SAMPLED_VALUES: Final = 4_000_000  #: of all topics together


def limit_state(state: AuditState) -> AuditState:
    """Return the state with everything beyond the limits combined."""
    unknown = _lowest_unknown_ids(state.violations)
    cells: dict[CellKey, Cell] = {}
    for key, cell in state.cells.items():
        counted = (
            key
            if _is_counted_by_id(unknown, key.topic, key.part, key.schema_id, cell.counts)
            else replace(key, schema_id=0)
        )
        cells[counted] = cells[counted].merge(cell) if counted in cells else cell
    renamed = {
        key: key
        if _is_counted_by_id(unknown, key.topic, key.part, key.schema_id, (key.outcome,))
        else replace(key, schema_id=0)
        for key in state.violations
    }
    places = _counted_paths(renamed.values())
    violations: dict[ViolationKey, ViolationCounts] = {}
    for line, violation in state.violations.items():
        named = renamed[line]
        if (named.path, named.field) not in places[_without_path(named)]:
            named = _without_path(named)
        violations[named] = violations[named].merge(violation) if named in violations else violation
    whole = state.samples.keys() - state.unsampled
    fields = _lowest_fields(whole, MAX_FIELDS)
    samples = {name: sample for name, sample in state.samples.items() if name in whole and name[2] in fields[name[:2]]}
    left_out = _lowest_fields(state.unsampled | (state.samples.keys() - samples.keys()), MAX_UNSAMPLED)
    unsampled = frozenset((*part_key, name) for part_key, names in left_out.items() for name in names)
    return AuditState(state.coverage, cells, violations, samples, unsampled)


def limit_samples(state: AuditState, most: int = MAX_SAMPLED_VALUES) -> AuditState:
    """Return the state with a limited number of sampled values.

    Fields are omitted from the part with the most values first, last name first.
    """
    sizes: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (topic, part, name), sample in state.samples.items():
        sizes[topic, part][name] = len(sample.values)
    totals = {part_key: sum(fields.values()) for part_key, fields in sizes.items()}
    excess = sum(totals.values()) - most
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
        first = ", ".join(f"`{name}`" for name in sorted(names)[:_NAMED])
        rest = ", …" if len(names) > _NAMED else ""
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
    return {key: frozenset({("", ""), *nsmallest(MAX_PATHS, places - {("", "")})}) for key, places in by_key.items()}


def _lowest_fields(names: Iterable[tuple[str, str, str]], most: int) -> Mapping[tuple[str, str], frozenset[str]]:
    by_part: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for topic, part, field in names:
        by_part[topic, part].add(field)
    return {key: frozenset(nsmallest(most, fields)) for key, fields in by_part.items()}
