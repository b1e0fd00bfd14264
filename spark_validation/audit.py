"""Audit of a range of offsets in one pass, without Spark; returns a state, not the records."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from contractlog.contracts.observed.bounds import MAX_FIELDS, bounded
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.report import PARTS, Part
from contractlog.contracts.observed.states import AuditState, Coverage
from contractlog.spark_validation.columnar.frames import Guids
from contractlog.spark_validation.columnar.headers import schema_headers
from contractlog.spark_validation.columnar.validate import Checked, check_part
from contractlog.spark_validation.counting import NO_TIME, cells_of, milliseconds, violations_of
from contractlog.spark_validation.lineage.sampling import sample
from contractlog.spark_validation.plan import Expectation, Plan
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import Source
from contractlog.spark_validation.validators import Validators
from contractlog.spark_validation.violations import CAPPED, ViolationsFile

__all__ = ["audit_range"]


def audit_range(
    source: Source, offsets: OffsetRange, plan: Plan, violations: Path | None = None, *, cap: int | None = CAPPED
) -> AuditState:
    """Validate every record of a range against the schema whose id it carries, and return the state.

    Args:
        source: source of the records.
        offsets: the range; ``audit_range(A + B) == audit_range(A).merged(audit_range(B))``.
        plan: the expected schemas.
        violations: an existing folder, in which a file with every violating record is written.
        cap: maximum number of bytes of a violating key or value in that file; None: all.

    Raises:
        Unreachable: the source stopped responding.
    """
    state, records = AuditState(), 0
    checks = {part: _Check.of(plan, offsets.topic, part) for part in PARTS}
    with ExitStack() as stack:
        file = None if violations is None else stack.enter_context(ViolationsFile(violations, offsets, cap=cap))
        for batch in source.read(offsets):
            records += batch.num_rows
            for part in PARTS:
                checked = _checked(batch, part, plan, checks[part])
                state = state.merged(_observed(batch, offsets, part, checked))
                if file is not None:
                    file.add(batch, part, checked)
    coverage = Coverage(offsets.topic, offsets.partition, offsets.start, offsets.end, records)
    return bounded(state.merged(AuditState(frozenset({coverage}))))


@dataclass(frozen=True, slots=True)
class _Check:
    """Everything that the records of one part are checked against."""

    expectation: Expectation
    validators: Validators
    guids: Guids
    names: Mapping[int, str]  #: descriptions of ids of wrong subjects

    @classmethod
    def of(cls, plan: Plan, topic: str, part: Part) -> _Check:
        validators = plan.validators(topic, part)
        return cls(plan.parts[topic, part], validators, plan.guids_of(topic, part), plan.wrong_subjects(topic, part))


def _checked(batch: pa.RecordBatch, part: Part, plan: Plan, check: _Check) -> Checked:
    bodies = batch.column(part)
    if check.expectation.audited:
        return check_part(
            cast("pa.BinaryArray", bodies),
            check.validators,
            check.expectation.allowed,
            columns=plan.samples,
            heads=schema_headers(batch.column("headers"), part),
            guids=check.guids,
            names=check.names,
        )
    absent = np.asarray(bodies.is_null())
    codes = np.where(absent, Outcome.TOMBSTONE, Outcome.UNAUDITED).astype(np.uint8)
    return Checked(codes, np.zeros(len(codes), np.int32), np.full(len(codes), -1, np.int32), [], {}, [])


def _observed(batch: pa.RecordBatch, offsets: OffsetRange, part: Part, checked: Checked) -> AuditState:
    times = milliseconds(batch.column("timestamp"))
    places = np.asarray(batch.column("offset"))
    fields = sorted({column.field for column in checked.columns})
    kept = frozenset(fields[:MAX_FIELDS])
    columns = [column for column in checked.columns if column.field in kept]
    samples = sample(columns, np.where(times == NO_TIME, 0, times), offsets.partition, places)
    return AuditState(
        cells=cells_of(offsets, part, checked, times),
        violations=violations_of(offsets, part, checked, times, places),
        samples={(offsets.topic, part, field): taken for field, taken in samples.items()},
        unsampled=frozenset((offsets.topic, part, field) for field in fields[MAX_FIELDS:]),
    )
