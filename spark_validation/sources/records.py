"""Data model of all sources: offset ranges, and records in the columns of Spark's Kafka source."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

__all__ = ["RECORDS", "RECORDS_DDL", "SPAN", "TIMES", "OffsetRange", "count_offsets", "split_ranges", "subtract_ranges"]

_COLUMNS: Final[list[tuple[str, pa.DataType]]] = [
    ("key", pa.binary()),
    ("value", pa.binary()),
    ("topic", pa.string()),
    ("partition", pa.int32()),
    ("offset", pa.int64()),
    ("timestamp", pa.timestamp("us", "UTC")),
    ("timestampType", pa.int32()),  # -1 none, 0 set by the producer, 1 by the broker
    ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
]
RECORDS: Final = pa.schema(_COLUMNS)
RECORDS_DDL: Final = (
    "key binary, value binary, topic string, partition int, offset long, timestamp timestamp, timestampType int, "
    "headers array<struct<key string, value binary>>"
)
TIMES: Final = range(
    -62_135_596_800_000, 253_402_300_800_000
)  #: milliseconds of the years 1 to 9999; others are invalid
SPAN: Final = 200_000  #: default number of offsets per task


@dataclass(frozen=True, slots=True, order=True)
class OffsetRange:
    """Offsets of one partition: the unit of planning, retry and merge."""

    topic: str
    partition: int
    start: int
    end: int  #: exclusive

    def __len__(self) -> int:
        return min(self.end - self.start, sys.maxsize)

    @property
    def key(self) -> tuple[str, int]:
        """Topic and partition."""
        return self.topic, self.partition


def count_offsets(ranges: Iterable[OffsetRange]) -> int:
    """Return the number of offsets in ranges, which may be more than ``len`` can return."""
    return sum(offsets.end - offsets.start for offsets in ranges)


def split_ranges(ranges: Iterable[OffsetRange], span: int = SPAN) -> Iterator[OffsetRange]:
    """Split ranges into parts of at most ``span`` offsets; an empty range is returned as it is."""
    for whole in ranges:
        yield from (
            OffsetRange(whole.topic, whole.partition, start, min(start + span, whole.end))
            for start in range(whole.start, max(whole.end, whole.start + 1), span)
        )


def subtract_ranges(ranges: Iterable[OffsetRange], covered: Sequence[OffsetRange]) -> list[OffsetRange]:
    """Return the parts of ranges that are not covered, in order."""
    by_key: dict[tuple[str, int], list[OffsetRange]] = {}
    for offsets in sorted(covered):
        by_key.setdefault(offsets.key, []).append(offsets)
    missing = []
    for offsets in ranges:
        start = offsets.start
        for part in by_key.get(offsets.key, ()):
            if part.start >= offsets.end:
                break
            if start < part.start:
                missing.append(OffsetRange(*offsets.key, start, part.start))
            start = max(start, min(part.end, offsets.end))
        if start < offsets.end:
            missing.append(OffsetRange(*offsets.key, start, offsets.end))
    return missing
