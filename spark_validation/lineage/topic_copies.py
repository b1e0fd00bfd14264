"""Comparison of the rows of all topics: which were copied from which, and which are mirrors.

The clocks of topics are corrected first, and shares of rows are those of topics that were read as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.spark_validation.lineage.candidate_fields import Candidates
from contractlog.spark_validation.lineage.clock_skew import estimate_clock_offsets, move_times
from contractlog.spark_validation.lineage.combined_alignment import CombinedFields, RecordTimes
from contractlog.spark_validation.lineage.copied_fields import Copies, TopicCopy, find_copy
from contractlog.spark_validation.lineage.read_shares import chance_of_share, estimate_read_shares, scale_copy
from contractlog.spark_validation.lineage.sample_arrays import SampledTopic

__all__ = ["CLEAR_DIFFERENCE", "TopicComparison", "compare_topics"]

CLEAR_DIFFERENCE: Final = 0.1  #: a difference in shares of rows above this is significant
MAX_MIRROR_LOSS: Final = 0.01  #: maximum share of rows that one of two mirrors lacks


@dataclass(frozen=True, slots=True)
class TopicComparison:
    """Topics with corrected clocks, and the copies among them."""

    topics: list[SampledTopic]
    copies: Copies  #: with a definite direction, without those of mirrors
    originals: dict[str, str]  #: by mirror: the first topic by name that has the same rows at the same times
    mirrors: dict[str, TopicCopy]  #: by mirror: the copy of this topic
    read_shares: Mapping[str, float]  #: by topic: share of the records that were read


def compare_topics(
    topics: list[SampledTopic],
    candidates: Candidates,
    read_shares: Mapping[str, float],
    step: Callable[[], None],
) -> TopicComparison:
    """Compare the rows of all topics that share values.

    Args:
        topics: the topics.
        candidates: pairs of fields that share values.
        read_shares: share of each topic's records that were read, as its offsets show.
        step: called after each comparison of two topics.
    """
    pairs = _find_copies(topics, candidates, read_shares, step)
    offsets = estimate_clock_offsets({topic.name: topic for topic in topics}, pairs)
    if offsets:
        topics = [move_times(topic, offsets[topic.name]) if topic.name in offsets else topic for topic in topics]
        moved = {pair: fields for pair, fields in candidates.items() if not offsets.keys().isdisjoint(pair)}
        unmoved = {pair: copy for pair, copy in pairs.items() if pair not in moved}
        pairs = unmoved | _find_copies(topics, moved, read_shares, lambda: None)
    shares = estimate_read_shares(read_shares, pairs)
    pairs = {(a, b): scale_copy(copy, shares[a], shares[b]) for (a, b), copy in pairs.items()}
    originals = _find_mirrors(pairs, shares)
    mirrors = {mirror: pairs[original, mirror] for mirror, original in originals.items()}
    return TopicComparison(topics, _drop_ambiguous(pairs, originals), originals, mirrors, shares)


def _find_copies(
    topics: Sequence[SampledTopic],
    candidates: Candidates,
    read_shares: Mapping[str, float],
    step: Callable[[], None],
) -> dict[tuple[str, str], TopicCopy]:
    """Return the copies between topics, by source and target."""
    copies: dict[tuple[str, str], TopicCopy] = {}
    times = RecordTimes(topics)
    for a in topics:
        combined = CombinedFields(a, times, read_shares[a.name])
        for b in topics:
            if a is not b:
                shared = candidates.get((a.name, b.name))
                copy = find_copy(combined, b, shared) if shared else None
                if copy:
                    copies[a.name, b.name] = copy
                step()
    return copies


def _find_mirrors(pairs: Copies, read_shares: Mapping[str, float]) -> dict[str, str]:
    """Return, by topic, the first topic by name that has the same rows at the same times."""
    originals: dict[str, str] = {}
    for (a, b), copy in sorted(pairs.items(), key=lambda item: item[0]):
        if a < b and (b, a) in pairs:
            back = pairs[b, a]
            if _is_mirror(copy, read_shares[a], read_shares[b]) and _is_mirror(back, read_shares[b], read_shares[a]):
                originals.setdefault(b, a)
    return originals


def _is_mirror(copy: TopicCopy, source_share: float, target_share: float) -> bool:
    rows = len(copy.rows.targets)
    same_time = all(field.lag_ms == 0 for field in copy.fields.values())
    return (
        same_time
        and copy.matched > 1 - MAX_MIRROR_LOSS - chance_of_share(source_share, rows)
        and copy.row_ratio > 1 - MAX_MIRROR_LOSS - chance_of_share(target_share, rows)
    )


def _drop_ambiguous(pairs: Copies, originals: Mapping[str, str]) -> dict[tuple[str, str], TopicCopy]:
    """Return the copies with a definite direction, without those of mirrors.

    Two topics can each appear to be copied from the other if copied records retain their timestamps. Then only a
    direction in which nearly all target rows have a counterpart, and clearly more than in reverse, is retained: the
    subset was made from the whole. If both topics were made from a third that was not audited, each is sometimes
    earlier, so neither direction is retained.
    """
    return {
        (a, b): copy
        for (a, b), copy in pairs.items()
        if a not in originals
        and b not in originals
        and (
            (b, a) not in pairs
            or (copy.matched >= 1 - CLEAR_DIFFERENCE and copy.matched - pairs[b, a].matched > CLEAR_DIFFERENCE)
        )
    }
