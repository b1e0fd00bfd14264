"""Arrow arrays of the values at positions in a batch's bytes, copied without making Python objects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.columnar.arrow import from_numpy, gather_slices, to_buffer
from contractlog.spark_validation.columnar.avro_compiled_schema import AvroKind, LogicalType, ValuePath
from contractlog.spark_validation.columnar.cursors import BatchTally, ValueChunk
from contractlog.spark_validation.columnar.validator_results import SYMBOL_TYPE, ColumnPiece

__all__ = ["build_pieces"]

_TIMESTAMP: Final = pa.timestamp("us", "UTC")
_WIDEST_DECIMAL: Final = 76
_WORD: Final = 8
_MILLIS: Final = 1000
_MAX_MILLIS: Final = np.iinfo(np.int64).max // _MILLIS


def build_pieces(tally: BatchTally) -> Iterator[ColumnPiece]:
    """Yield the values of conforming records at each collected path."""
    broken = tally.codes != Outcome.CONFORMS
    for path, chunks in tally.chunks.items():
        if not path.collected:
            continue
        rows, starts, values = _join_chunks(chunks)
        if broken.any():
            valid = ~broken[rows]
            rows, starts, values = rows[valid], starts[valid], values[valid]
        if path.node.logical is not None and path.node.logical.name == "timestamp-millis":
            valid = (values <= _MAX_MILLIS) & (values >= -_MAX_MILLIS)  # others overflow microseconds: left out
            rows, starts, values = rows[valid], starts[valid], values[valid]
        if rows.size:
            yield ColumnPiece(path.field, rows, starts, _build_array(tally, path, starts, values))


def _join_chunks(chunks: list[ValueChunk]) -> ValueChunk:
    if len(chunks) == 1:
        return chunks[0]
    rows, starts, values = (np.concatenate(part) for part in zip(*chunks, strict=True))
    sorting = np.argsort(starts, kind="stable")
    return rows[sorting], starts[sorting], values[sorting]


def _build_array(
    tally: BatchTally, path: ValuePath, starts: NDArray[np.int64], values: NDArray[np.int64]
) -> pa.Array[Any]:
    node = path.node
    if node.logical is not None:
        array = _build_logical(tally, node.logical, starts, values)
        if array is not None:
            return array
    match node.kind:
        case AvroKind.NULL:
            array = pa.nulls(values.size)
        case AvroKind.BOOLEAN:
            array = from_numpy(values.astype(np.bool_))
        case AvroKind.INT | AvroKind.LONG:
            array = from_numpy(values)
        case AvroKind.FLOAT:
            with np.errstate(invalid="ignore"):  # a signalling NaN is a valid value
                array = from_numpy(_read_fixed_size(tally, starts, "<f4").astype(np.float64))
        case AvroKind.DOUBLE:
            array = from_numpy(_read_fixed_size(tally, starts, "<f8"))
        case AvroKind.ENUM:
            symbols = pa.array(node.symbols, SYMBOL_TYPE)
            array = pa.DictionaryArray.from_arrays(from_numpy(values), symbols).cast(SYMBOL_TYPE)
        case AvroKind.STRING:
            array = _narrow_offsets(gather_slices(tally.buffer, starts, values), pa.string())
        case _:
            array = _narrow_offsets(gather_slices(tally.buffer, starts, values), pa.binary())
    return array


def _build_logical(
    tally: BatchTally, logical: LogicalType, starts: NDArray[np.int64], values: NDArray[np.int64]
) -> pa.Array[Any] | None:
    """Return the values of a logical type that Arrow also has, else None."""
    array: pa.Array[Any] | None = None
    match logical.name:
        case "timestamp-micros":
            array = from_numpy(values).cast(_TIMESTAMP)
        case "timestamp-millis":
            array = from_numpy(values * _MILLIS).cast(_TIMESTAMP)
        case "timestamp-nanos":
            array = from_numpy(values // _MILLIS).cast(_TIMESTAMP)
        case "date":
            array = from_numpy(values.astype(np.int32)).cast(pa.date32())
        case "decimal" if logical.precision <= _WIDEST_DECIMAL:
            array = _build_decimals(tally, logical, starts, values)
    return array


def _build_decimals(
    tally: BatchTally, logical: LogicalType, starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> pa.Array[Any]:
    """Return two's complement numbers as decimals, by sign-extending their lowest bytes."""
    wide = pa.decimal128 if logical.precision <= pa.decimal128(38).precision else pa.decimal256
    kind = wide(logical.precision, logical.scale)
    width = kind.bit_width // 8
    from_end = np.arange(width)
    at = (starts + lengths)[:, None] - 1 - from_end
    sign = np.where(tally.data.take(starts, mode="clip") >= 0x80, np.uint8(0xFF), np.uint8(0))  # noqa: PLR2004
    little = np.where(from_end < lengths[:, None], tally.data.take(at, mode="clip"), sign[:, None])
    return pa.Array.from_buffers(kind, starts.size, [None, to_buffer(little)])


def _read_fixed_size(tally: BatchTally, starts: NDArray[np.int64], kind: str) -> NDArray[Any]:
    """Return the fixed-size numbers that start at each position."""
    words = np.lib.stride_tricks.sliding_window_view(tally.data, np.dtype(kind).itemsize)[starts]
    return words.view(kind)[:, 0]


def _narrow_offsets(values: pa.Array[Any], kind: pa.DataType) -> pa.Array[Any]:
    """Return the values with 32-bit offsets, which suffice: the column of the records has them, too."""
    large = pa.large_string() if pa.types.is_string(kind) else pa.large_binary()
    _, offsets, content = values.buffers()
    same = pa.Array.from_buffers(large, len(values), [None, offsets, content])
    return pc.cast(same, kind)
