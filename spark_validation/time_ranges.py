"""First and last timestamp of records, as states have them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.range_audit import NO_TIME

__all__ = ["NO_RECORDS", "find_time_range"]

NO_RECORDS: Final = (int(np.iinfo(np.int64).max), int(np.iinfo(np.int64).min))  #: neutral, so merging stays exact


def find_time_range(times: npt.NDArray[np.int64]) -> tuple[int, int]:
    """Return the first and last of some times (``NO_TIME`` if a record has none) in milliseconds."""
    present = times[times != NO_TIME]
    return (int(present.min()), int(present.max())) if len(present) else NO_RECORDS
