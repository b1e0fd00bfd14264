"""The values of JSON documents, as columns: one Arrow array per place and type."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.spark_validation.columnar.columns import Piece
from contractlog.spark_validation.columnar.json_places import Place

__all__ = ["Flattening"]

_TIMESTAMP: Final = pa.timestamp("us", "UTC")
_MOST: Final = 2**63 - 1
_TYPES: Final = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}

_Found = tuple[list[int], list[int], list[Any]]


class Flattening:
    """Takes documents apart, one after the other."""

    __slots__ = ("_count", "_depth", "_found")

    def __init__(self, depth: int) -> None:
        self._depth = depth
        self._count = 0
        self._found: dict[tuple[Place, type], _Found] = {}

    def add(self, row: int, place: Place, value: Any) -> None:
        """Take in a value and all below it, to the depth that is followed."""
        kind = type(value)
        if kind is dict or kind is list:
            if place.depth >= self._depth:
                return
            if kind is dict:
                for name, member in value.items():
                    self.add(row, place.member(name), member)
            elif value:
                item = place.item()
                for member in value:
                    self.add(row, item, member)
        elif value is not None:
            if kind is int and value > _MOST:
                kind, value = float, float(value)
            rows, order, values = self._found.setdefault((place, kind), ([], [], []))
            rows.append(row)
            order.append(self._count)
            values.append(value)
            self._count += 1

    def pieces(self) -> Iterator[Piece]:
        """Yield what was taken in."""
        for (place, kind), (rows, order, values) in self._found.items():
            piece = Piece(
                place.field, np.array(rows, np.intp), np.array(order, np.int64), pa.array(values, _TYPES[kind])
            )
            if kind is str and place.is_time:
                yield from _times(piece)
            else:
                yield piece


def _times(piece: Piece) -> Iterator[Piece]:
    """Yield texts as points in time; what is none stays a text."""
    try:
        yield Piece(piece.field, piece.rows, piece.order, pc.cast(piece.values, _TIMESTAMP))
    except pa.ArrowInvalid:
        moments = [_moment(text) for text in piece.values.to_pylist()]
        known = np.array([moment is not None for moment in moments], np.bool_)
        found = pa.array([moment for moment in moments if moment is not None], _TIMESTAMP)
        yield Piece(piece.field, piece.rows[known], piece.order[known], found)
        yield Piece(piece.field, piece.rows[~known], piece.order[~known], piece.values.filter(pa.array(~known)))


def _moment(text: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.upper())
        return moment.astimezone(UTC) if moment.tzinfo else None
    except (ValueError, OverflowError):
        return None
