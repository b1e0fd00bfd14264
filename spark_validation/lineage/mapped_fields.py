"""Detection of fields that are a function of one field of a source: masked or converted values.

Values are compared as hashes, so the function itself is unknown. The proof is that rows with equal source values have
equal target values, far more often than other rows, although the source values recur.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.alignment import RowPairs
from contractlog.spark_validation.lineage.copied_fields import TopicCopy
from contractlog.spark_validation.lineage.sample_arrays import SampledTopic

__all__ = ["MappedField", "find_mapped_fields"]

MIN_RECURRING: Final = 20  #: rows beyond the first of each source value
MIN_VALUES: Final = 3  #: distinct values of the target
MIN_AGREEMENT: Final = 0.98  #: share of recurring rows with the target value of the first
MAX_CHANCE: Final = 0.7  #: the same share with the target values of other rows
Hashes = npt.NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class MappedField:
    """A source field whose value determines that of a target field."""

    source: str
    reversible: bool  #: whether the target value determines that of the source, too
    score: float  #: share of recurring rows that agree
    support: int  #: number of recurring rows
    rows: RowPairs  #: the rows in which both have values


def find_mapped_fields(
    source: SampledTopic, target: SampledTopic, copy: TopicCopy, unexplained: AbstractSet[str]
) -> dict[str, MappedField]:
    """Return the source fields that determine unexplained target fields, by target field.

    Of several source fields, one that the target field determines, too, is preferred, then the one with fewest values.
    """
    rows = copy.rows
    mapped = {}
    for g, target_field in enumerate(target.fields):
        if target_field.name not in unexplained:
            continue
        values = target.cells[rows.targets, g]
        best: tuple[tuple[bool, float], MappedField] | None = None
        for f, source_field in enumerate(source.fields):
            present = (values != 0) & (source.cells[rows.sources, f] != 0)
            forward = _measure_dependency(source.cells[rows.sources, f][present], values[present])
            if forward is None:
                continue
            back = _measure_dependency(values[present], source.cells[rows.sources, f][present])
            score, support, distinct = forward
            field = MappedField(
                source_field.name, back is not None, round(score, 4), support, rows.pick(np.flatnonzero(present))
            )
            rank = field.reversible, -float(distinct)
            if best is None or rank > best[0]:
                best = rank, field
        if best is not None:
            mapped[target_field.name] = best[1]
    return mapped


def _measure_dependency(determinants: Hashes, values: Hashes) -> tuple[float, int, int] | None:
    """Return how often equal determinants have equal values, the number of rows, and of determinants.

    None: the values do not depend on the determinants, or there are too few rows to decide.
    """
    distinct, firsts, groups = np.unique(determinants, return_index=True, return_inverse=True)
    recurring = np.ones(len(groups), bool)
    recurring[firsts] = False
    support = int(np.count_nonzero(recurring))
    if support < MIN_RECURRING or len(np.unique(values)) < MIN_VALUES:
        return None
    score = float(np.mean((values == values[firsts][groups])[recurring]))
    others = np.roll(values, len(values) // 2)
    chance = float(np.mean((others == values[firsts][groups])[recurring]))
    return (score, support, len(distinct)) if score >= MIN_AGREEMENT and chance <= MAX_CHANCE else None
