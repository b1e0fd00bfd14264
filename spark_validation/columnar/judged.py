"""What one validator says of the records of one schema."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.columns import Piece

__all__ = ["Judged", "Validator"]


@dataclass(frozen=True, slots=True)
class Judged:
    """One outcome per record, in the order in which the records were given."""

    codes: NDArray[np.uint8]
    places: NDArray[np.int32]  #: index into ``table``; -1 for a record as a whole
    table: list[tuple[str, str]]  #: JSON Pointer into the schema's text, and the value's path
    details: dict[int, str]  #: record -> sentence; violating records only
    pieces: list[Piece]  #: rows are records


class Validator(Protocol):
    """Holds records against one schema; safe to keep for the life of a process."""

    def judge(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> Judged:
        """Judge the records whose bodies stand at ``data[start:end]``, ascending and without overlap."""
