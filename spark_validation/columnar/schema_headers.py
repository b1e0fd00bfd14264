"""Schema ids and guids in record headers, the framing in which bodies have no prefix."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from contractlog.serdes.wire import KEY_ID_HEADER, VALUE_ID_HEADER
from contractlog.spark_validation.columnar.arrow import from_numpy

__all__ = ["read_schema_headers"]

_NAMES: Final[Mapping[str, str]] = MappingProxyType({"key": KEY_ID_HEADER, "value": VALUE_ID_HEADER})


def read_schema_headers(headers: pa.Array[Any], part: str) -> pa.Array[Any] | None:
    """Return each record's schema header value, null if it has none; None if no record has one.

    Of several headers with the name, the last one counts, as in deserializers.

    Args:
        headers: ``array<struct<key string, value binary>>``, null if a record has no headers.
        part: ``key`` or ``value``.
    """
    if headers.null_count == len(headers):
        return None
    entries: Any = pc.list_flatten(headers)
    named = np.flatnonzero(np.asarray(pc.equal(entries.field("key"), pa.scalar(_NAMES[part])).fill_null(False)))  # noqa: FBT003
    if not named.size:
        return None
    rows = np.asarray(pc.list_parent_indices(headers))[named]
    last = np.append(rows[1:] != rows[:-1], True)
    positions = np.full(len(headers), -1, np.int64)
    positions[rows[last]] = named[last]
    picked: pa.Array[Any] = entries.field("value").take(from_numpy(np.where(positions < 0, 0, positions)))
    missing = from_numpy(positions < 0)
    found: pa.Array[Any] = pc.if_else(missing, pa.nulls(len(headers), picked.type), picked)
    return found
