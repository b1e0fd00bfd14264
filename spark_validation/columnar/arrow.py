"""Conversions between numpy and Arrow without copies, and slices of a batch's bytes."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["find_invalid_utf8", "from_numpy", "gather_slices", "pick", "read_numbers", "to_buffer"]

Number = TypeVar("Number", bound=np.generic)
_ASCII_END = 0x80


def read_numbers(buffer: pa.Buffer | None, kind: type[Number]) -> NDArray[Number]:
    """Return a buffer's content as numbers; empty if there is no buffer."""
    return np.frombuffer(buffer, kind) if buffer else np.zeros(0, kind)  # type: ignore[call-overload]


def to_buffer(array: NDArray[Any]) -> pa.Buffer:
    """Return an array's memory as a buffer."""
    return pa.py_buffer(np.ascontiguousarray(array))  # type: ignore[arg-type]


def from_numpy(array: NDArray[Any]) -> Any:
    """Return a numpy array as an Arrow array of the same type."""
    return pa.array(array)


def pick(values: pa.Array[Any], where: NDArray[np.intp]) -> pa.Array[Any]:
    """Return the values at some positions."""
    return values.take(from_numpy(where))


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
