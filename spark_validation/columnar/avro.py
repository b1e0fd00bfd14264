"""Validator of Avro binary records: exact, and without building values."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.avro.nodes import Schema
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_schema import compile_schema
from contractlog.spark_validation.columnar.avro_walk import FEW, Walk
from contractlog.spark_validation.columnar.cursors import Cursors, Tally
from contractlog.spark_validation.columnar.judged import Judged
from contractlog.spark_validation.columnar.leaf_columns import pieces
from contractlog.spark_validation.columnar.limits import Limits
from contractlog.spark_validation.columnar.logical import check_logical_types
from contractlog.spark_validation.columnar.program import Kind, Place, Program

__all__ = ["AvroValidator"]

_SENTENCES: Final = MappingProxyType(
    {
        Outcome.TRUNCATED: "the record ends inside {what}",
        Outcome.BAD_VARINT: "{what} is written with an integer that is longer than its type allows",
        Outcome.INT_OUT_OF_RANGE: "{what} is written with an integer beyond 32 bits",
        Outcome.BAD_LENGTH: "{what} has a length that is negative, over the limit, or not that of its block",
        Outcome.BAD_UTF8: "{what} is not UTF-8",
        Outcome.BAD_ENUM_INDEX: "{what} is none of the {symbols} symbols",
        Outcome.BAD_UNION_INDEX: "{what} is none of the {children} branches",
        Outcome.BAD_BOOLEAN: "{what} is neither 0 nor 1",
        Outcome.TOO_DEEP: "{what} lies deeper than {depth} containers",
        Outcome.TOO_MANY_ITEMS: "{what} has more than {items} items that take no bytes",
        Outcome.TRAILING_BYTES: "{left} left after the value",
        Outcome.LOGICAL_TYPE: "{what} is no {logical}",
    }
)


class AvroValidator:
    """Validates records against one Avro schema."""

    def __init__(self, schema: Schema, limits: Limits, *, few: int = FEW) -> None:
        self._program = Program.of(compile_schema(schema), limits.places)
        self._limits = limits
        self._few = few

    def judge(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> Judged:
        """Validate the records whose bodies are at ``data[start:end]``, ascending and without overlap."""
        tally = Tally(data, starts.size, self._limits, columns=columns)
        cursors = Cursors(np.arange(starts.size), starts, ends)
        Walk(tally, self._few).run(self._program.root, cursors)
        left = cursors.pos < cursors.end
        if left.any():
            rows = cursors.rows[left]
            tally.codes[rows] = Outcome.TRAILING_BYTES
            tally.at[rows] = cursors.pos[left]
        check_logical_types(tally)
        return Judged(
            tally.codes,
            tally.where,
            [(place.node.pointer, place.field) for place in tally.places],
            {row: self._detail(tally, row, starts, ends) for row in np.flatnonzero(tally.codes).tolist()},
            list(pieces(tally)) if columns else [],
        )

    def _detail(self, tally: Tally, row: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> str:
        """Describe the violation of a record, with its position in the body."""
        number = int(tally.where[row])
        left = int(ends[row] - tally.at[row])
        place = tally.places[number] if number >= 0 else self._program.root
        node, at = place.node, int(tally.at[row] - starts[row])
        sentence = _SENTENCES[Outcome(int(tally.codes[row]))].format(
            what=_what(place),
            symbols=len(node.symbols),
            children=len(node.children),
            depth=self._limits.depth,
            items=self._limits.items,
            left=f"{left} bytes are" if left > 1 else "1 byte is",
            logical=node.logical.name if node.logical else "",
        )
        return f"{sentence} (byte {at} of the body)"


def _what(place: Place) -> str:
    """Name a value by its type and path."""
    kind = place.node.kind.name.lower()
    article = "an" if place.node.kind in {Kind.INT, Kind.ENUM, Kind.ARRAY} else "a"
    return f"`{place.field}` ({kind})" if place.field else f"{article} {kind}"
