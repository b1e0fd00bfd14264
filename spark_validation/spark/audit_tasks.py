"""Audit of many ranges as Spark tasks, which read them in the workers and return states, not records.

Samples, profiles, statistics and origins are the parts of a state that may be large: they are returned through files,
not through Spark's driver.
"""

from __future__ import annotations

import platform
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from pyspark.sql import SparkSession

from contractlog.compatibility.errors import ContractlogError, UsageError
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.spark_validation.expectations.audit_expectations import AuditExpectations
from contractlog.spark_validation.offset_ranges.audit import audit_range
from contractlog.spark_validation.offset_ranges.evidence_options import EvidenceOptions
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark.tasks import Progress, TaskSignals, run_tasks
from contractlog.spark_validation.state.state_files import read_values, write_values
from contractlog.spark_validation.state.state_merger import StateMerger
from contractlog.spark_validation.violations.violations_file import DEFAULT_MAX_BYTES

__all__ = ["audit_ranges"]

SAMPLED_VALUES: Final = 400_000  #: maximum per task
_DEFAULT_EVIDENCE: Final = EvidenceOptions()
_VALUES: Final = ".values-"  #: folders of a dataset that begin with a dot are not read


def audit_ranges(
    session: SparkSession,
    source: RecordSource,
    ranges: Sequence[OffsetRange],
    expectations: AuditExpectations,
    violations: Path,
    *,
    cap: int | None = DEFAULT_MAX_BYTES,
    evidence: EvidenceOptions = _DEFAULT_EVIDENCE,
    progress: Progress | None = None,
    duplicates: Counter[str] | None = None,
) -> AuditState:
    """Audit ranges on a cluster and return their merged state.

    Args:
        session: the Spark session.
        source: source of the records; must be reachable from the workers.
        ranges: the ranges to read; they do not overlap.
        expectations: the expected schemas.
        violations: a folder that the workers can write and this process can read; each range has one file, even if it
        is read again.
        cap: maximum number of bytes of a violating key or value in these files; None: all.
        evidence: what the state holds about who wrote the records, and about examples of violations.
        progress: called regularly with the number of offsets done so far.
        duplicates: receives the number of records that were skipped by topic, as their offset occurs twice.

    Raises:
        Unreachable: the source stopped responding.
        SparkFailed: Spark, Java or a worker raised an error that is not one of contractlog's.
    """
    if not ranges:
        return AuditState()
    try:
        results = run_tasks(
            session,
            ranges,
            expectations,
            lambda shared, signals: AuditTask(source, shared, violations, cap, evidence, signals),
            progress=progress,
        )
        return _merge_results(results, Counter() if duplicates is None else duplicates)
    finally:
        for folder in violations.glob(f"{_VALUES}*"):
            shutil.rmtree(folder, ignore_errors=True)


def _merge_results(results: Iterable[TaskResult], duplicates: Counter[str]) -> AuditState:
    merger = StateMerger()
    for outcome in results:
        merger.add(outcome.state.merge(read_values(outcome.values)))
        shutil.rmtree(outcome.values, ignore_errors=True)
        duplicates.update(outcome.duplicates)
    return merger.result()


@dataclass(frozen=True)
class TaskResult:
    """The state returned by a task, the folder of its parts that may be large, and duplicates by topic."""

    state: AuditState
    values: Path
    duplicates: Mapping[str, int]


@dataclass(frozen=True)
class AuditTask:
    """Function run by a worker: audits the ranges of one task, with one reader."""

    source: RecordSource
    expectations: Any  #: a broadcast ``AuditExpectations``
    violations: Path
    cap: int | None
    evidence: EvidenceOptions
    signals: TaskSignals

    def __call__(self, packed: Iterable[Sequence[OffsetRange]]) -> Iterator[TaskResult | ContractlogError]:
        """Yield one result, or an error of ours, which is not raised because a retry would not fix it."""
        merger = StateMerger(SAMPLED_VALUES)
        ranges = list(chain.from_iterable(packed))
        try:
            if not self.violations.is_dir():
                raise UsageError(
                    f"the worker on {platform.node()} does not have {self.violations.parent}, the folder for results: "
                    "all machines of the cluster must share it (--out; for contractlog lineage, TMPDIR)"
                )
            with self.source.open(ranges) as reader:
                for offsets in ranges:
                    range_state = audit_range(
                        reader,
                        offsets,
                        self.expectations.value,
                        self.violations,
                        cap=self.cap,
                        evidence=self.evidence,
                    )
                    merger.add(range_state)
                    self.signals.count(offsets)
                duplicates = dict(reader.duplicates)
            result = merger.result()
        except ContractlogError as error:
            self.signals.fail(error)
            yield error
        else:
            yield self._result(result, duplicates)

    def _result(self, state: AuditState, duplicates: Mapping[str, int]) -> TaskResult:
        folder = self.violations / f"{_VALUES}{uuid4().hex}"
        folder.mkdir()
        write_values(state, folder)
        return TaskResult(replace(state, samples={}, profiles={}, statistics={}, origins={}), folder, duplicates)
