"""Alignment of the rows of two topics by one field that both have, and the agreement of aligned rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledField, SampledTopic, find_values

Cells = npt.NDArray[np.uint32]

__all__ = [
    "MIN_AGREEMENT",
    "Agreement",
    "Alignment",
    "RowPairs",
    "align_rows",
    "may_agree",
    "measure_agreement",
    "pool_alignments",
]


MIN_AGREEMENT: Final = 0.95  #: minimum share of rows in which a copied field equals its source


MIN_CERTAIN_ROWS: Final = 20
FEW_ROWS: Final = 64  #: rows that show that no fields agree
MIN_FEW_AGREE: Final = 0.75  #: minimum share of these if fields agree in nearly all rows


@dataclass(frozen=True, slots=True)
class RowPairs:
    """Rows of a target, each with the source row that it was made from."""

    sources: Integers
    targets: Integers


@dataclass(frozen=True, slots=True)
class Alignment:
    """Target rows, each paired with the latest earlier source row that has the same anchor value."""

    sources: Integers  #: rows of the source
    targets: Integers  #: rows of the target
    controls: Integers  #: other rows of the source with the same value, next to the paired one; -1 if there is none
    matched: float  #: share of target rows with a counterpart, among those whose counterpart the sample would contain

    @property
    def once(self) -> float:
        """Distinct source rows per pair: 1 if no source row is paired with two target rows."""
        return len(np.unique(self.sources)) / len(self.sources) if len(self.sources) else 0.0

    def pick(self, chosen: Integers) -> RowPairs:
        """Return some of the pairs."""
        return RowPairs(self.sources[chosen], self.targets[chosen])

    def thin(self, maximum: int) -> Alignment:
        """Return at most ``maximum`` of the pairs, evenly spaced."""
        if len(self.targets) <= maximum:
            return self
        chosen = np.arange(maximum) * len(self.targets) // maximum
        return Alignment(self.sources[chosen], self.targets[chosen], self.controls[chosen], self.matched)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Shares of aligned rows in which a source field (first axis) equals a target field (second axis)."""

    share: npt.NDArray[np.float64]
    control: npt.NDArray[np.float64]  #: the same with other rows of the source instead of the aligned ones
    equal: Integers  #: number of pairs that agree
    compared: Integers  #: number of pairs in which the target field has a value, by target field
    values: Integers  #: number of distinct agreeing values if the share is at least ``MIN_AGREEMENT``, else 0


def align_rows(source: SampledField, target: SampledField) -> Alignment:
    """Return the pairs of rows with equal values in two fields.

    If only some occurrences of a value were sampled, they cover whole days, except perhaps the last one; counterparts
    are then searched on the same day only, and not after the last sampled occurrence.
    """
    indexes, shared = find_values(source, target)
    whole = shared & source.whole[indexes]
    ends, by_time = source.ends, source.timeline.order
    last = ends[indexes] - 1
    early = target.ranks < source.ranks[last]  # days sampled in full; the last one may not be
    at_last = (target.ranks == source.ranks[last]) & (target.times <= source.times[last])
    b = np.flatnonzero(whole | (shared & (early | at_last)))

    group = indexes[b]
    before = source.timeline.find_last(group, target.times[b])
    starts = ends - source.counts
    a = by_time[np.maximum(before, 0)]
    paired = (before >= starts[group]) & (whole[b] | (source.days[a] == target.days[b]))
    sure = (target.hashes < np.uint64(source.deepest)) & (~shared | whole | early)
    if np.count_nonzero(sure) < MIN_CERTAIN_ROWS:
        sure = whole | (shared & (early | at_last))
    matched = int(np.count_nonzero(sure[b[paired]])) / (int(np.count_nonzero(sure)) or 1)

    a, b, group, before = a[paired], b[paired], group[paired], before[paired]
    beside = np.where(before > starts[group], before - 1, before + 1)
    alone = source.counts[group] == 1
    controls = np.where(alone, -1, source.rows[by_time[np.minimum(beside, len(by_time) - 1)]])
    return Alignment(source.rows[a], target.rows[b], controls, float(matched))


def may_agree(source: SampledTopic, target: SampledTopic, anchor: tuple[int, int], alignment: Alignment) -> bool:
    """Return whether any fields but the aligning ones agree in a few aligned rows.

    If none do, nothing proves that aligned rows belong together. This rejects most alignments of unrelated topics at
    a small part of the cost of ``measure_agreement``.
    """
    few = alignment.thin(FEW_ROWS)
    target_cells = target.cells[few.targets]
    valued = target_cells != 0
    equal = (source.cells[few.sources][:, :, None] == target_cells[:, None, :]) & valued[:, None, :]
    possible = np.count_nonzero(equal, axis=0) >= np.maximum(MIN_FEW_AGREE * np.count_nonzero(valued, axis=0), 1)
    possible[anchor[0], :] = possible[:, anchor[1]] = False
    return bool(possible.any())


def measure_agreement(
    source: SampledTopic, target: SampledTopic, alignment: Alignment, *, neighbours: bool = True
) -> Agreement:
    """Return how often the fields of aligned rows agree, and how often they do with other rows.

    The other rows are neighbours of the aligned ones, in time and among the rows with the same value, or, if
    ``neighbours`` is false, any rows.
    """
    target_cells = target.cells[alignment.targets]
    source_cells = source.cells[alignment.sources]
    compared = np.count_nonzero(target_cells, axis=0)
    equal = _count_equal(source_cells, target_cells)
    share = equal / np.maximum(compared, 1)
    values = np.zeros(equal.shape, np.int64)
    for f, g in np.argwhere(share >= MIN_AGREEMENT):
        values[f, g] = np.count_nonzero(np.unique(target_cells[source_cells[:, f] == target_cells[:, g], g]))
    return Agreement(
        share, _control_share(source, alignment, target_cells, neighbours=neighbours), equal, compared, values
    )


def _control_share(
    source: SampledTopic, alignment: Alignment, target_cells: Cells, *, neighbours: bool
) -> npt.NDArray[np.float64]:
    if not neighbours:
        return _equal_share(source.cells[np.roll(alignment.sources, len(target_cells) // 2)], target_cells)
    control = _equal_share(source.cells[source.earlier[alignment.sources]], target_cells)
    paired = alignment.controls >= 0
    if np.count_nonzero(paired) * 2 >= len(paired):
        control = np.maximum(control, _equal_share(source.cells[alignment.controls[paired]], target_cells[paired]))
    return control


def _equal_share(source_cells: Cells, target_cells: Cells) -> npt.NDArray[np.float64]:
    return np.asarray(_count_equal(source_cells, target_cells) / np.maximum(np.count_nonzero(target_cells, axis=0), 1))


def _count_equal(source_cells: Cells, target_cells: Cells) -> Integers:
    """Count the rows in which a source field (first axis) equals a non-null target field (second axis)."""
    valued = target_cells != 0
    return np.stack([np.count_nonzero((column[:, None] == target_cells) & valued, axis=0) for column in source_cells.T])


def pool_alignments(alignments: list[Alignment]) -> Alignment:
    """Return the pairs of several alignments together; if they differ on a target row, the first one wins."""
    targets = np.concatenate([alignment.targets for alignment in alignments])
    unique_targets, firsts = np.unique(targets, return_index=True)
    sources = np.concatenate([alignment.sources for alignment in alignments])[firsts]
    controls = np.concatenate([alignment.controls for alignment in alignments])[firsts]
    return Alignment(sources, unique_targets, controls, max(alignment.matched for alignment in alignments))
