"""Validator of Avro binary records: exact, and without building values.

Rules of logical types are checked in a second pass, so the first agrees with decoders that ignore logical types. Any
int is a date and any long a timestamp, however far from today; a uuid, a decimal and a time of day have rules.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.compatibility.avro.types import AvroSchema
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.serdes.avro.interpreter.decimal_and_uuid import MAX_DIGITS
from contractlog.spark_validation.columnar.avro_compiled_schema import (
    AvroKind,
    CompiledSchema,
    LogicalType,
    ValuePath,
    compile_schema,
)
from contractlog.spark_validation.columnar.avro_vectorized_walk import MAX_ROWS_ONE_BY_ONE, VectorizedWalk
from contractlog.spark_validation.columnar.cursors import BatchTally, Cursors, ValueChunk
from contractlog.spark_validation.columnar.limits import ValidationLimits
from contractlog.spark_validation.columnar.primitive_columns import build_pieces
from contractlog.spark_validation.columnar.record_text import RenderedBody, render_avro
from contractlog.spark_validation.columnar.validator_results import RecordOutcomes

__all__ = ["AvroValidator", "check_logical_types", "read_big_endian"]

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
        Outcome.TOO_DEEP: "{what} is nested deeper than {depth} containers",
        Outcome.TOO_MANY_ITEMS: "{what} has too many values without bytes; in a record, they may count for {items}",
        Outcome.TRAILING_BYTES: "{left} left after the value",
        Outcome.LOGICAL_TYPE: "{what} is not a valid {logical}",
    }
)
_DAY: Final = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
_UUID_LENGTH: Final = 36
_HYPHENS: Final = np.array([8, 13, 18, 23])
_HEX: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789abcdefABCDEF", np.uint8))
_WORD: Final = 8  # bytes of an int64
_WORD_DIGITS: Final = 18  # decimal digits that always fit into it
_MAX_DIGITS_PER_BIT: Final = 0.30103  # just above log10(2), as it selects what may have too many digits


class AvroValidator:
    """Validates records against one Avro schema."""

    def __init__(self, schema: AvroSchema, limits: ValidationLimits, *, scalar_rows: int = MAX_ROWS_ONE_BY_ONE) -> None:
        self._compiled = CompiledSchema.of(compile_schema(schema), limits.paths)
        self._limits = limits
        self._scalar_rows = scalar_rows

    def validate(
        self, data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64], *, columns: bool
    ) -> RecordOutcomes:
        """Validate the records whose bodies are at ``data[start:end]``, ascending and without overlap."""
        tally = BatchTally(data, starts.size, self._limits, columns=columns)
        cursors = Cursors(np.arange(starts.size), starts, ends)
        VectorizedWalk(tally, self._scalar_rows).run(self._compiled.root, cursors)
        left = cursors.pos < cursors.end
        if left.any():
            rows = cursors.rows[left]
            tally.codes[rows] = Outcome.TRAILING_BYTES
            tally.at[rows] = cursors.pos[left]
        check_logical_types(tally)
        return RecordOutcomes(
            tally.codes,
            tally.where,
            [(path.node.pointer, path.field) for path in tally.paths],
            {row: self._detail(tally, row, starts, ends) for row in np.flatnonzero(tally.codes).tolist()},
            list(build_pieces(tally)) if columns else [],
        )

    def render(self, body: bytes, *, show: bool) -> RenderedBody:
        """Return the text of a body up to its failure, with masked values unless they may be shown."""
        return render_avro(self._compiled.root, body, self._limits, show=show)

    def _detail(self, tally: BatchTally, row: int, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> str:
        """Describe the violation of a record, with its position in the body."""
        number = int(tally.where[row])
        left = int(ends[row] - tally.at[row])
        path = tally.paths[number] if number >= 0 else self._compiled.root
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


def check_logical_types(tally: BatchTally) -> None:
    """Set ``LOGICAL_TYPE`` for records that decode but violate a rule; report the first in byte order."""
    first = np.full(tally.codes.size, np.iinfo(np.int64).max)
    for path, chunks in tally.chunks.items():
        logical = path.node.logical
        if logical is None:
            continue
        for chunk in chunks:
            rows, starts, _ = chunk
            bad = _find_violations(tally, path, logical, chunk)
            if bad is None or not bad.any():
                continue
            bad &= (tally.codes[rows] == Outcome.CONFORMS) | (tally.codes[rows] == Outcome.LOGICAL_TYPE)
            for row, start in zip(rows[bad].tolist(), starts[bad].tolist(), strict=True):
                if start < first[row]:
                    first[row] = start
                    tally.fail_one(path, row, Outcome.LOGICAL_TYPE, start)


def _find_violations(
    tally: BatchTally, path: ValuePath, logical: LogicalType, chunk: ValueChunk
) -> NDArray[np.bool_] | None:
    """Return which values violate the rule of their type, or None if the type has no rule."""
    _, starts, values = chunk
    match logical.name:
        case "time-millis" | "time-micros":
            bad: NDArray[np.bool_] = (values < 0) | (values >= _DAY[logical.name])
            return bad
        case "uuid" if path.node.kind is AvroKind.STRING:
            return _find_invalid_uuids(tally, starts, values)
        case "decimal":
            return _find_excess_precision(tally, starts, values, min(logical.precision, MAX_DIGITS))
    return None


def _find_invalid_uuids(tally: BatchTally, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which texts are not 8-4-4-4-12 hexadecimal digits."""
    bad: NDArray[np.bool_] = lengths != _UUID_LENGTH
    right = np.flatnonzero(~bad)
    letters = tally.data[starts[right][:, None] + np.arange(_UUID_LENGTH)]
    hyphens = (letters[:, _HYPHENS] == ord("-")).all(axis=1)
    digits = _HEX[np.delete(letters, _HYPHENS, axis=1)].all(axis=1)
    bad[right] = ~(hyphens & digits)
    return bad


def _find_excess_precision(
    tally: BatchTally, starts: NDArray[np.int64], lengths: NDArray[np.int64], precision: int
) -> NDArray[np.bool_]:
    """Return which two's complement numbers have more decimal digits than allowed, or no bytes at all."""
    bad: NDArray[np.bool_] = lengths == 0
    if precision <= _WORD_DIGITS:
        short = (lengths > 0) & (lengths <= _WORD)
        numbers = read_big_endian(tally.data, starts[short], lengths[short])
        limit = 10**precision
        bad[short] = (numbers >= limit) | (numbers <= -limit)
    suspects = (8 * lengths - 1) * _MAX_DIGITS_PER_BIT >= precision
    suspects &= (lengths > _WORD) | (precision > _WORD_DIGITS)
    if suspects.any():
        power = 10**precision
        for where in np.flatnonzero(suspects).tolist():
            start, length = int(starts[where]), int(lengths[where])
            number = int.from_bytes(tally.data[start : start + length].tobytes(), "big", signed=True)
            bad[where] = abs(number) >= power
    return bad


def read_big_endian(
    data: NDArray[np.uint8], starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return two's complement numbers of one to eight bytes."""
    numbers = np.where(data.take(starts, mode="clip") >= 0x80, np.int64(-1), np.int64(0))  # noqa: PLR2004
    for nth in range(int(lengths.max(initial=0))):
        byte = data.take(starts + nth, mode="clip").astype(np.int64)
        numbers = np.where(nth < lengths, (numbers << 8) | byte, numbers)
    return numbers
