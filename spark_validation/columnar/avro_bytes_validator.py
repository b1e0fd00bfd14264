"""Validator of the Avro schema ``bytes``, which accepts every record."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.record_text import RenderedBody, render_bytes
from contractlog.spark_validation.columnar.validator_results import (
    ColumnPiece,
    RecordOutcomes,
)

__all__ = ["AvroBytesValidator"]


class AvroBytesValidator:
    """Accepts every record."""

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the records whose bodies are at ``data[start:end]``, ascending and without overlap."""
        count = starts.size
        result = RecordOutcomes(np.zeros(count, np.uint8), np.full(count, -1, np.int32), [], {}, [])
        if columns and count:
            spans = zip(starts.tolist(), ends.tolist(), strict=True)
            values = pa.array([data[start:end].tobytes() for start, end in spans], pa.binary())
            result.pieces.append(ColumnPiece("", np.arange(count), starts, values))
        return result

    @staticmethod
    def render(body: bytes, *, show: bool) -> RenderedBody:
        """Return the text of a body."""
        return RenderedBody(render_bytes(body, show=show))
