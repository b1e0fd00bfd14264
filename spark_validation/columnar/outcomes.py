"""Result of one validator for the records of one schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.field_columns import ColumnPiece

__all__ = ["RecordOutcomes", "Validator"]


@dataclass(frozen=True, slots=True)
class RecordOutcomes:
    """One outcome per record, in the order of the records given."""

    codes: NDArray[np.uint8]
    places: NDArray[np.int32]  #: index into ``table``; -1 for a record as a whole
    table: list[tuple[str, str]]  #: JSON Pointer into the schema's text, and the value's path
    details: dict[int, str]  #: record -> sentence; violating records only
    pieces: list[ColumnPiece]  #: rows are indexes of the given records


class Validator(Protocol):
    """Validates records against one schema; may be cached for the life of a process."""

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the records whose bodies are at ``data[start:end]``, ascending and without overlap."""
