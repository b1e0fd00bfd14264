"""Validator of Avro binary records: exact, and without building values."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.avro.types import AvroSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_batch_walk import MAX_ROWS_ONE_BY_ONE, BatchWalk
from contractlog.spark_validation.columnar.avro_compiler import compile_schema
from contractlog.spark_validation.columnar.avro_program import AvroKind, AvroProgram, ValuePath
from contractlog.spark_validation.columnar.cursors import BatchTally, Cursors
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.logical_types import check_logical_types
from contractlog.spark_validation.columnar.outcomes import RecordOutcomes
from contractlog.spark_validation.columnar.primitive_columns import build_pieces

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

    def __init__(self, schema: AvroSchema, limits: ValidationLimits, *, few: int = MAX_ROWS_ONE_BY_ONE) -> None:
        self._program = AvroProgram.of(compile_schema(schema), limits.places)
        self._limits = limits
        self._few = few

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the records whose bodies are at ``data[start:end]``, ascending and without overlap."""
        tally = BatchTally(data, starts.size, self._limits, columns=columns)
        cursors = Cursors(np.arange(starts.size), starts, ends)
        BatchWalk(tally, self._few).run(self._program.root, cursors)
        left = cursors.pos < cursors.end
        if left.any():
            rows = cursors.rows[left]
            tally.codes[rows] = Outcome.TRAILING_BYTES
            tally.at[rows] = cursors.pos[left]
        check_logical_types(tally)
        return RecordOutcomes(
            tally.codes,
            tally.where,
            [(path.node.pointer, path.field) for path in tally.places],
            {row: self._detail(tally, row, starts, ends) for row in np.flatnonzero(tally.codes).tolist()},
            list(build_pieces(tally)) if columns else [],
        )

    def _detail(self, tally: BatchTally, row: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> str:
        """Describe the violation of a record, with its position in the body."""
        number = int(tally.where[row])
        left = int(ends[row] - tally.at[row])
        path = tally.places[number] if number >= 0 else self._program.root
        node, at = path.node, int(tally.at[row] - starts[row])
        sentence = _SENTENCES[Outcome(int(tally.codes[row]))].format(
            what=_describe_value(path),
            symbols=len(node.symbols),
            children=len(node.children),
            depth=self._limits.depth,
            items=self._limits.items,
            left=f"{left} bytes are" if left > 1 else "1 byte is",
            logical=node.logical.name if node.logical else "",
        )
        return f"{sentence} (byte {at} of the body)"


def _describe_value(path: ValuePath) -> str:
    """Name a value by its type and path."""
    kind = path.node.kind.name.lower()
    article = "an" if path.node.kind in {AvroKind.INT, AvroKind.ENUM, AvroKind.ARRAY} else "a"
    return f"`{path.field}` ({kind})" if path.field else f"{article} {kind}"
