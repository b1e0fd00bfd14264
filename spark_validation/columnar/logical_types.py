"""Rules of logical types, checked in a second pass over values that decode.

The first pass thus agrees with decoders that ignore logical types. Any int is a date and any long a timestamp, however
far from today; a uuid, a decimal and a time of day have rules.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.avro_program import AvroKind, LogicalType, ValuePath
from contractlog.spark_validation.columnar.cursors import BatchTally, ValueChunk

__all__ = ["check_logical_types", "read_big_endian"]

_DAY: Final = {"time-millis": 86_400_000, "time-micros": 86_400_000_000}
_UUID_LENGTH: Final = 36
_HYPHENS: Final = np.array([8, 13, 18, 23])
_HEX: Final = np.isin(np.arange(256), np.frombuffer(b"0123456789abcdefABCDEF", np.uint8))
_WORD: Final = 8  # bytes of an int64
_WORD_DIGITS: Final = 18  # decimal digits that always fit into it
_DIGITS_PER_BIT: Final = 0.30103  # just above log10(2)
_LONGEST_POWER: Final = 100_000  # larger precisions are not checked: no record is that long


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
            return _find_excess_precision(tally, starts, values, logical.precision)
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
    suspects = (8 * lengths - 1) * _DIGITS_PER_BIT >= precision
    suspects &= (lengths > _WORD) | (precision > _WORD_DIGITS)
    if precision <= _LONGEST_POWER and suspects.any():
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
