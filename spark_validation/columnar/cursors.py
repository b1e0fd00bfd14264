"""Read positions of the records of a batch, and the outcomes and values collected so far."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.arrow import to_buffer
from contractlog.spark_validation.columnar.avro_compiled_schema import ValuePath
from contractlog.spark_validation.columnar.limits import ValidationLimits

__all__ = ["BatchTally", "Cursors", "ValueChunk"]

ValueChunk = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Rows, the start of their values, and the integers read there: a value, an index, or a length in bytes."""


class Cursors:
    """A set of records that are read in step; rows ascend, and so do positions."""

    __slots__ = ("end", "pos", "rows")

    def __init__(self, rows: NDArray[np.int64], pos: NDArray[np.int64], end: NDArray[np.int64]) -> None:
        self.rows = rows
        self.pos = pos
        self.end = end

    @property
    def size(self) -> int:
        """Number of records in the set."""
        return self.rows.size

    def pick(self, where: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Cursors:
        """Return some of the cursors as a new set."""
        return Cursors(self.rows[where], self.pos[where], self.end[where])

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Drop all cursors except those selected by the mask."""
        self.rows, self.pos, self.end = self.rows[mask], self.pos[mask], self.end[mask]


class BatchTally:
    """Results by record: outcome, path and position of the failure, and the values of collected paths."""

    __slots__ = (
        "_numbers",
        "allowance",
        "at",
        "buffer",
        "chunks",
        "codes",
        "columns",
        "data",
        "limits",
        "paths",
        "where",
    )

    def __init__(self, data: NDArray[np.uint8], records: int, limits: ValidationLimits, *, columns: bool) -> None:
        self.data = data if data.size else np.zeros(1, np.uint8)  # so that clipped reads are possible
        self.buffer = to_buffer(self.data)
        self.limits = limits
        self.columns = columns
        self.codes = np.zeros(records, np.uint8)
        self.where = np.full(records, -1, np.int32)  #: index into ``paths``
        self.at = np.zeros(records, np.int64)  #: position of the failure in the data
        self.allowance = np.full(records, limits.items, np.int64)  #: what is left of it for items without bytes
        self.paths: list[ValuePath] = []
        self.chunks: dict[ValuePath, list[ValueChunk]] = {}
        self._numbers: dict[ValuePath, int] = {}

    def number(self, path: ValuePath) -> int:
        """Return the index of a path in ``paths``; add it if it is new."""
        number = self._numbers.setdefault(path, len(self.paths))
        if number == len(self.paths):
            self.paths.append(path)
        return number

    def fail(
        self,
        path: ValuePath,
        cursors: Cursors,
        bad: NDArray[np.bool_],
        code: Outcome | NDArray[np.uint8],
        at: NDArray[np.int64] | None = None,
    ) -> NDArray[np.bool_]:
        """Set an outcome for the cursors in ``bad`` and drop them; return the mask of the remaining ones."""
        rows = cursors.rows[bad]
        self.codes[rows] = code if isinstance(code, Outcome) else code[bad]
        self.where[rows] = self.number(path)
        self.at[rows] = (cursors.pos if at is None else at)[bad]
        valid = ~bad
        cursors.keep(valid)
        return valid

    def fail_one(self, path: ValuePath, row: int, code: Outcome, at: int) -> None:
        """Set the outcome of one record."""
        self.codes[row] = code
        self.where[row] = self.number(path)
        self.at[row] = at

    def wants(self, path: ValuePath) -> bool:
        """Return true if the values at a path are needed, for a column or for the rule of a logical type."""
        return path.node.logical is not None or (self.columns and path.collected)

    def collect(
        self, path: ValuePath, rows: NDArray[np.int64], starts: NDArray[np.int64], values: NDArray[np.int64]
    ) -> None:
        """Store values for later passes."""
        self.chunks.setdefault(path, []).append((rows, starts, values))

    def collect_each(self, path: ValuePath, values_found: Iterable[tuple[int, int, int]]) -> None:
        """Store values that were read one by one: triples of row, start and integer."""
        rows, starts, values = (np.array(column, np.int64) for column in zip(*values_found, strict=True))
        self.collect(path, rows, starts, values)
