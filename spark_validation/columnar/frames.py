"""The frame around each record of a column: magic byte 0, then the schema id in four bytes, big-endian."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.arrow import numbers_in

__all__ = ["HEADER", "Frames", "read_frames"]

HEADER: Final = 5
"""Bytes before the body."""

_MAGIC: Final = 0


@dataclass(frozen=True, slots=True)
class Frames:
    """A column of records as positions in its bytes; nothing is copied."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]  #: of each body
    ends: NDArray[np.int64]
    null: NDArray[np.bool_]
    framed: NDArray[np.bool_]
    schema_ids: NDArray[np.int32]  #: 0 where there is no frame

    def by_schema(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Yield each schema id that a record carries, with the rows that do, ascending."""
        rows = np.flatnonzero(self.framed)
        ids = self.schema_ids[rows]
        if rows.size and (ids == ids[0]).all():
            yield int(ids[0]), rows
            return
        for schema_id in np.unique(ids).tolist():
            yield schema_id, rows[ids == schema_id]


def read_frames(bodies: pa.BinaryArray | pa.LargeBinaryArray) -> Frames:
    """Read the frames of a column; slices and both sizes of offsets are understood."""
    size = len(bodies)
    wide = pa.types.is_large_binary(bodies.type)
    if not (wide or pa.types.is_binary(bodies.type)):
        raise TypeError(f"framed records are a binary or large_binary column, not {bodies.type}")
    _, offsets, content = bodies.buffers()
    data = numbers_in(content, np.uint8)
    bounds = numbers_in(offsets, np.int64) if wide else numbers_in(offsets, np.int32).astype(np.int64)
    bounds = bounds[bodies.offset : bodies.offset + size + 1] if size else np.zeros(1, np.int64)
    starts, ends = bounds[:-1], bounds[1:]
    null = np.asarray(bodies.is_null().to_numpy(zero_copy_only=False), np.bool_)
    long = ~null & (ends - starts >= HEADER)
    padded = data if data.size else np.zeros(1, np.uint8)
    framed = long & (padded.take(starts, mode="clip") == _MAGIC)
    ids = np.zeros(size, np.uint32)
    for nth in range(1, HEADER):
        ids = (ids << np.uint32(8)) | padded.take(starts + nth, mode="clip")
    schema_ids = np.where(framed, ids.view(np.int32), np.int32(0))
    return Frames(data, starts + HEADER, ends, null, framed, schema_ids)
