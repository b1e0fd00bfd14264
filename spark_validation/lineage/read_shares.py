"""Shares of topics' records that were read, where others are missing.

Others are no longer in the log, or were not audited.

A copy whose source was read in part has rows without a counterpart, which prove nothing against the copy. Offsets that
are missing in the ranges that were read tell the share of each topic. Transactions use offsets, too, so a topic was
read at least as far as it has the rows of a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from contractlog.contracts.audit.mergeable_state import Coverage
from contractlog.spark_validation.lineage.copied_fields import Copies, TopicCopy

__all__ = ["chance_of_share", "estimate_read_shares", "measure_read_shares", "scale_copy"]

MIN_SHARE: Final = 0.05  #: of less, nothing can be said
WHOLE: Final = 0.999  #: share above which a topic was read as a whole
CERTAIN: Final = 3.0  #: standard deviations beyond chance


def measure_read_shares(coverage: Iterable[Coverage], topics: Iterable[str]) -> dict[str, float]:
    """Return records per offset of the ranges that were read, by topic; 1 for topics without ranges."""
    records = dict.fromkeys(topics, 0)
    offsets = dict.fromkeys(records, 0)
    for each in coverage:
        if each.topic in records:
            records[each.topic] += each.records
            offsets[each.topic] += each.to_offset - each.from_offset
    return {name: _limit_share(count / offsets[name]) if offsets[name] else 1.0 for name, count in records.items()}


def estimate_read_shares(measured: Mapping[str, float], copies: Copies) -> dict[str, float]:
    """Return the share of each topic's records that were read, given what copies have in common with it."""
    shares = dict(measured)
    for (source, _), copy in copies.items():
        shares[source] = _limit_share(max(shares[source], copy.matched))
    return shares


def scale_copy(copy: TopicCopy, source_share: float, target_share: float) -> TopicCopy:
    """Return a copy with the shares of rows as they would be if both topics had been read as a whole."""
    if source_share == target_share == 1:
        return copy
    matched = min(1.0, copy.matched / source_share)
    return replace(copy, matched=matched, row_ratio=copy.row_ratio / target_share)


def chance_of_share(share: float, rows: int) -> float:
    """Return by how much the scaled share of rows can be below 1 by chance."""
    return CERTAIN * float(np.sqrt((1 - share) / (share * max(rows, 1))))


def _limit_share(share: float) -> float:
    return 1.0 if share > WHOLE else max(MIN_SHARE, share)
