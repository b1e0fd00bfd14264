"""Statistics of a topic's records: sizes, keys, and the order of timestamps.

Everything here is a sum, a minimum or maximum, or a choice of the lowest, so the statistics of a range are the same
however the range was split:

- sizes of keys and values, in histograms with a bounded relative error;
- the keys with the lowest hashes, a uniform sample of the distinct keys: how often each occurs, and in which
  partitions;
- the records with the lowest hashes of their position, a uniform sample of the records with a key: which keys are
  frequent;
- runs of adjacent offsets, each with its first and last time, so that steps back in time are counted across ranges.

Keys are confidential: statistics have hashes and positions, but no keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from heapq import nsmallest
from typing import Final, NamedTuple

from contractlog.contracts.audit.field_profiles import MAX_DISTINCT_HASHES
from contractlog.contracts.audit.number_histograms import NumberHistogram

__all__ = [
    "MAX_SAMPLED_KEYS",
    "MAX_SAMPLED_RECORDS",
    "KeyCounts",
    "RecordStatistics",
    "SampledRecord",
    "SizeCounts",
    "TimestampRun",
]

MAX_SAMPLED_KEYS: Final = MAX_DISTINCT_HASHES
MAX_SAMPLED_RECORDS: Final = 1_024


class SampledRecord(NamedTuple):
    """A record of the sample of records with a key; tuple order is sampling order."""

    rank: int  #: unsigned 64-bit hash of partition and offset
    partition: int
    offset: int
    key_hash: int  #: unsigned 64-bit hash of the key without its frame


@dataclass(frozen=True, slots=True)
class KeyCounts:
    """Occurrences of a key: how many, and the first offset in each of its two lowest partitions."""

    records: int
    first: tuple[tuple[int, int], ...]  #: partition and offset, ascending

    def merge(self, other: KeyCounts) -> KeyCounts:
        """Return the counts of both together."""
        lowest: dict[int, int] = {}
        for partition, offset in (*self.first, *other.first):
            lowest[partition] = min(offset, lowest.get(partition, offset))
        return KeyCounts(self.records + other.records, tuple(sorted(lowest.items())[:2]))


class TimestampRun(NamedTuple):
    """Adjacent offsets of a partition, with the times of the first and the last record that has one."""

    partition: int
    from_offset: int
    to_offset: int  #: exclusive
    first: int | None  #: milliseconds since 1970, UTC; None if no record has a time
    last: int | None
    backward: int = 0  #: records that are earlier than the one before them
    largest_step: int = 0  #: of these, in milliseconds


@dataclass(frozen=True, slots=True)
class SizeCounts:
    """Sizes of the keys or values that are not null, in bytes, with their frames."""

    histogram: NumberHistogram = field(default_factory=NumberHistogram)
    total: int = 0
    largest: int = 0

    def merge(self, other: SizeCounts) -> SizeCounts:
        """Return the sizes of both together."""
        return SizeCounts(
            self.histogram.merge(other.histogram), self.total + other.total, max(self.largest, other.largest)
        )


@dataclass(frozen=True, slots=True)
class RecordStatistics:
    """Statistics of the records of a topic."""

    records: int = 0
    null_keys: int = 0
    sizes: Mapping[str, SizeCounts] = field(default_factory=dict)  #: by part
    keys: Mapping[int, KeyCounts] = field(default_factory=dict)  #: of the lowest hashes, by hash
    sample: tuple[SampledRecord, ...] = ()  #: ascending; the lowest ``MAX_SAMPLED_RECORDS``
    runs: tuple[TimestampRun, ...] = ()  #: ascending, none adjacent to the next

    def merge(self, other: RecordStatistics) -> RecordStatistics:
        """Return the statistics of the records of both, which have no record in common."""
        sizes = dict(self.sizes)
        for part, counts in other.sizes.items():
            sizes[part] = sizes[part].merge(counts) if part in sizes else counts
        keys = dict(self.keys)
        for key_hash, occurrences in other.keys.items():
            keys[key_hash] = keys[key_hash].merge(occurrences) if key_hash in keys else occurrences
        return RecordStatistics(
            self.records + other.records,
            self.null_keys + other.null_keys,
            sizes,
            {key_hash: keys[key_hash] for key_hash in nsmallest(MAX_SAMPLED_KEYS, keys)},
            tuple(nsmallest(MAX_SAMPLED_RECORDS, {*self.sample, *other.sample})),
            _join_runs((*self.runs, *other.runs)),
        )


def _join_runs(runs: Iterable[TimestampRun]) -> tuple[TimestampRun, ...]:
    joined: list[TimestampRun] = []
    for run in sorted(runs, key=lambda each: each[:3]):
        last = joined[-1] if joined else None
        if last is not None and (last.partition, last.to_offset) == (run.partition, run.from_offset):
            joined[-1] = _join(last, run)
        else:
            joined.append(run)
    return tuple(joined)


def _join(left: TimestampRun, right: TimestampRun) -> TimestampRun:
    step = 0 if left.last is None or right.first is None else max(left.last - right.first, 0)
    return TimestampRun(
        left.partition,
        left.from_offset,
        right.to_offset,
        right.first if left.first is None else left.first,
        left.last if right.last is None else right.last,
        left.backward + right.backward + (step > 0),
        max(left.largest_step, right.largest_step, step),
    )
