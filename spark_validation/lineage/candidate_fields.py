"""Pairs of fields of different topics that share sampled values, by an inverted index of the values.

Only these pairs can prove an edge. Topics without such a pair are never compared, and the rows of topics that share the
values of one field only are not compared field by field, which keeps the inference fast for many unrelated topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledTopic

__all__ = ["Candidates", "FieldIndexes", "find_candidates", "share_two_fields"]

MIN_VALUES: Final = 3
MIN_CONTAINED: Final = 0.25  #: minimum share of the target's values that an anchor's source also has
MAX_ANCHORS: Final = 16  #: maximum number of field pairs tried per pair of topics

FieldIndexes = tuple[int, int]
"""Indexes of a source field and a target field that share values."""

Candidates = Mapping[tuple[str, str], Sequence[FieldIndexes]]
"""Pairs of fields by the names of source and target, those with the most shared occurrences first."""


def find_candidates(
    topics: Sequence[SampledTopic], read_shares: Mapping[str, float] = MappingProxyType({})
) -> dict[tuple[str, str], list[FieldIndexes]]:
    """Return the pairs of fields that share values, of each ordered pair of topics that has any.

    The cost is proportional to the number of pairs of fields that have a value in common, summed over all values.

    Args:
        topics: the topics to compare.
        read_shares: share of the records that were read, by topic, if that is less than all.
    """
    index = _ValueIndex(topics, [read_shares.get(topic.name, 1.0) for topic in topics])
    candidates = {}
    for number, target in enumerate(topics):
        for source, pairs in index.find_sources(number):
            candidates[topics[source].name, target.name] = pairs
    return candidates


def share_two_fields(pairs: Sequence[FieldIndexes]) -> bool:
    """Return whether two fields of a source share values with two of a target, each with another one.

    By one of them, rows can be aligned; the other one may prove that aligned rows belong together. If pairs were left
    out beyond the maximum, this is assumed.
    """
    sources, targets = {f for f, _ in pairs}, {g for _, g in pairs}
    return (len(sources) > 1 and len(targets) > 1) or len(pairs) >= MAX_ANCHORS


class _ValueIndex:
    """The fields that have each sampled value; fields are numbered through all topics."""

    def __init__(self, topics: Sequence[SampledTopic], read_shares: Sequence[float]) -> None:
        self._topics = topics
        fields = [field for topic in topics for field in topic.fields]
        sizes = [len(topic.fields) for topic in topics]
        self._firsts = np.cumsum([0, *sizes])
        self._topic_of_field = np.repeat(np.arange(len(topics)), sizes)
        self._min_contained = MIN_CONTAINED * np.repeat(np.array(read_shares, float), sizes)
        self._highest = np.array([field.highest for field in fields], np.uint64)
        lengths = np.array([len(field.distinct) for field in fields], np.int64)
        self._ends = np.cumsum(lengths)
        values = np.concatenate([field.distinct for field in fields]) if fields else np.empty(0, np.uint64)
        _, self._numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
        self._counts = counts.astype(np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        self._fields = np.repeat(np.arange(len(fields)), lengths)[np.argsort(self._numbers, kind="stable")]

    def find_sources(self, target: int) -> list[tuple[int, list[FieldIndexes]]]:
        """Return the topics that share values with a topic, and the pairs of fields that do."""
        matches = [self._match_field(target, g) for g in range(len(self._topics[target].fields))]
        f, occurrences = (np.concatenate(arrays) for arrays in zip(*matches, strict=True))
        g = np.repeat(np.arange(len(matches)), [len(fields) for fields, _ in matches])
        source = self._topic_of_field[f]
        order = np.lexsort((g, f, -occurrences, source))
        source, f, g = source[order], f[order] - self._firsts[source[order]], g[order]
        sources, starts = np.unique(source, return_index=True)
        ends = np.append(starts[1:], len(source))
        return [
            (number, list(zip(f[start:end].tolist(), g[start:end].tolist(), strict=True)))
            for number, start, end in zip(
                sources.tolist(), starts.tolist(), np.minimum(starts + MAX_ANCHORS, ends).tolist(), strict=True
            )
        ]

    def _match_field(self, target: int, g: int) -> tuple[Integers, Integers]:
        """Return the fields of other topics that share values with a target field, and the shared occurrences."""
        field, number = self._topics[target].fields[g], int(self._firsts[target]) + g
        end = int(self._ends[number])
        values = self._numbers[end - len(field.distinct) : end]
        counts = self._counts[values]
        offsets = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        fields = self._fields[np.repeat(self._starts[values], counts) + offsets]
        shared = np.bincount(fields, minlength=len(self._highest))
        shared[self._firsts[target] : self._firsts[target + 1]] = 0
        f = np.flatnonzero(shared >= MIN_VALUES)
        comparable = np.searchsorted(field.distinct, self._highest[f], side="right")
        f = f[shared[f] >= self._min_contained[f] * comparable]
        occurrences = np.bincount(fields, np.repeat(field.counts, counts), minlength=len(self._highest)).astype(
            np.int64
        )
        return f, occurrences[f]
