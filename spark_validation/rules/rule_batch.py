"""Conforming records of a batch for rules: columns, and decoded records where needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.validator_results import ColumnPiece
from contractlog.spark_validation.rules.record_columns import RecordColumns
from contractlog.spark_validation.rules.vectors import Mask

__all__ = ["RuleBatch", "RuleResult"]


@dataclass(slots=True)
class RuleResult:
    """The result of a rule for the records of a batch."""

    broken: Mask
    failed: Mask  #: records on which the evaluation failed; these are broken
    per_record: int = 0
    undecoded: int = 0
    fields: dict[int, str] = field(default_factory=dict)  #: path of the first field that breaks the rule, by record


@dataclass
class RuleBatch:
    """Records of one schema, as validators read them."""

    conforming: Mask
    pieces: Sequence[ColumnPiece]
    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    decode: Callable[[bytes], Any]
    optional: bool  #: whether records may lack fields, as in JSON
    _decoded: dict[int, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Number of records."""
        return self.conforming.size

    @cached_property
    def columns(self) -> RecordColumns:
        """The values by field."""
        return RecordColumns(self.size, self.conforming, self.pieces, optional=self.optional)

    def decode_records(self) -> Iterator[tuple[int, Any]]:
        """Yield each conforming record with its value, or the exception if it cannot be decoded."""
        for row in np.flatnonzero(self.conforming).tolist():
            if row not in self._decoded:
                self._decoded[row] = self._decode(row)
            yield row, self._decoded[row]

    def _decode(self, row: int) -> Any:
        try:
            return self.decode(self.data[self.starts[row] : self.ends[row]].tobytes())
        except Exception as error:  # noqa: BLE001 -- the validator accepted it; the record is counted as undecoded
            return error
