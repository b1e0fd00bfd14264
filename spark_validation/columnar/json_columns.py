"""Values of JSON documents as columns: one Arrow array per place and type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.spark_validation.columnar.field_columns import ColumnPiece
from contractlog.spark_validation.columnar.json_paths import JsonValuePath

__all__ = ["DocumentFlattener"]

_TIMESTAMP: Final = pa.timestamp("us", "UTC")
_LEAST, _MOST = -(2**63), 2**63 - 1  # range of integer columns; values outside it become floats
_TYPES: Final[dict[type, Any]] = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}

_RowValues = tuple[list[int], list[Any]]


class DocumentFlattener:
    """Splits documents into values by place and type, one document after another."""

    __slots__ = ("_depth", "_found")

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._found: dict[type, dict[JsonValuePath, _RowValues]] = {kind: {} for kind in _TYPES}

    def add(self, row: int, path: JsonValuePath, value: Any) -> None:
        """Add a value and everything below it, down to the depth limit."""
        kind = type(value)
        if kind is dict or kind is list:
            if path.depth >= self._depth:
                return
            if kind is dict:
                for name, member in value.items():
                    self.add(row, path.member(name), member)
            elif value:
                item = path.item()
                for member in value:
                    self.add(row, item, member)
        elif value is not None:
            if kind is int and not _LEAST <= value <= _MOST:
                kind, value = float, float(value)
            found = self._found[kind].get(path)
            if found is None:
                found = self._found[kind][path] = ([], [])
            found[0].append(row)
            found[1].append(value)

    def pieces(self) -> Iterator[ColumnPiece]:
        """Yield the values added so far."""
        for kind, found in self._found.items():
            for path, (rows, values) in found.items():
                column = pa.array(values, _TYPES[kind])
                piece = ColumnPiece(path.field, np.array(rows, np.intp), np.arange(len(rows)), column)
                if kind is str and path.is_time:
                    yield from _parse_times(piece)
                else:
                    yield piece


def _parse_times(piece: ColumnPiece) -> Iterator[ColumnPiece]:
    """Yield texts as timestamps; those that cannot be parsed, or have no UTC offset, remain texts."""
    try:
        yield ColumnPiece(piece.field, piece.rows, piece.order, pc.cast(piece.values, _TIMESTAMP))
    except pa.ArrowInvalid:
        moments = [_parse_time(text) for text in piece.values.to_pylist()]
        known = np.array([moment is not None for moment in moments], np.bool_)
        found = pa.array([moment for moment in moments if moment is not None], _TIMESTAMP)
        yield ColumnPiece(piece.field, piece.rows[known], piece.order[known], found)
        yield ColumnPiece(piece.field, piece.rows[~known], piece.order[~known], piece.values.filter(pa.array(~known)))


def _parse_time(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.upper())
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None
