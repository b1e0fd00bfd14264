"""Audit of a range of offsets in one pass, without Spark; returns a state, not the records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import PARTS, Part
from contractlog.contracts.audit.state import (
    MAX_EXAMPLES,
    MAX_FIELDS,
    AuditState,
    Cell,
    CellKey,
    Coverage,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
    limit_state,
)
from contractlog.spark_validation.columnar.frames import Guids, read_schema_headers
from contractlog.spark_validation.columnar.validation import ColumnOutcomes, validate_column
from contractlog.spark_validation.expectations import AuditExpectations, PartExpectation, ValidatorCache
from contractlog.spark_validation.lineage.sampling import sample_fields
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RangeSource
from contractlog.spark_validation.violations_file import DEFAULT_MAX_BYTES, ViolationsFile

__all__ = ["NO_TIME", "audit_range", "count_cells", "count_violations", "to_milliseconds"]

Numbers = npt.NDArray[np.int64]
NO_TIME: Final = np.iinfo(np.int64).min
FIRST_OF_NONE: Final = int(np.iinfo(np.int64).max)  #: neutral for min and max, so merging stays exact
LAST_OF_NONE: Final = int(np.iinfo(np.int64).min)
DAY: Final = 86_400_000
NO_DAY: Final = 1 << 22  #: beyond all days of the years 1 to 9999
_EPOCH: Final = date(1970, 1, 1)


def audit_range(
    source: RangeSource,
    offsets: OffsetRange,
    expectations: AuditExpectations,
    violations: Path | None = None,
    *,
    cap: int | None = DEFAULT_MAX_BYTES,
) -> AuditState:
    """Validate every record of a range against the schema whose id it carries, and return the state.

    Args:
        source: source of the records.
        offsets: the range; ``audit_range(A + B) == audit_range(A).merge(audit_range(B))``.
        expectations: the expected schemas.
        violations: an existing folder, in which a file with every violating record is written.
        cap: maximum number of bytes of a violating key or value in that file; None: all.

    Raises:
        Unreachable: the source stopped responding.
    """
    state, records = AuditState(), 0
    checks = {part: _PartCheck.of(expectations, offsets.topic, part) for part in PARTS}
    with ExitStack() as stack:
        file = None if violations is None else stack.enter_context(ViolationsFile(violations, offsets, cap=cap))
        for batch in source.read(offsets):
            records += batch.num_rows
            for part in PARTS:
                checked = _validate_batch(batch, part, expectations, checks[part])
                state = state.merge(_batch_state(batch, offsets, part, checked))
                if file is not None:
                    file.add(batch, part, checked)
    coverage = Coverage(offsets.topic, offsets.partition, offsets.start, offsets.end, records)
    return limit_state(state.merge(AuditState(frozenset({coverage}))))


@dataclass(frozen=True, slots=True)
class _PartCheck:
    """Everything that the records of one part are checked against."""

    expectation: PartExpectation
    validators: ValidatorCache
    guids: Guids
    names: Mapping[int, str]  #: descriptions of ids of wrong subjects

    @classmethod
    def of(cls, expectations: AuditExpectations, topic: str, part: Part) -> _PartCheck:
        validators = expectations.validators(topic, part)
        return cls(
            expectations.parts[topic, part],
            validators,
            expectations.guids_of(topic, part),
            expectations.wrong_subjects(topic, part),
        )


def _validate_batch(
    batch: pa.RecordBatch, part: Part, expectations: AuditExpectations, check: _PartCheck
) -> ColumnOutcomes:
    bodies = batch.column(part)
    if check.expectation.audited:
        return validate_column(
            cast("pa.BinaryArray", bodies),
            check.validators,
            check.expectation.allowed,
            columns=expectations.samples,
            heads=read_schema_headers(batch.column("headers"), part),
            guids=check.guids,
            names=check.names,
        )
    absent = np.asarray(bodies.is_null())
    codes = np.where(absent, Outcome.TOMBSTONE, Outcome.UNAUDITED).astype(np.uint8)
    return ColumnOutcomes(codes, np.zeros(len(codes), np.int64), np.full(len(codes), -1, np.int32), [], {}, [])


def _batch_state(batch: pa.RecordBatch, offsets: OffsetRange, part: Part, checked: ColumnOutcomes) -> AuditState:
    times = to_milliseconds(batch.column("timestamp"))
    offset_numbers = np.asarray(batch.column("offset"))
    fields = sorted({column.field for column in checked.columns})
    stored_fields = frozenset(fields[:MAX_FIELDS])
    columns = [column for column in checked.columns if column.field in stored_fields]
    samples = sample_fields(columns, np.where(times == NO_TIME, 0, times), offsets.partition, offset_numbers)
    return AuditState(
        cells=count_cells(offsets, part, checked, times),
        violations=count_violations(offsets, part, checked, times, offset_numbers),
        samples={(offsets.topic, part, field): sample for field, sample in samples.items()},
        unsampled=frozenset((offsets.topic, part, field) for field in fields[MAX_FIELDS:]),
    )


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
    offsets: OffsetRange, part: Part, checked: ColumnOutcomes, times: Numbers, offset_numbers: Numbers
) -> dict[ViolationKey, ViolationCounts]:
    """Count the violating records of a part by kind, each with its lowest offsets as examples.

    A kind is an outcome, a schema id, a schema path and a field.
    """
    bad = np.flatnonzero(checked.codes >= Outcome.NOT_FRAMED)
    nodes = checked.paths[bad].astype(np.int64)
    violations: dict[ViolationKey, ViolationCounts] = {}
    for node, schema_id, outcome, chosen in _group_rows(nodes, checked.schema_ids[bad], checked.codes[bad]):
        path, field = checked.path_table[node] if node >= 0 else ("", "")
        rows = bad[chosen]
        rows = rows[np.argsort(offset_numbers[rows], kind="stable")]
        violation = ViolationCounts(
            len(rows),
            *_time_range(times[rows]),
            tuple(ViolationExample(offsets.partition, int(offset)) for offset in offset_numbers[rows[:MAX_EXAMPLES]]),
            checked.details.get(int(rows[0]), ""),
        )
        key = ViolationKey(offsets.topic, part, outcome, schema_id, path, field)
        violations[key] = violations[key].merge(violation) if key in violations else violation
    return violations


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
    present = times[times != NO_TIME]
    return (int(present.min()), int(present.max())) if len(present) else (FIRST_OF_NONE, LAST_OF_NONE)
