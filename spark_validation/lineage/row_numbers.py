"""Numbers and times of sampled rows, in clear.

Each is encoded as 12 bytes: the hash of the field's path and a 64-bit float.
They are read from canonical texts, so texts of digits are numbers, and times are microseconds since 1970 UTC. Integers
above 2**53 are rounded. Numbers so large or small that sums or quotients could leave the range of floats are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["MAX_NUMBER", "MIN_NUMBER", "decode_numbers", "encode_numbers", "parse_numbers"]

_NUMBERS: Final = np.dtype([("field", "<u4"), ("number", "<f8")])
_NUMBER: Final = r"^-?\d{1,18}(\.\d{1,18})?(e[+-]\d{1,3})?$"  # exponents as floats have them; 12e4 may be a text

MAX_NUMBER: Final = 1e100
MIN_NUMBER: Final = 1e-100  #: of numbers other than 0

Rows = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def parse_numbers(texts: pa.Array[Any]) -> Floats | None:
    """Return canonical texts as numbers, NaN for those that are none; None if none is."""
    matches: Any = pc.match_substring_regex(texts, _NUMBER)
    if not pc.any(matches).as_py():
        return None
    numbers = pc.if_else(matches, texts, pa.scalar(None, texts.type)).cast(pa.float64())
    floats = cast("Floats", numbers.fill_null(np.nan).to_numpy(zero_copy_only=False))
    sizes = np.abs(floats)
    return np.where((sizes == 0) | ((sizes >= MIN_NUMBER) & (sizes <= MAX_NUMBER)), floats, np.nan)


def encode_numbers(columns: Sequence[tuple[int, Rows, Floats]], rows_to_encode: Rows) -> list[bytes]:
    """Return the numbers of each wanted row; of repeated values, the first is used.

    Args:
        columns: of each field, the hash of its path, the row of each value, ascending, and the values.
        rows_to_encode: the wanted rows, ascending.
    """
    columns = sorted(columns, key=lambda column: column[0])
    table = np.zeros((len(rows_to_encode), len(columns)), _NUMBERS)
    present = np.zeros(table.shape, bool)
    for index, (field, field_rows, values) in enumerate(columns):
        rows, firsts = np.unique(field_rows, return_index=True)
        indexes = np.minimum(np.searchsorted(rows, rows_to_encode), len(rows) - 1)
        numbers = values[firsts[indexes]]
        present[:, index] = (rows[indexes] == rows_to_encode) & np.isfinite(numbers)
        table["field"][:, index], table["number"][:, index] = field, numbers
    flat = table[present].tobytes()
    ends = (np.cumsum(present.sum(axis=1)) * _NUMBERS.itemsize).tolist()
    return [flat[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def decode_numbers(rows: Sequence[bytes], fields: Sequence[int]) -> Floats:
    """Return the numbers by row and field; NaN where a row has none.

    Args:
        rows: the results of ``encode_numbers``.
        fields: the hashes of the fields' paths.
    """
    ids = np.array(fields, np.uint32)
    order = np.argsort(ids)
    flat = np.frombuffer(b"".join(rows), _NUMBERS)
    at = np.repeat(np.arange(len(rows)), [len(row) // _NUMBERS.itemsize for row in rows])
    indexes = np.minimum(np.searchsorted(ids[order], flat["field"]), len(ids) - 1)
    matching = ids[order][indexes] == flat["field"]
    numbers = np.full((len(rows), len(ids)), np.nan)
    numbers[at[matching], order[indexes[matching]]] = flat["number"][matching]
    return numbers
