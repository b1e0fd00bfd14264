"""How large a state may grow, whatever the records hold: ids, places and field names may come from hostile bytes.

What is kept are the lowest of each kind, so that it does not show how a range was cut:
``bounded(bounded(a).merged(bounded(b))) == bounded(a.merged(b))``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from heapq import nsmallest
from typing import Final

from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.states import AuditState, Cell, CellKey, Violation, ViolationKey

__all__ = ["MAX_FIELDS", "MAX_PLACES", "MAX_UNKNOWN_IDS", "bounded"]

MAX_UNKNOWN_IDS: Final = 100  #: of a part that are counted one by one; the others are counted as id 0
MAX_PLACES: Final = 100  #: of one outcome and id that are told apart; the others have no place
MAX_FIELDS: Final = 512  #: of a part that are sampled


def bounded(state: AuditState) -> AuditState:
    """Return the state with what is beyond the bounds counted together."""
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
    fields = _fields(state.samples)
    samples = {name: sample for name, sample in state.samples.items() if name[2] in fields[name[:2]]}
    return AuditState(state.coverage, cells, violations, samples)


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


def _fields(samples: Iterable[tuple[str, str, str]]) -> Mapping[tuple[str, str], frozenset[str]]:
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for topic, part, field in samples:
        found[topic, part].add(field)
    return {key: frozenset(nsmallest(MAX_FIELDS, fields)) for key, fields in found.items()}
