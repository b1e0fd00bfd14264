"""Values of one expression for all records of a batch, with the records in which it is null or fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

__all__ = ["Mask", "NotColumnar", "Vector", "as_bool", "join_masks", "require_values", "to_mask"]

Mask: TypeAlias = NDArray[np.bool_]


class NotColumnar(Exception):
    """Columns cannot have the result of the rule, which must be evaluated per record."""


@dataclass(frozen=True, slots=True)
class Vector:
    """Values by record; those that are null or that failed are arbitrary.

    Numbers and bools are numpy arrays, texts and bytes are Arrow arrays; constants are numpy or Arrow scalars.
    """

    values: Any
    errors: Mask | None = None  #: records in which the evaluation failed; None if there are none
    nulls: Mask | None = None  #: records in which the value is null; None if there are none


def join_masks(*masks: Mask | None) -> Mask | None:
    """Return the records that any mask has."""
    joined: Mask | None = None
    for mask in masks:
        if mask is not None:
            joined = mask if joined is None else joined | mask
    return joined


def require_values(*vectors: Vector) -> Mask | None:
    """Return the errors of an operation that fails for null."""
    return join_masks(*(mask for vector in vectors for mask in (vector.errors, vector.nulls)))


def to_mask(values: Any) -> Any:
    """Return bools of Arrow as those of numpy; null is false."""
    if isinstance(values, pa.Scalar):
        return np.bool_(bool(values.as_py()))
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return pc.fill_null(values, False).to_numpy(zero_copy_only=False)  # noqa: FBT003 -- Arrow's signature


def as_bool(vector: Vector) -> tuple[Any, Any]:
    """Return the records in which an operand is true, and those in which it fails or is null."""
    errors = require_values(vector)
    if errors is None:
        return vector.values, np.False_
    return vector.values & ~errors, errors
