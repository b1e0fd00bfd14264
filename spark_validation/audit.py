"""Audit of a range of offsets in one pass, without Spark; returns a state, not the records."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.report import PARTS, Part
from contractlog.contracts.audit.state import AuditState, Coverage
from contractlog.contracts.audit.state_limits import MAX_FIELDS, limit_state
from contractlog.spark_validation.columnar.frames import Guids
from contractlog.spark_validation.columnar.schema_headers import read_schema_headers
from contractlog.spark_validation.columnar.validation import ColumnOutcomes, validate_column
from contractlog.spark_validation.lineage.sampling import sample_fields
from contractlog.spark_validation.plan import AuditPlan, Expectation
from contractlog.spark_validation.record_counts import NO_TIME, count_cells, count_violations, to_milliseconds
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.validators import ValidatorCache
from contractlog.spark_validation.violations import DEFAULT_MAX_BYTES, ViolationsFile

__all__ = ["audit_range"]


def audit_range(
    source: RecordSource,
    offsets: OffsetRange,
    plan: AuditPlan,
    violations: Path | None = None,
    *,
    cap: int | None = DEFAULT_MAX_BYTES,
) -> AuditState:
    """Validate every record of a range against the schema whose id it carries, and return the state.

    Args:
        source: source of the records.
        offsets: the range; ``audit_range(A + B) == audit_range(A).merge(audit_range(B))``.
        plan: the expected schemas.
        violations: an existing folder, in which a file with every violating record is written.
        cap: maximum number of bytes of a violating key or value in that file; None: all.

    Raises:
        Unreachable: the source stopped responding.
    """
    state, records = AuditState(), 0
    checks = {part: _PartCheck.of(plan, offsets.topic, part) for part in PARTS}
    with ExitStack() as stack:
        file = None if violations is None else stack.enter_context(ViolationsFile(violations, offsets, cap=cap))
        for batch in source.read(offsets):
            records += batch.num_rows
            for part in PARTS:
                checked = _validate_batch(batch, part, plan, checks[part])
                state = state.merge(_batch_state(batch, offsets, part, checked))
                if file is not None:
                    file.add(batch, part, checked)
    coverage = Coverage(offsets.topic, offsets.partition, offsets.start, offsets.end, records)
    return limit_state(state.merge(AuditState(frozenset({coverage}))))


@dataclass(frozen=True, slots=True)
class _PartCheck:
    """Everything that the records of one part are checked against."""

    expectation: Expectation
    validators: ValidatorCache
    guids: Guids
    names: Mapping[int, str]  #: descriptions of ids of wrong subjects

    @classmethod
    def of(cls, plan: AuditPlan, topic: str, part: Part) -> _PartCheck:
        validators = plan.validators(topic, part)
        return cls(plan.parts[topic, part], validators, plan.guids_of(topic, part), plan.wrong_subjects(topic, part))


def _validate_batch(batch: pa.RecordBatch, part: Part, plan: AuditPlan, check: _PartCheck) -> ColumnOutcomes:
    bodies = batch.column(part)
    if check.expectation.audited:
        return validate_column(
            cast("pa.BinaryArray", bodies),
            check.validators,
            check.expectation.allowed,
            columns=plan.samples,
            heads=read_schema_headers(batch.column("headers"), part),
            guids=check.guids,
            names=check.names,
        )
    absent = np.asarray(bodies.is_null())
    codes = np.where(absent, Outcome.TOMBSTONE, Outcome.UNAUDITED).astype(np.uint8)
    return ColumnOutcomes(codes, np.zeros(len(codes), np.int64), np.full(len(codes), -1, np.int32), [], {}, [])


def _batch_state(batch: pa.RecordBatch, offsets: OffsetRange, part: Part, checked: ColumnOutcomes) -> AuditState:
    times = to_milliseconds(batch.column("timestamp"))
    places = np.asarray(batch.column("offset"))
    fields = sorted({column.field for column in checked.columns})
    kept = frozenset(fields[:MAX_FIELDS])
    columns = [column for column in checked.columns if column.field in kept]
    samples = sample_fields(columns, np.where(times == NO_TIME, 0, times), offsets.partition, places)
    return AuditState(
        cells=count_cells(offsets, part, checked, times),
        violations=count_violations(offsets, part, checked, times, places),
        samples={(offsets.topic, part, field): taken for field, taken in samples.items()},
        unsampled=frozenset((offsets.topic, part, field) for field in fields[MAX_FIELDS:]),
    )
