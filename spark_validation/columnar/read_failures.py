"""Records of a batch that a proposed schema cannot read, each with the cause of its first failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome

__all__ = ["MISMATCH", "ReadFailures", "UnreadableCause"]

MISMATCH = "READER_MISMATCH"  #: the schemas do not match at the value that the record has


@dataclass(frozen=True, slots=True)
class UnreadableCause:
    """Why a record cannot be read; records with the same cause are counted together."""

    code: str  #: ``READER_MISMATCH``, ``SCHEMA_TYPE_CHANGED``, or the name of the value's outcome
    field: str  #: path of the value without positions
    pointer: str  #: JSON Pointer into the proposed JSON Schema; empty for Avro
    reason: str = ""  #: follows from the schemas alone; empty if the cause is in the value

    @classmethod
    def of(cls, outcome: int, field: str, pointer: str = "") -> Self:
        """Return the cause for a value that violates a rule of the proposed schema."""
        return cls(Outcome(outcome).name, field, pointer)


@dataclass(slots=True)
class ReadFailures:
    """The cause of each record, as an index into the table; -1 for records that can be read."""

    causes: NDArray[np.int32]
    table: dict[UnreadableCause, int]
    details: dict[int, str]  #: row -> sentence about the value, where the cause has no reason

    @classmethod
    def none(cls, records: int) -> Self:
        """Return the result of a batch in which all records can be read."""
        return cls(np.full(records, -1, np.int32), {}, {})

    def add(self, row: int, cause: UnreadableCause, detail: str = "") -> None:
        """Add a record that cannot be read."""
        self.causes[row] = self.table.setdefault(cause, len(self.table))
        if detail:
            self.details[row] = detail

    def add_all(self, rows: NDArray[np.intp], cause: UnreadableCause) -> None:
        """Add records that cannot be read for the same cause."""
        self.causes[rows] = self.table.setdefault(cause, len(self.table))
