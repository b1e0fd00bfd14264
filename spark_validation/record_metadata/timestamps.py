"""Timestamps of a batch's records, in milliseconds since 1970, UTC."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["NO_RECORDS", "NO_TIME", "find_time_range", "to_milliseconds"]

NO_TIME: Final = np.iinfo(np.int64).min
NO_RECORDS: Final = (int(np.iinfo(np.int64).max), int(np.iinfo(np.int64).min))  #: neutral for min and max


def to_milliseconds(timestamps: pa.Array[Any]) -> npt.NDArray[np.int64]:
    """Return timestamps in milliseconds since 1970, ``NO_TIME`` for null."""
    times = np.asarray(timestamps.cast(pa.int64()).fill_null(0)) // 1000
    return np.where(np.asarray(timestamps.is_null()), NO_TIME, times)


def find_time_range(times: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and the last time; ``NO_RECORDS`` if there is none, so that merging stays exact."""
    present = times[times != NO_TIME]
    return (int(present.min()), int(present.max())) if len(present) else NO_RECORDS
