"""Counts of validated records: the cells and violations of a state."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import Part
from contractlog.contracts.audit.state import (
    MAX_EXAMPLES,
    Cell,
    CellKey,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
)
from contractlog.spark_validation.columnar.validation import ColumnOutcomes
from contractlog.spark_validation.sources.records import OffsetRange

__all__ = ["NO_TIME", "count_cells", "count_violations", "to_milliseconds"]

Numbers = npt.NDArray[np.int64]

NO_TIME: Final = np.iinfo(np.int64).min
FIRST_OF_NONE: Final = int(np.iinfo(np.int64).max)  #: neutral for min and max, so merging stays exact
LAST_OF_NONE: Final = int(np.iinfo(np.int64).min)
DAY: Final = 86_400_000
NO_DAY: Final = 1 << 22  #: beyond all days of the years 1 to 9999
_EPOCH: Final = date(1970, 1, 1)


def to_milliseconds(timestamps: pa.Array[Any]) -> Numbers:
    """Return timestamps in milliseconds since 1970, ``NO_TIME`` for null."""
    times = np.asarray(timestamps.cast(pa.int64()).fill_null(0)) // 1000
    return np.where(np.asarray(timestamps.is_null()), NO_TIME, times)


def count_cells(offsets: OffsetRange, part: Part, checked: ColumnOutcomes, times: Numbers) -> dict[CellKey, Cell]:
    """Count the records of a part by UTC day, schema id and outcome."""
    days = np.where(times == NO_TIME, NO_DAY, times // DAY)
    cells: dict[CellKey, Cell] = {}
    for day, schema_id, outcome, rows in _group_rows(days, checked.schema_ids, checked.codes):
        window = "" if day == NO_DAY else (_EPOCH + timedelta(days=day)).isoformat()
        key = CellKey(offsets.topic, part, offsets.partition, window, schema_id)
        cell = Cell({outcome: len(rows)}, *_time_range(times[rows]))
        cells[key] = cells[key].merge(cell) if key in cells else cell
    return cells


def count_violations(
    offsets: OffsetRange, part: Part, checked: ColumnOutcomes, times: Numbers, places: Numbers
) -> dict[ViolationKey, ViolationCounts]:
    """Count the violating records of a part by kind, each with its lowest offsets as examples.

    A kind is an outcome, a schema id, a schema path and a field.
    """
    bad = np.flatnonzero(checked.codes >= Outcome.NOT_FRAMED)
    nodes = checked.places[bad].astype(np.int64)
    found: dict[ViolationKey, ViolationCounts] = {}
    for node, schema_id, outcome, chosen in _group_rows(nodes, checked.schema_ids[bad], checked.codes[bad]):
        path, field = checked.places_table[node] if node >= 0 else ("", "")
        rows = bad[chosen]
        rows = rows[np.argsort(places[rows], kind="stable")]
        violation = ViolationCounts(
            len(rows),
            *_time_range(times[rows]),
            tuple(ViolationExample(offsets.partition, int(place)) for place in places[rows[:MAX_EXAMPLES]]),
            checked.details.get(int(rows[0]), ""),
        )
        key = ViolationKey(offsets.topic, part, outcome, schema_id, path, field)
        found[key] = found[key].merge(violation) if key in found else violation
    return found


def _group_rows(
    numbers: Numbers, schema_ids: Numbers, codes: npt.NDArray[np.uint8]
) -> Iterator[tuple[int, int, Outcome, Numbers]]:
    """Yield each (number, schema id, outcome), ascending, with the rows that have it."""
    keys = (numbers << 40) | (schema_ids << 8) | codes
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] - 1))
    for start, rows in zip(starts, np.split(order, starts[1:]), strict=False):
        first = order[start]
        yield int(numbers[first]), int(schema_ids[first]), Outcome(int(codes[first])), rows


def _time_range(times: Numbers) -> tuple[int, int]:
    known = times[times != NO_TIME]
    return (int(known.min()), int(known.max())) if len(known) else (FIRST_OF_NONE, LAST_OF_NONE)
