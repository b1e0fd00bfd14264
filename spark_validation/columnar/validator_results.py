"""Result of a validator: one outcome per record, and the values of conforming records.

Values are Arrow arrays, one per field and type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.arrow import pick
from contractlog.spark_validation.columnar.record_text import RenderedBody

__all__ = ["SYMBOL_TYPE", "ColumnPiece", "FieldColumn", "RecordOutcomes", "Validator", "join_pieces"]

SYMBOL_TYPE: Final = pa.large_string()
"""Type of values that the schema lists itself: enum symbols. Other texts are of type string."""

_INTEGER: Final = "int64"
_FLOAT: Final = "double"
_EXACT: Final = 2**53  # every whole number up to this magnitude is exact as a double


@dataclass(frozen=True, slots=True)
class FieldColumn:
    """The values of one field and one type; a field with values of several types has several columns."""

    field: str  #: ``legs[].carrier``, ``tags{}``; empty if the record itself is the value
    rows: NDArray[np.int64]  #: batch row of each value, ascending; items of an array stay in order
    values: pa.Array[Any]  #: without nulls; of type null if all are nulls


@dataclass(frozen=True, slots=True)
class ColumnPiece:
    """Some values of a field, with their order."""

    field: str
    rows: NDArray[np.int64]
    order: NDArray[np.int64]  #: sort key among values of one row
    values: pa.Array[Any]


def join_pieces(pieces: Iterable[ColumnPiece]) -> list[FieldColumn]:
    """Return one column per field and type.

    Integers are merged into the floats of their field if no value loses precision.
    """
    grouped: dict[tuple[str, str], list[ColumnPiece]] = defaultdict(list)
    for piece in pieces:
        if len(piece.values):
            grouped[piece.field, str(piece.values.type)].append(piece)
    for field, kind in list(grouped):
        if kind == _FLOAT and all(_is_exact_as_float(piece) for piece in grouped.get((field, _INTEGER), ())):
            grouped[field, _FLOAT] += [
                ColumnPiece(field, piece.rows, piece.order, piece.values.cast(pa.float64()))
                for piece in grouped.pop((field, _INTEGER), ())
            ]
    return [_merge_pieces(field, field_pieces) for (field, _), field_pieces in sorted(grouped.items())]


def _is_exact_as_float(piece: ColumnPiece) -> bool:
    numbers = np.asarray(piece.values)
    return bool(numbers.max() <= _EXACT and numbers.min() >= -_EXACT)


def _merge_pieces(field: str, pieces: list[ColumnPiece]) -> FieldColumn:
    """Merge the pieces into one column, sorted by row, then by order within a row."""
    if len(pieces) == 1:
        rows, order, values = pieces[0].rows, pieces[0].order, pieces[0].values
    else:
        rows = np.concatenate([piece.rows for piece in pieces])
        order = np.concatenate([piece.order for piece in pieces])
        values = pa.concat_arrays([piece.values for piece in pieces])
    steps = np.diff(rows)
    if ((steps < 0) | ((steps == 0) & (np.diff(order) < 0))).any():
        sorting = np.lexsort((order, rows))
        rows, values = rows[sorting], pick(values, sorting)
    return FieldColumn(field, rows, values)


@dataclass(frozen=True, slots=True)
class RecordOutcomes:
    """One outcome per record, in the order of the records given."""

    codes: NDArray[np.uint8]
    paths: NDArray[np.int32]  #: index into ``table``; -1 for a record as a whole
    table: list[tuple[str, str]]  #: JSON Pointer into the schema's text, and the value's path
    details: dict[int, str]  #: record -> sentence; violating records only
    pieces: list[ColumnPiece]  #: rows are indexes of the given records


class Validator(Protocol):
    """Validates records against one schema; may be cached for the life of a process."""

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the records whose bodies are at ``data[start:end]``, ascending and without overlap."""

    def render(self, body: bytes, *, show: bool) -> RenderedBody:
        """Return the text of a body as far as it can be read, with masked values unless they may be shown."""
