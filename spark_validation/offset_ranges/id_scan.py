"""Scan of a range for the schema ids that its records carry, without Spark; bodies are not decoded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np
import pyarrow as pa

from contractlog.contracts.audit.id_usage import IdKey, IdUsage, IdUse
from contractlog.contracts.audit.mergeable_state import Coverage
from contractlog.contracts.audit.report import PARTS, Part
from contractlog.spark_validation.columnar.frames import read_frames, read_schema_headers
from contractlog.spark_validation.expectations.audit_expectations import GuidIds
from contractlog.spark_validation.record_metadata.timestamps import NO_RECORDS, find_time_range, to_milliseconds
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RangeSource

__all__ = ["IdScan"]


@dataclass(frozen=True, slots=True)
class IdScan:
    """Ids to look for, as one value that is sent to workers.

    Other ids are not counted, as they may be many.
    """

    ids: frozenset[int]
    guids: Mapping[bytes, tuple[int, ...]]  #: every id of each guid

    def prepare(self) -> Callable[[RangeSource, OffsetRange], IdUsage]:
        """Return the function that scans a range."""
        return self.scan

    def merge(self, left: IdUsage, right: IdUsage) -> IdUsage:
        """Return both combined."""
        return left.merge(right)

    def empty(self) -> IdUsage:
        """Return the usage of no range."""
        return IdUsage()

    def scan(self, source: RangeSource, offsets: OffsetRange) -> IdUsage:
        """Return the ids in the keys and values of a range, in frames and in headers.

        A body that happens to begin like a frame counts as one, so no id is missed.

        Raises:
            Unreachable: the source stopped responding.
        """
        usage, records = IdUsage(), 0
        for batch in source.read(offsets):
            records += batch.num_rows
            for part in PARTS:
                usage = usage.merge(self._scan_part(batch, offsets.topic, part))
        coverage = Coverage(offsets.topic, offsets.partition, offsets.start, offsets.end, records)
        return usage.merge(IdUsage(frozenset({coverage})))

    def _scan_part(self, batch: pa.RecordBatch, topic: str, part: Part) -> IdUsage:
        bodies = cast("pa.BinaryArray", batch.column(part))
        times = to_milliseconds(batch.column("timestamp"))
        guids = GuidIds(self.guids)
        heads = read_schema_headers(batch.column("headers"), part)
        frames = read_frames(bodies, heads, guids)
        uses = {}
        for schema_id in np.intersect1d(frames.schema_ids[frames.framed], np.array([*self.ids], np.int64)).tolist():
            rows = frames.framed & (frames.schema_ids == schema_id)
            uses[IdKey(topic, part, schema_id)] = IdUse(int(rows.sum()), *find_time_range(times[rows]))
        whole = find_time_range(times)
        return IdUsage(uses=uses, times={} if whole == NO_RECORDS else {topic: whole})
