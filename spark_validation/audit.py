"""One pass over a range of offsets, without Spark: records in, a state out; the bytes go no further."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from contractlog.contracts.observed.bounds import MAX_FIELDS, bounded
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.report import Part
from contractlog.contracts.observed.states import (
    MAX_EXAMPLES,
    AuditState,
    Cell,
    CellKey,
    Coverage,
    Example,
    Violation,
    ViolationKey,
)
from contractlog.contracts.observed.summary import PARTS
from contractlog.spark_validation.columnar.validate import Checked, check_part
from contractlog.spark_validation.lineage.sampling import sample
from contractlog.spark_validation.plan import Plan
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import Source
from contractlog.spark_validation.validators import Validators
from contractlog.spark_validation.violations import CAPPED, ViolationsFile

__all__ = ["audit_range"]

Numbers = npt.NDArray[np.int64]

NO_TIME: Final = np.iinfo(np.int64).min
FIRST_OF_NONE: Final = int(np.iinfo(np.int64).max)  #: neutral to min and max, so merging stays exact
LAST_OF_NONE: Final = int(np.iinfo(np.int64).min)
DAY: Final = 86_400_000
NO_DAY: Final = 1 << 22  #: no day of the years 1 to 9999
_EPOCH: Final = date(1970, 1, 1)


def audit_range(
    source: Source, offsets: OffsetRange, plan: Plan, violations: Path | None = None, *, cap: int | None = CAPPED
) -> AuditState:
    """Hold every record of a range against the schema whose id it carries.

    Args:
        source: where the records are.
        offsets: the range; ``audit_range(A + B) == audit_range(A).merged(audit_range(B))``.
        plan: what to hold them against.
        violations: a folder that exists and gets a file with every violating record.
        cap: how many bytes of a violating key or value are kept there; None: all.

    Raises:
        Unreachable: the source stopped answering.
    """
    state, records = AuditState(), 0
    validators = {part: plan.validators(offsets.topic, part) for part in PARTS}
    with ExitStack() as stack:
        file = None if violations is None else stack.enter_context(ViolationsFile(violations, offsets, cap=cap))
        for batch in source.read(offsets):
            records += batch.num_rows
            for part in PARTS:
                checked = _checked(batch, part, plan, validators[part])
                state = state.merged(_observed(batch, offsets, part, checked))
                if file is not None:
                    file.add(batch, part, checked)
    coverage = Coverage(offsets.topic, offsets.partition, offsets.start, offsets.end, records)
    return bounded(state.merged(AuditState(frozenset({coverage}))))


def _checked(batch: pa.RecordBatch, part: Part, plan: Plan, validators: Validators) -> Checked:
    expectation = plan.parts[batch.column("topic")[0].as_py(), part]
    bodies = batch.column(part)
    if expectation.audited:
        return check_part(cast("pa.BinaryArray", bodies), validators, expectation.allowed, columns=True)
    absent = np.asarray(bodies.is_null())
    codes = np.where(absent, Outcome.TOMBSTONE, Outcome.UNAUDITED).astype(np.uint8)
    return Checked(codes, np.zeros(len(codes), np.int32), np.full(len(codes), -1, np.int32), [], {}, [])


def _observed(batch: pa.RecordBatch, offsets: OffsetRange, part: Part, checked: Checked) -> AuditState:
    times = _milliseconds(batch.column("timestamp"))
    places = np.asarray(batch.column("offset"))
    columns = sorted(checked.columns, key=lambda column: column.field)[:MAX_FIELDS]
    samples = sample(columns, np.where(times == NO_TIME, 0, times), offsets.partition, places)
    return AuditState(
        cells=_cells(offsets, part, checked, times),
        violations=_violations(offsets, part, checked, times, places),
        samples={(offsets.topic, part, field): taken for field, taken in samples.items()},
    )


def _milliseconds(timestamps: pa.Array[Any]) -> Numbers:
    """Return milliseconds since 1970, ``NO_TIME`` for null."""
    times = np.asarray(timestamps.cast(pa.int64()).fill_null(0)) // 1000
    return np.where(np.asarray(timestamps.is_null()), NO_TIME, times)


# --- counting


def _cells(offsets: OffsetRange, part: Part, checked: Checked, times: Numbers) -> dict[CellKey, Cell]:
    days = np.where(times == NO_TIME, NO_DAY, times // DAY)
    packed = (days << 40) | ((checked.schema_ids.astype(np.int64) & 0xFFFFFFFF) << 8) | checked.codes
    cells: dict[CellKey, Cell] = {}
    for group, rows in _groups(packed):
        day, schema_id, outcome = group >> 40, (group >> 8) & 0xFFFFFFFF, Outcome(group & 0xFF)
        window = "" if day == NO_DAY else (_EPOCH + timedelta(days=day)).isoformat()
        key = CellKey(offsets.topic, part, offsets.partition, window, schema_id)
        cell = Cell({outcome: len(rows)}, *_seen(times[rows]))
        cells[key] = cells[key].merged(cell) if key in cells else cell
    return cells


def _violations(
    offsets: OffsetRange, part: Part, checked: Checked, times: Numbers, places: Numbers
) -> dict[ViolationKey, Violation]:
    bad = np.flatnonzero(checked.codes >= Outcome.NOT_FRAMED)
    codes, ids, nodes = (column[bad].astype(np.int64) for column in (checked.codes, checked.schema_ids, checked.places))
    packed = ((nodes + 1) << 40) | ((ids & 0xFFFFFFFF) << 8) | codes
    found: dict[ViolationKey, Violation] = {}
    for group, chosen in _groups(packed):
        node, schema_id, outcome = (group >> 40) - 1, (group >> 8) & 0xFFFFFFFF, Outcome(group & 0xFF)
        path, field = checked.places_table[node] if node >= 0 else ("", "")
        rows = bad[chosen]
        rows = rows[np.argsort(places[rows], kind="stable")]
        violation = Violation(
            len(rows),
            *_seen(times[rows]),
            tuple(Example(offsets.partition, int(place)) for place in places[rows[:MAX_EXAMPLES]]),
            checked.details.get(int(rows[0]), ""),
        )
        key = ViolationKey(offsets.topic, part, outcome, schema_id, path, field)
        found[key] = found[key].merged(violation) if key in found else violation
    return found


def _groups(keys: Numbers) -> Iterator[tuple[int, Numbers]]:
    """Yield each key with the rows that have it, ascending."""
    order = np.argsort(keys, kind="stable")
    starts = np.flatnonzero(np.diff(keys[order], prepend=keys[order[:1]] - 1))
    for start, rows in zip(starts, np.split(order, starts[1:]), strict=False):
        yield int(keys[order[start]]), rows


def _seen(times: Numbers) -> tuple[int, int]:
    known = times[times != NO_TIME]
    return (int(known.min()), int(known.max())) if len(known) else (FIRST_OF_NONE, LAST_OF_NONE)
