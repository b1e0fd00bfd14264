"""Conversions between numpy and Arrow without copies."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

__all__ = ["from_numpy", "pick", "read_numbers", "to_buffer"]

Number = TypeVar("Number", bound=np.generic)


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
