"""Statistics of the records of a range: sizes, keys, and steps back in time."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.contracts.audit.record_statistics import (
    MAX_SAMPLED_KEYS,
    MAX_SAMPLED_RECORDS,
    KeyCounts,
    RecordStatistics,
    SampledRecord,
    SizeCounts,
    TimestampRun,
)
from contractlog.contracts.audit.report import PARTS
from contractlog.spark_validation.columnar.arrow import gather_slices
from contractlog.spark_validation.columnar.frames import Guids, read_frames, read_schema_headers
from contractlog.spark_validation.profiles.field_profiler import make_histogram
from contractlog.spark_validation.profiles.value_hashes import hash_positions, hash_values
from contractlog.spark_validation.record_metadata.timestamps import NO_TIME
from contractlog.spark_validation.sources.records import OffsetRange

__all__ = ["RecordCounter"]

Numbers = NDArray[np.int64]


class RecordCounter:
    """Counts the records of a range, batch by batch in any order.

    It holds offset and time of every record, 16 bytes, until the end of the range.

    Args:
        offsets: the range.
        guids: schema ids by guid, for keys with a frame; None if keys have no frames.
    """

    def __init__(self, offsets: OffsetRange, guids: Guids | None) -> None:
        self._range = offsets
        self._guids = guids
        self._statistics = RecordStatistics()
        self._offsets: list[Numbers] = []
        self._times: list[Numbers] = []

    def add(self, batch: pa.RecordBatch, offsets: Numbers, times: Numbers) -> None:
        """Count the records of a batch.

        Args:
            batch: the records.
            offsets: their offsets.
            times: their timestamps in milliseconds, ``NO_TIME`` if there is none.
        """
        timed = times != NO_TIME
        self._offsets.append(offsets[timed])
        self._times.append(times[timed])
        keyed = np.flatnonzero(~np.asarray(batch.column("key").is_null()))
        hashes, positions = self._hash_keys(batch), offsets[keyed]
        self._statistics = self._statistics.merge(
            RecordStatistics(
                batch.num_rows,
                batch.num_rows - keyed.size,
                {part: _count_sizes(batch.column(part)) for part in PARTS},
                self._count_keys(hashes, positions),
                self._sample(hashes, positions),
            )
        )

    def result(self) -> RecordStatistics:
        """Return the statistics of the range."""
        return self._statistics.merge(RecordStatistics(runs=(self._find_run(),)))

    def _hash_keys(self, batch: pa.RecordBatch) -> NDArray[np.uint64]:
        """Return the hash of each key that is not null, without its frame."""
        keys = cast("pa.BinaryArray", batch.column("key"))
        content = keys.buffers()[2]
        if self._guids is None or content is None:
            return hash_values(keys.drop_null())
        frames = read_frames(keys, read_schema_headers(batch.column("headers"), "key"), self._guids)
        whole = np.asarray(pc.binary_length(keys).fill_null(0)).astype(np.int64)
        lengths = np.where(frames.framed, frames.ends - frames.starts, whole)[~frames.null]
        ends = frames.ends[~frames.null]
        return hash_values(gather_slices(content, ends - lengths, lengths))

    def _count_keys(self, hashes: NDArray[np.uint64], offsets: Numbers) -> dict[int, KeyCounts]:
        lowest, indexes, records = np.unique(hashes, return_inverse=True, return_counts=True)
        first = np.full(lowest.size, np.iinfo(np.int64).max)
        np.minimum.at(first, indexes, offsets)
        rows = zip(
            *(column[:MAX_SAMPLED_KEYS].tolist() for column in (lowest, records, first)),
            strict=True,
        )
        return {key: KeyCounts(number, ((self._range.partition, offset),)) for key, number, offset in rows}

    def _sample(self, hashes: NDArray[np.uint64], offsets: Numbers) -> tuple[SampledRecord, ...]:
        ranks = hash_positions(self._range.partition, offsets)
        rows = np.argsort(ranks, kind="stable")[:MAX_SAMPLED_RECORDS]
        columns = zip(*(column[rows].tolist() for column in (ranks, offsets, hashes)), strict=True)
        return tuple(SampledRecord(rank, self._range.partition, offset, key) for rank, offset, key in columns)

    def _find_run(self) -> TimestampRun:
        run = TimestampRun(self._range.partition, self._range.start, self._range.end, None, None)
        offsets = np.concatenate([np.zeros(0, np.int64), *self._offsets])
        if not offsets.size:
            return run
        times = np.concatenate(self._times)[np.argsort(offsets, kind="stable")]
        steps = times[:-1] - times[1:]
        backward = steps[steps > 0]
        return run._replace(
            first=int(times[0]),
            last=int(times[-1]),
            backward=int(backward.size),
            largest_step=int(backward.max()) if backward.size else 0,
        )


def _count_sizes(column: pa.Array[Any]) -> SizeCounts:
    lengths: Any = pc.binary_length(cast("Any", column.drop_null()))
    sizes, records = np.unique(np.asarray(lengths).astype(np.int64), return_counts=True)
    if not sizes.size:
        return SizeCounts()
    return SizeCounts(make_histogram(sizes.astype(np.float64), records), int(sizes @ records), int(sizes[-1]))
