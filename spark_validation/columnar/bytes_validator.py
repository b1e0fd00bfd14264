"""Validator for the schema ``bytes``, whose values have no length in the frame: every body conforms."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.compatibility.avro.types import AvroSchema, Primitive
from contractlog.spark_validation.columnar.field_columns import ColumnPiece
from contractlog.spark_validation.columnar.outcomes import RecordOutcomes

__all__ = ["BytesValidator", "is_bytes_schema"]


def is_bytes_schema(schema: AvroSchema) -> bool:
    """Return true if values of this schema are written without their length."""
    return isinstance(schema.root, Primitive) and schema.root.type == "bytes"


class BytesValidator:
    """Accepts every record."""

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the records whose bodies are at ``data[start:end]``, ascending and without overlap."""
        count = starts.size
        judged = RecordOutcomes(np.zeros(count, np.uint8), np.full(count, -1, np.int32), [], {}, [])
        if columns and count:
            spans = zip(starts.tolist(), ends.tolist(), strict=True)
            values = pa.array([data[start:end].tobytes() for start, end in spans], pa.binary())
            judged.pieces.append(ColumnPiece("", np.arange(count), starts, values))
        return judged
