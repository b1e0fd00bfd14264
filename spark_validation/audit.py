"""One pass over a range of offsets, without Spark: records in, a state out; the bytes go no further."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from contractlog.contracts.observed.bounds import MAX_FIELDS, bounded
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.report import PARTS, Part
from contractlog.contracts.observed.states import AuditState, Coverage
from contractlog.spark_validation.columnar.validate import Checked, check_part
from contractlog.spark_validation.counting import NO_TIME, cells_of, milliseconds, violations_of
from contractlog.spark_validation.lineage.sampling import sample
from contractlog.spark_validation.plan import Plan
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import Source
from contractlog.spark_validation.validators import Validators
from contractlog.spark_validation.violations import CAPPED, ViolationsFile

__all__ = ["audit_range"]


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
    times = milliseconds(batch.column("timestamp"))
    places = np.asarray(batch.column("offset"))
    columns = sorted(checked.columns, key=lambda column: column.field)[:MAX_FIELDS]
    samples = sample(columns, np.where(times == NO_TIME, 0, times), offsets.partition, places)
    return AuditState(
        cells=cells_of(offsets, part, checked, times),
        violations=violations_of(offsets, part, checked, times, places),
        samples={(offsets.topic, part, field): taken for field, taken in samples.items()},
    )
