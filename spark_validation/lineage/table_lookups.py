"""Detection of fields that were looked up in a table by its key."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np

from contractlog.spark_validation.lineage.alignment import Alignment, RowPairs, may_agree, measure_agreement
from contractlog.spark_validation.lineage.candidate_fields import FieldIndexes, share_two_fields
from contractlog.spark_validation.lineage.copied_fields import find_proofs
from contractlog.spark_validation.lineage.sample_arrays import SampledField, SampledTopic, find_values

__all__ = ["LookupField", "find_lookups"]

MAX_ROWS_PER_KEY: Final = 1.2  #: maximum number of rows per key in a table
MIN_REPEATS: Final = 1.5  #: minimum number of target rows per key
MIN_KEYS: Final = 8


@dataclass(frozen=True, slots=True)
class LookupField:
    """A table field whose values were looked up into a target field by the table's key."""

    source: str
    score: float  #: share of keys for which both are equal
    support: int  #: number of rows in which both are equal
    rows: RowPairs  #: rows of the target with those of the table


def find_lookups(
    table: SampledTopic, target: SampledTopic, pairs: Sequence[FieldIndexes], unexplained: AbstractSet[str]
) -> dict[str, LookupField]:
    """Return the table fields from which unexplained target fields were looked up, by target field.

    The proof is a dependency that both topics have: equal keys have equal values, far more often than other keys. The
    key itself is merely shared, which is no lineage.

    Args:
        table: the topic that fields may have been looked up in.
        target: another topic.
        pairs: the candidate pairs of fields of both.
        unexplained: the wanted fields of the target.
    """
    best: tuple[tuple[bool, bool, int, int], dict[str, LookupField]] | None = None
    for key, foreign in pairs if share_two_fields(pairs) else ():
        if not _is_key(table.fields[key], target.fields[foreign]):
            continue
        rows = _align_by_key(table.fields[key], target.fields[foreign])
        proven = _prove_fields(table, target, (key, foreign), rows)
        if proven:
            # Prefer the table's record key, then a target field explained by a copy, then the most frequent one.
            keyed = _key_share(table.fields[key], table.keys) > 0.5  # noqa: PLR2004 - more than half
            present = int(np.count_nonzero(target.cells[:, foreign]))
            rank = (keyed, target.fields[foreign].name not in unexplained, present, len(rows.targets))
            if best is None or rank > best[0]:
                best = rank, proven
    return {field: source for field, source in best[1].items() if field in unexplained} if best else {}


def _is_key(key: SampledField, foreign: SampledField) -> bool:
    """Return true if a field is nearly unique in its own topic, and repeated in the other."""
    deep = foreign.counts[foreign.distinct <= np.uint64(foreign.deepest)]  # others are sampled once
    return len(key.hashes) <= MAX_ROWS_PER_KEY * len(key.distinct) and float(np.mean(deep)) >= MIN_REPEATS


def _key_share(field: SampledField, keys: frozenset[int]) -> float:
    return sum(value in keys for value in field.distinct.tolist()) / len(field.distinct)


def _align_by_key(key: SampledField, foreign: SampledField) -> Alignment:
    """Pair every target row with the table's latest row of the same key, regardless of time."""
    indexes, shared = find_values(key, foreign)
    latest = key.rows[key.timeline.order[key.ends - 1]]
    sources, targets = latest[indexes[shared]], foreign.rows[shared]
    return Alignment(sources, targets, np.full(len(sources), -1), float(np.mean(shared)))


def _prove_fields(
    table: SampledTopic, target: SampledTopic, anchor: tuple[int, int], rows: Alignment
) -> dict[str, LookupField]:
    _, firsts = np.unique(rows.sources, return_index=True)
    if len(firsts) < MIN_KEYS:
        return {}
    by_key = Alignment(rows.sources[firsts], rows.targets[firsts], rows.controls[firsts], rows.matched)
    if not may_agree(table, target, anchor, by_key):
        return {}
    agreement = measure_agreement(table, target, by_key)
    strong = find_proofs(table, target, anchor, agreement, fewest=MIN_KEYS)
    if not strong.any():
        return {}
    everywhere = measure_agreement(table, target, rows)
    proven = {}
    for g in np.flatnonzero(strong.any(axis=0)).tolist():
        f = int(np.argmax(np.where(strong[:, g], agreement.share[:, g], -1)))
        score = round(float(agreement.share[f, g]), 4)
        cells = target.cells[rows.targets, g]
        equal = rows.pick(np.flatnonzero((table.cells[rows.sources, f] == cells) & (cells != 0)))
        proven[target.fields[g].name] = LookupField(table.fields[f].name, score, int(everywhere.equal[f, g]), equal)
    return proven
