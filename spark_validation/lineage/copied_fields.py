"""Detection of fields that were copied from an earlier topic, row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.alignment import (
    MIN_AGREEMENT,
    Agreement,
    Alignment,
    RowPairs,
    align_rows,
    may_agree,
    measure_agreement,
    pool_alignments,
)
from contractlog.spark_validation.lineage.candidate_fields import FieldIndexes, share_two_fields
from contractlog.spark_validation.lineage.combined_alignment import CombinedFields, align_by_two_fields
from contractlog.spark_validation.lineage.sample_arrays import SampledField, SampledTopic

__all__ = ["CopiedField", "Copies", "TopicCopy", "find_copy", "find_proofs"]

MAX_PROOF_ROWS: Final = 256  #: number of pairs of rows that suffices for a proof
MIN_BEYOND_CHANCE: Final = 0.3  #: minimum difference to the agreement with neighbouring rows
MIN_ROWS: Final = 20
MIN_UNIQUE_ROWS: Final = 8  #: if the aligning field identifies the rows of both topics
MIN_FIELD_ROWS: Final = 6  #: minimum number of equal rows of each copied field
MIN_VALUES: Final = 3
MIN_DIFFERENT: Final = 12.0  #: minimum number of rows expected to differ by chance whose agreement proves as much
MAX_DIFFERENT: Final = 0.1  #: maximum share of these that differ
MIN_USED_ONCE: Final = 0.7
MIN_FOUND: Final = 0.2


@dataclass(frozen=True, slots=True)
class CopiedField:
    """A source field that was copied to a target field."""

    source: str
    score: float  #: share of aligned rows in which both are equal
    rows: RowPairs  #: such rows
    lag_ms: float  #: median


@dataclass(frozen=True, slots=True)
class TopicCopy:
    """Fields of a target that were copied from a source."""

    matched: float  #: share of target rows that have a counterpart in the source
    row_ratio: float  #: approximate number of target rows per source row
    rows: Alignment  #: target rows, each with the source row that it was copied from
    fields: dict[str, CopiedField]  #: by target field


Copies = Mapping[tuple[str, str], TopicCopy]
"""Copies by the names of source and target."""


def find_copy(combined: CombinedFields, target: SampledTopic, pairs: Sequence[FieldIndexes]) -> TopicCopy | None:
    """Return the fields of the target that were copied from the source, or None if there are none.

    Rows are aligned by a field that both topics have: each target row with the latest source row before it. This is a
    proof if other fields agree too, nearly always and far more often than in neighbouring rows, and if source rows are
    not used repeatedly, as those of a lookup table are. If no field gives a proof, rows are aligned by two fields
    together.

    Args:
        combined: the topic that rows may have been copied from.
        target: another topic.
        pairs: the candidate pairs of fields of both.
    """
    source = combined.source
    proven: list[tuple[float, Alignment, float]] = []
    several = share_two_fields(pairs)
    for anchor, target_field in pairs:
        unique = source.fields[anchor].identifies_rows and target.fields[target_field].identifies_rows
        if not several and not unique:
            continue
        fewest = MIN_UNIQUE_ROWS if unique else MIN_ROWS
        alignment = align_rows(source.fields[anchor], target.fields[target_field])
        if (
            len(alignment.targets) < fewest
            or alignment.once < MIN_USED_ONCE
            or alignment.matched < MIN_FOUND * combined.read_share
        ):
            continue
        if not may_agree(source, target, (anchor, target_field), alignment):
            continue
        agreement = measure_agreement(source, target, alignment.thin(MAX_PROOF_ROWS))
        proofs = find_proofs(source, target, (anchor, target_field), agreement, fewest, unique=unique)
        proof = float(agreement.share[proofs].sum())
        if proof:
            proven.append((proof, alignment, _kept_share(source.fields[anchor], target.fields[target_field])))
    if not proven:
        return _find_copy_by_two_fields(combined, target, pairs)
    proven.sort(key=lambda each: each[0], reverse=True)
    best = [alignment for proof, alignment, _ in proven if proof * 2 >= proven[0][0]]
    rows = pool_alignments(best)
    fields = _copied_fields(source, target, rows)
    matched = float(np.median([alignment.matched for alignment in best]))
    return TopicCopy(matched, min(row_ratio for _, _, row_ratio in proven), rows, fields) if fields else None


def _find_copy_by_two_fields(
    combined: CombinedFields, target: SampledTopic, pairs: Sequence[FieldIndexes]
) -> TopicCopy | None:
    source = combined.source
    fields: dict[str, CopiedField] = {}
    best: Alignment | None = None
    ratio = 1.0
    for first, _, alignment in align_by_two_fields(combined, target, pairs):
        fields = _copied_fields(source, target, alignment) | fields
        if best is None or alignment.matched > best.matched:
            best, ratio = alignment, _kept_share(source.fields[first[0]], target.fields[first[1]])
    return TopicCopy(best.matched, ratio, best, fields) if best is not None and fields else None


def find_proofs(
    source: SampledTopic,
    target: SampledTopic,
    anchor: tuple[int, int],
    agreement: Agreement,
    fewest: int = MIN_ROWS,
    *,
    unique: bool = False,
) -> npt.NDArray[np.bool_]:
    """Return which pairs of fields agree so often that the aligned rows must belong together.

    The anchoring fields themselves prove nothing, nor do fields that duplicate them in the same topic. If the anchor
    identifies rows, fields with a frequent and a rare value prove as much if the rare ones always agree.

    Args:
        source: the topic that rows may have been copied from.
        target: another topic.
        anchor: the fields that rows were aligned by.
        agreement: how often other fields agree.
        fewest: minimum number of rows.
        unique: whether the anchor identifies the rows of both topics.
    """
    strong = (
        (agreement.share >= MIN_AGREEMENT)
        & (agreement.share - agreement.control >= MIN_BEYOND_CHANCE)
        & (agreement.compared >= fewest)[None, :]
        & (agreement.values >= MIN_VALUES)
    )
    if unique:
        rows = agreement.compared[None, :]
        by_chance = rows * (1 - agreement.control)  # rows that would differ
        strong |= (
            (by_chance >= MIN_DIFFERENT)
            & (rows * (1 - agreement.share) <= MAX_DIFFERENT * by_chance)
            & (agreement.share >= MIN_AGREEMENT)
            & (agreement.values > 1)
        )
    if not strong.any():
        return strong
    strong[_find_same_fields(source, anchor[0]), :] = False
    strong[:, _find_same_fields(target, anchor[1])] = False
    return strong


def _find_same_fields(topic: SampledTopic, field: int) -> npt.NDArray[np.bool_]:
    """Return which fields of a topic have the same value as one of them in nearly every row."""
    if field not in topic.same_fields:
        present = topic.cells[topic.cells[:, field] != 0]
        equal = np.count_nonzero(present == present[:, [field]], axis=0)
        same = (equal >= MIN_AGREEMENT * len(present)) & (len(present) > 0)
        same[field] = True
        topic.same_fields[field] = same
    return topic.same_fields[field]


def _copied_fields(source: SampledTopic, target: SampledTopic, alignment: Alignment) -> dict[str, CopiedField]:
    agreement = measure_agreement(source, target, alignment, neighbours=False)
    lags = target.times[alignment.targets] - source.times[alignment.sources]
    fields = {}
    for g, target_field in enumerate(target.fields):
        f = max(range(len(source.fields)), key=lambda f: _likeness(source, target, agreement, f, g))
        share, beyond = agreement.share[f, g], agreement.share[f, g] - agreement.control[f, g]
        named_alike = _last_name(source.fields[f].name) == _last_name(target_field.name)
        if (
            share < MIN_AGREEMENT
            or agreement.equal[f, g] < MIN_FIELD_ROWS
            or not (named_alike or beyond >= MIN_BEYOND_CHANCE)
        ):
            continue
        cells = target.cells[alignment.targets, g]
        equal = np.flatnonzero((source.cells[alignment.sources, f] == cells) & (cells != 0))
        fields[target_field.name] = CopiedField(
            source.fields[f].name, round(float(share), 4), alignment.pick(equal), float(np.median(lags[equal]))
        )
    return fields


def _likeness(
    source: SampledTopic, target: SampledTopic, agreement: Agreement, f: int, g: int
) -> tuple[int, bool, bool, float]:
    """Return the sort key of a source field: agreement to one row in a hundred, then similar names."""
    source_name, target_name = source.fields[f].name, target.fields[g].name
    share = float(agreement.share[f, g])
    return round(share * 100), source_name == target_name, _last_name(source_name) == _last_name(target_name), share


def _last_name(field: str) -> str:
    return field.rpartition(".")[2]


def _kept_share(source: SampledField, target: SampledField) -> float:
    """Return target occurrences per source occurrence, over values that both samples contain completely."""
    indexes = np.minimum(np.searchsorted(target.distinct, source.distinct), len(target.distinct) - 1)
    shared = target.distinct[indexes] == source.distinct
    complete = source.whole & np.where(shared, target.whole[indexes], source.distinct <= np.uint64(target.highest))
    given = int(source.counts[complete].sum())
    return float(target.counts[indexes[complete & shared]].sum() / given) if given else 1.0
