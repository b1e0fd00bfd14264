"""64-bit hashes of Arrow values, without Python objects.

Equal integers and floating-point numbers have equal hashes; decimals are hashed as text, with their scale. The hash of
a text is a sum of its bytes, each times a
number that belongs to its position. It is for statistics: values that collide on purpose only make a count of distinct
values too low.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from contractlog.spark_validation.columnar.arrow import read_numbers

__all__ = ["hash_positions", "hash_values"]

Words = NDArray[np.uint64]
_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_POSITIONS: Final = 4096
_EXACT_FLOAT: Final = 2.0**63


def hash_values(values: pa.Array[Any]) -> Words:
    """Return the hash of each value of an array without nulls."""
    kind = values.type
    if pa.types.is_floating(kind):
        return _hash_floats(np.asarray(values.cast(pa.float64())))
    if pa.types.is_decimal(kind):
        return _hash_texts(values.cast(pa.large_string()).cast(pa.large_binary()))
    if _is_text(kind):
        return _hash_texts(values.cast(pa.large_binary()))
    if pa.types.is_date(kind):
        values = values.cast(pa.int32())
    return _mix(np.asarray(values.cast(pa.int64())).astype(np.uint64))


def hash_positions(partition: int, offsets: NDArray[np.int64]) -> Words:
    """Return the hash of the position of each record of a partition."""
    return _mix(offsets.astype(np.uint64) ^ _mix(np.array([partition], np.uint64)))


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    ) or bool(types.is_fixed_size_binary(kind))


def _hash_floats(numbers: NDArray[np.float64]) -> Words:
    """Hash whole numbers as integers, others by their bits."""
    whole = np.isfinite(numbers) & (np.abs(numbers) < _EXACT_FLOAT)
    whole[whole] = np.trunc(numbers[whole]) == numbers[whole]
    words = numbers.view(np.uint64) ^ _SECOND
    words[whole] = numbers[whole].astype(np.int64).astype(np.uint64)
    return _mix(words)


def _hash_texts(values: pa.Array[Any]) -> Words:
    _, offsets, data = values.buffers()
    if not len(values) or offsets is None:
        return np.zeros(0, np.uint64)
    ends = read_numbers(offsets, np.int64)[values.offset : values.offset + len(values) + 1]
    first = int(ends[0])
    starts = ends[:-1] - first
    lengths = np.diff(ends)
    size = int(ends[-1]) - first
    content = read_numbers(data, np.uint8)[first : first + size]
    positions = np.arange(size) - np.repeat(starts, lengths)
    factors = _FACTORS[positions % _POSITIONS] * (2 * (positions // _POSITIONS) + 1).astype(np.uint64)
    sums = np.zeros(size + 1, np.uint64)
    np.cumsum((content.astype(np.uint64) + np.uint64(1)) * factors, out=sums[1:])
    return _mix((sums[starts + lengths] - sums[starts]) ^ _mix(lengths.astype(np.uint64)))


def _mix(words: Words) -> Words:
    """Return well-spread words, a bijection."""
    mixed = words + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
    return np.asarray(mixed ^ (mixed >> np.uint64(31)), np.uint64)


_FACTORS: Final = _mix(np.arange(_POSITIONS, dtype=np.uint64)) | np.uint64(1)
