"""Columns of a batch by field, with an entry for each record."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.contracts.rules.language.value_types import ValueKind
from contractlog.spark_validation.columnar.validator_results import ColumnPiece
from contractlog.spark_validation.rules.vectors import Mask, NotColumnar, Vector

__all__ = ["COLUMN_KINDS", "FieldPath", "RecordColumns", "make_element_columns"]

COLUMN_KINDS: Final = frozenset(
    {ValueKind.BOOL, ValueKind.INT, ValueKind.DOUBLE, ValueKind.STRING, ValueKind.BYTES, ValueKind.TIMESTAMP}
)
_EXACT: Final = 2**53  #: every whole number up to this magnitude is exact as a double
_MICROSECONDS: Final = pa.timestamp("us", "UTC")
_FIRST_TIME: Final = -62_135_596_800_000_000  #: microseconds from 1970 to year 1; earlier times are read as numbers
_END_TIME: Final = 253_402_300_800_000_000  #: to year 10000


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field of records by its path, such as ``customer.email``."""

    path: str
    kind: ValueKind
    ancestors: tuple[str, ...] = ()  #: paths of the records around the field that may be null
    is_date: bool = False


class RecordColumns:
    """The values of a batch's conforming records.

    Args:
        size: number of all records.
        conforming: the records that conform; others have no values.
        pieces: the values by field, of any order.
        optional: whether a field of a conforming record may be absent, as in JSON.
    """

    def __init__(self, size: int, conforming: Mask, pieces: Iterable[ColumnPiece], *, optional: bool) -> None:
        self.size = size
        self._conforming = conforming
        self._optional = optional
        self._pieces: defaultdict[str, list[ColumnPiece]] = defaultdict(list)
        for piece in pieces:
            self._pieces[piece.field].append(piece)
        self._vectors: dict[tuple[FieldPath, bool], Vector] = {}

    def read(self, field: FieldPath, *, whole_numbers: bool) -> Vector:
        """Return the values of a field; a record that lacks it is an error.

        Args:
            field: the field.
            whole_numbers: whether integers may be read as doubles.

        Raises:
            NotColumnar: the column lacks values, or has values of another type.
        """
        key = field, whole_numbers
        if key not in self._vectors:
            self._vectors[key] = self._read(field, whole_numbers=whole_numbers)
        return self._vectors[key]

    def find_nulls(self, path: str) -> Mask:
        """Return the records in which a value is null."""
        nulls = np.zeros(self.size, np.bool_)
        for piece in self._pieces.get(path, ()):
            if pa.types.is_null(piece.values.type):
                nulls[piece.rows] = True
        return nulls

    def find_absent(self, path: str, ancestors: tuple[str, ...]) -> Mask | None:
        """Return the conforming records without a scalar value, in which a record around it is null.

        Records of JSON may lack any value.

        Raises:
            NotColumnar: the column has not all values.
        """
        present = ~self._conforming
        for piece in self._pieces.get(path, ()):
            present[piece.rows] = True
        if present.all():
            return None
        absent = ~present
        if not self._optional and (absent & ~self._find_null_ancestors(ancestors)).any():
            raise NotColumnar("the column does not have every value")
        return absent

    def _find_null_ancestors(self, ancestors: tuple[str, ...]) -> Mask:
        nulls = np.zeros(self.size, np.bool_)
        for path in ancestors:
            nulls |= self.find_nulls(path)
        return nulls

    def _read(self, field: FieldPath, *, whole_numbers: bool) -> Vector:
        pieces = [piece for piece in self._pieces.get(field.path, ()) if not pa.types.is_null(piece.values.type)]
        absent = self.find_absent(field.path, field.ancestors)
        nulls = self.find_nulls(field.path)
        values = self._join(field, pieces, whole_numbers=whole_numbers)
        return Vector(values, absent, nulls if nulls.any() else None)

    def _join(self, field: FieldPath, pieces: list[ColumnPiece], *, whole_numbers: bool) -> Any:
        if field.kind in {ValueKind.STRING, ValueKind.BYTES}:
            return self._join_texts(field.kind, pieces)
        joined: NDArray[Any] = np.zeros(self.size, _DTYPES[field.kind])
        for piece in pieces:
            numbers = _read_numbers(field, piece.values, whole_numbers=whole_numbers)
            if len(pieces) == 1 and piece.rows.size == self.size and _is_whole(piece.rows):
                return numbers
            joined[piece.rows] = numbers
        return joined

    def _join_texts(self, kind: ValueKind, pieces: list[ColumnPiece]) -> Any:
        if not pieces:
            return pa.nulls(self.size, pa.string() if kind is ValueKind.STRING else pa.binary())
        if len(pieces) > 1 or not _is_text(kind, pieces[0].values.type):
            raise NotColumnar("the field has values of several types")
        rows, values = pieces[0].rows, pieces[0].values
        if rows.size == self.size and _is_whole(rows):
            return values
        positions = np.full(self.size, -1, np.int64)
        positions[rows] = np.arange(rows.size)
        indices: Any = pa.array(positions, mask=positions < 0)
        return values.take(indices)


_DTYPES: Final = {
    ValueKind.BOOL: np.bool_,
    ValueKind.INT: np.int64,
    ValueKind.DOUBLE: np.float64,
    ValueKind.TIMESTAMP: np.int64,
}


def _is_whole(rows: NDArray[np.int64]) -> bool:
    return bool((rows == np.arange(rows.size)).all())


def _is_text(kind: ValueKind, arrow: pa.DataType) -> bool:
    types = pa.types
    if kind is ValueKind.STRING:
        return types.is_string(arrow) or types.is_large_string(arrow)
    return types.is_binary(arrow) or types.is_large_binary(arrow)


def _read_numbers(field: FieldPath, values: pa.Array[Any], *, whole_numbers: bool) -> Any:
    types, arrow = pa.types, values.type
    match field.kind:
        case ValueKind.BOOL if types.is_boolean(arrow):
            return values.to_numpy(zero_copy_only=False)
        case ValueKind.INT if field.is_date and types.is_date32(arrow):
            return np.asarray(values.cast(pa.int32())).astype(np.int64)
        case ValueKind.INT if types.is_int64(arrow):
            return np.asarray(values)
        case ValueKind.DOUBLE if types.is_float64(arrow):
            return np.asarray(values)
        case ValueKind.DOUBLE if types.is_int64(arrow) and whole_numbers:
            numbers = np.asarray(values)
            if numbers.max(initial=0) <= _EXACT and numbers.min(initial=0) >= -_EXACT:
                return numbers.astype(np.float64)
        case ValueKind.TIMESTAMP if types.is_timestamp(arrow):
            times = np.asarray(pc.cast(values, _MICROSECONDS).cast(pa.int64()))
            if times.min(initial=0) >= _FIRST_TIME and times.max(initial=0) < _END_TIME:
                return times
    raise NotColumnar("the field has values of another type")


def make_element_columns(values: pa.Array[Any]) -> RecordColumns:
    """Return columns in which each value of an array is a record of its own, with an empty path."""
    rows = np.arange(len(values))
    whole = np.ones(len(values), np.bool_)
    return RecordColumns(len(values), whole, [ColumnPiece("", rows, rows, values)], optional=False)
