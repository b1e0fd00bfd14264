"""Detection of fields that were copied from an earlier topic, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.alignment import AGREEING, Agreement, Alignment, align, compare, pooled
from contractlog.spark_validation.lineage.topics import Field, Integers, Topic

__all__ = ["Copied", "CopiedField", "candidates", "copied", "proofs", "same_field"]

TRIED: Final = 256  #: number of pairs of rows that suffices for a proof
BEYOND_CHANCE: Final = 0.3  #: minimum difference to the agreement with neighbouring rows
FEWEST_ROWS: Final = 20
FEWEST_VALUES: Final = 3
SERVED_ONCE: Final = 0.7
FOUND: Final = 0.2
CONTAINED: Final = 0.25  #: minimum share of the target's values that an anchor's source also has
MOST_ANCHORS: Final = 16  #: maximum number of field pairs tried per pair of topics


@dataclass(frozen=True, slots=True)
class CopiedField:
    """A source field that was copied to a target field."""

    source: str
    score: float  #: share of aligned rows in which both are equal
    support: int  #: number of such rows
    lag_ms: float  #: median


@dataclass(frozen=True, slots=True)
class Copied:
    """Fields of a target that were copied from a source."""

    found: float  #: share of target rows that have a counterpart in the source
    kept: float  #: approximate number of target rows per source row
    fields: dict[str, CopiedField]  #: by target field


def copied(source: Topic, target: Topic) -> Copied | None:
    """Return the fields of the target that were copied from the source, or None if there are none.

    Rows are aligned by a field that both topics have: each target row with the latest source row before it. This is a
    proof if other fields agree too, nearly always and far more often than in neighbouring rows, and if source rows are
    not used repeatedly, as those of a lookup table are.
    """
    proven: list[tuple[float, Alignment, float]] = []
    for anchor, made in candidates(source, target):
        alignment = align(source.fields[anchor], target.fields[made])
        if len(alignment.targets) < FEWEST_ROWS or alignment.once < SERVED_ONCE or alignment.found < FOUND:
            continue
        agreement = compare(source, target, alignment.thinned(TRIED))
        proof = float(agreement.share[proofs(source, target, (anchor, made), agreement)].sum())
        if proof:
            proven.append((proof, alignment, _kept(source.fields[anchor], target.fields[made])))
    if not proven:
        return None
    proven.sort(key=lambda each: each[0], reverse=True)
    best = [alignment for proof, alignment, _ in proven if proof * 2 >= proven[0][0]]
    fields = _fields(source, target, pooled(best))
    found = float(np.median([alignment.found for alignment in best]))
    return Copied(found, min(kept for _, _, kept in proven), fields) if fields else None


def candidates(source: Topic, target: Topic) -> list[tuple[int, int]]:
    """Return the pairs of fields that share values, those with the most shared occurrences first."""
    common = np.intersect1d(source.values, target.values, assume_unique=True)
    if len(common) < FEWEST_VALUES:
        return []
    given = np.stack([_counts(field, common) > 0 for field in source.fields]).astype(np.int64)
    held = np.stack([_counts(field, common) for field in target.fields])
    shared = given @ (held > 0).T
    highest = np.array([field.highest for field in source.fields], np.uint64)
    known = np.stack([np.searchsorted(field.distinct, highest, side="right") for field in target.fields], axis=1)
    pairs = np.argwhere((shared >= FEWEST_VALUES) & (shared >= CONTAINED * known))
    occurrences = (given @ held.T)[tuple(pairs.T)]
    return [(int(f), int(g)) for f, g in pairs[np.argsort(-occurrences, kind="stable")[:MOST_ANCHORS]]]


def _counts(field: Field, values: npt.NDArray[np.uint64]) -> Integers:
    """Return the number of sampled occurrences of each value in a field."""
    places = np.minimum(np.searchsorted(field.distinct, values), len(field.distinct) - 1)
    return np.where(field.distinct[places] == values, field.counts[places], 0)


def proofs(
    source: Topic, target: Topic, anchor: tuple[int, int], agreement: Agreement, fewest: int = FEWEST_ROWS
) -> npt.NDArray[np.bool_]:
    """Return which pairs of fields agree so often that the aligned rows must belong together.

    The anchoring fields themselves prove nothing, nor do fields that duplicate them in the same topic.
    """
    strong = (
        (agreement.share >= AGREEING)
        & (agreement.share - agreement.control >= BEYOND_CHANCE)
        & (agreement.compared >= fewest)[None, :]
        & (agreement.values >= FEWEST_VALUES)
    )
    if not strong.any():
        return strong
    strong[[same_field(source, anchor[0], f) for f in range(len(source.fields))], :] = False
    strong[:, [same_field(target, anchor[1], g) for g in range(len(target.fields))]] = False
    return strong


def same_field(topic: Topic, one: int, other: int) -> bool:
    """Return true if two fields of a topic have the same value in nearly every row."""
    if one == other:
        return True
    present = topic.cells[:, one] != 0
    equal = topic.cells[present, one] == topic.cells[present, other]
    return bool(equal.size and np.count_nonzero(equal) >= AGREEING * equal.size)


def _fields(source: Topic, target: Topic, alignment: Alignment) -> dict[str, CopiedField]:
    agreement = compare(source, target, alignment, neighbours=False)
    lags = target.times[alignment.targets] - source.times[alignment.sources]
    fields = {}
    for g, made in enumerate(target.fields):
        f = max(range(len(source.fields)), key=lambda f: _likeness(source, target, agreement, f, g))
        share, beyond = agreement.share[f, g], agreement.share[f, g] - agreement.control[f, g]
        named_alike = _last_name(source.fields[f].name) == _last_name(made.name)
        if share < AGREEING or agreement.equal[f, g] < FEWEST_ROWS / 2 or not (named_alike or beyond >= BEYOND_CHANCE):
            continue
        equal = source.cells[alignment.sources, f] == target.cells[alignment.targets, g]
        fields[made.name] = CopiedField(
            source.fields[f].name, round(float(share), 4), int(agreement.equal[f, g]), float(np.median(lags[equal]))
        )
    return fields


def _likeness(source: Topic, target: Topic, agreement: Agreement, f: int, g: int) -> tuple[int, bool, bool, float]:
    """Return the sort key of a source field: agreement to one row in a hundred, then similar names."""
    given, made = source.fields[f].name, target.fields[g].name
    share = float(agreement.share[f, g])
    return round(share * 100), given == made, _last_name(given) == _last_name(made), share


def _last_name(field: str) -> str:
    return field.rpartition(".")[2]


def _kept(source: Field, target: Field) -> float:
    """Return target occurrences per source occurrence, over values that both samples contain completely."""
    places = np.minimum(np.searchsorted(target.distinct, source.distinct), len(target.distinct) - 1)
    shared = target.distinct[places] == source.distinct
    known = source.whole & np.where(shared, target.whole[places], source.distinct <= np.uint64(target.highest))
    given = int(source.counts[known].sum())
    return float(target.counts[places[known & shared]].sum() / given) if given else 1.0
