"""Limits on the size of a state, whose ids, paths and field names may come from hostile records.

The lowest of each kind are retained, so the result does not depend on how a range was split:
``bounded(bounded(a).merged(bounded(b))) == bounded(a.merged(b))``. Only the result of ``limit_samples`` may depend on
it, which limits the memory for samples; omitted fields are named.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import nsmallest
from typing import Final

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.states import AuditState, Cell, CellKey, Violation, ViolationKey

__all__ = [
    "MAX_FIELDS",
    "MAX_PLACES",
    "MAX_SAMPLED_VALUES",
    "MAX_UNKNOWN_IDS",
    "bounded",
    "limit_samples",
    "unsampled_notes",
]

MAX_UNKNOWN_IDS: Final = 100  #: unknown ids per part that are counted separately; the others count as id 0
MAX_PLACES: Final = 100  #: paths per outcome and id that are counted separately; the others count without path
MAX_FIELDS: Final = 64  #: sampled fields per part; every value includes its row, so the cost is quadratic
MAX_UNSAMPLED: Final = 1_000  #: fields per part that are named as omitted
_NAMED: Final = 3
MAX_SAMPLED_VALUES: Final = 4_000_000  #: of all topics together


def bounded(state: AuditState) -> AuditState:
    """Return the state with everything beyond the limits combined."""
    unknown = _unknown_ids(state.violations)
    cells: dict[CellKey, Cell] = {}
    for key, cell in state.cells.items():
        counted = (
            key if _is_kept(unknown, key.topic, key.part, key.schema_id, cell.counts) else replace(key, schema_id=0)
        )
        cells[counted] = cells[counted].merged(cell) if counted in cells else cell
    renamed = {
        key: key if _is_kept(unknown, key.topic, key.part, key.schema_id, (key.outcome,)) else replace(key, schema_id=0)
        for key in state.violations
    }
    places = _places(renamed.values())
    violations: dict[ViolationKey, Violation] = {}
    for line, violation in state.violations.items():
        named = renamed[line]
        if (named.path, named.field) not in places[_without_place(named)]:
            named = _without_place(named)
        violations[named] = violations[named].merged(violation) if named in violations else violation
    whole = state.samples.keys() - state.unsampled
    fields = _fields(whole, MAX_FIELDS)
    samples = {name: sample for name, sample in state.samples.items() if name in whole and name[2] in fields[name[:2]]}
    left_out = _fields(state.unsampled | (state.samples.keys() - samples.keys()), MAX_UNSAMPLED)
    unsampled = frozenset((*place, name) for place, names in left_out.items() for name in names)
    return AuditState(state.coverage, cells, violations, samples, unsampled)


def limit_samples(state: AuditState, most: int = MAX_SAMPLED_VALUES) -> AuditState:
    """Return the state with a limited number of sampled values.

    Fields are omitted from the part with the most values first, last name first.
    """
    sizes: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for (topic, part, name), sample in state.samples.items():
        sizes[topic, part][name] = len(sample.values)
    totals = {place: sum(fields.values()) for place, fields in sizes.items()}
    excess = sum(totals.values()) - most
    if excess <= 0:
        return state
    left_out: set[tuple[str, str, str]] = set()
    while excess > 0:
        place = max(sorted(totals), key=totals.__getitem__)
        name = max(sizes[place])
        size = sizes[place].pop(name)
        totals[place] -= size
        excess -= size
        left_out.add((*place, name))
    samples = {key: sample for key, sample in state.samples.items() if key not in left_out}
    return replace(state, samples=samples, unsampled=state.unsampled | left_out)


def unsampled_notes(state: AuditState) -> dict[tuple[str, str], list[str]]:
    """Return sentences about the fields without samples, by topic and part."""
    notes: dict[tuple[str, str], list[str]] = {}
    for (topic, part), names in _fields(state.unsampled, MAX_UNSAMPLED).items():
        kept = sum(key[:2] == (topic, part) for key in state.samples)
        count = f"{len(names):,}" if len(names) < MAX_UNSAMPLED else f"at least {len(names):,}"
        first = ", ".join(f"`{name}`" for name in sorted(names)[:_NAMED])
        rest = ", …" if len(names) > _NAMED else ""
        left_out = f"left out of {count} to bound memory ({first}{rest})"
        notes[topic, part] = [
            f"Samples of values were kept of {kept:,} fields and {left_out}; lineage does not see those."
        ]
    return notes


def _unknown_ids(violations: Iterable[ViolationKey]) -> Mapping[tuple[str, str], frozenset[int]]:
    found: defaultdict[tuple[str, str], set[int]] = defaultdict(set)
    for key in violations:
        if key.outcome is Outcome.UNKNOWN_SCHEMA_ID and key.schema_id:
            found[key.topic, key.part].add(key.schema_id)
    return {part: frozenset(nsmallest(MAX_UNKNOWN_IDS, ids)) for part, ids in found.items()}


def _is_kept(
    unknown: Mapping[tuple[str, str], frozenset[int]],
    topic: str,
    part: str,
    schema_id: int,
    outcomes: Iterable[Outcome],
) -> bool:
    return Outcome.UNKNOWN_SCHEMA_ID not in outcomes or schema_id in unknown.get((topic, part), ())


def _without_place(key: ViolationKey) -> ViolationKey:
    return replace(key, path="", field="")


def _places(keys: Iterable[ViolationKey]) -> Mapping[ViolationKey, frozenset[tuple[str, str]]]:
    found: defaultdict[ViolationKey, set[tuple[str, str]]] = defaultdict(set)
    for key in keys:
        found[_without_place(key)].add((key.path, key.field))
    return {key: frozenset({("", ""), *nsmallest(MAX_PLACES, places - {("", "")})}) for key, places in found.items()}


def _fields(names: Iterable[tuple[str, str, str]], most: int) -> Mapping[tuple[str, str], frozenset[str]]:
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for topic, part, field in names:
        found[topic, part].add(field)
    return {key: frozenset(nsmallest(most, fields)) for key, fields in found.items()}
