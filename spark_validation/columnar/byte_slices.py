"""Slices of a batch's bytes as Arrow arrays, and their validation as UTF-8."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.arrow import pick, read_numbers, to_buffer

__all__ = ["find_invalid_utf8", "gather_slices"]

_ASCII_END = 0x80


def gather_slices(buffer: pa.Buffer, starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> pa.Array[Any]:
    """Return the slices as one array that owns its bytes."""
    if not starts.size:
        return pa.array([], pa.large_binary())
    bounds = np.empty(2 * starts.size, np.int64)  # slices alternate with the gaps between them, which are not picked
    bounds[0::2] = starts
    bounds[1::2] = starts + lengths
    whole = pa.Array.from_buffers(pa.large_binary(), bounds.size - 1, [None, to_buffer(bounds), buffer])
    return pick(whole, np.arange(0, bounds.size - 1, 2))


def find_invalid_utf8(
    buffer: pa.Buffer, starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.bool_] | None:
    """Return which slices are not UTF-8 (overlong forms and surrogates included), or None if all are."""
    pieces = gather_slices(buffer, starts, lengths)
    _, offsets, content = pieces.buffers()
    packed = read_numbers(content, np.uint8)
    if not packed.size or packed.max() < _ASCII_END:
        return None
    try:
        pa.Array.from_buffers(pa.large_string(), len(pieces), [None, offsets, content]).validate(full=True)
    except pa.ArrowInvalid:
        return np.fromiter((_is_invalid_utf8(piece) for piece in pieces.to_pylist()), np.bool_, starts.size)
    return None


def _is_invalid_utf8(piece: Any) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return True
    return False
