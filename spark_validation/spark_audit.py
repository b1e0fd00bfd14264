"""Audit of many ranges as Spark tasks, which read them in the workers and return states, not records.

Samples are the one part of a state that may be large: they are returned through files, not through Spark's driver.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from contractlog.compatibility.errors import ContractlogError
from contractlog.contracts.audit.state import AuditState
from contractlog.spark_validation.evidence_options import EvidenceOptions
from contractlog.spark_validation.expectations import AuditExpectations
from contractlog.spark_validation.range_audit import audit_range
from contractlog.spark_validation.session import SparkFailed
from contractlog.spark_validation.sources.records import OffsetRange, count_offsets
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.state_files import read_samples, write_samples
from contractlog.spark_validation.state_merger import StateMerger
from contractlog.spark_validation.violations_file import DEFAULT_MAX_BYTES

__all__ = [
    "TASKS",
    "TASKS_PER_CORE",
    "ErrorList",
    "Progress",
    "audit_ranges",
    "pack_ranges",
    "run_job",
    "split_for_tasks",
]

RANGES: Final = 64  #: target number of ranges
MIN_RANGE, MAX_RANGE = 25_000, 1_000_000  #: offsets of a range
TASKS: Final = 64  #: maximum number, if the cluster has few cores
TASKS_PER_CORE: Final = 4
TASK_WORK: Final = 10_000  #: offsets of a task, at least, unless there are fewer
RANGE_WORK: Final = 200  #: offsets that would be read in the time that a range takes besides its records
MAX_WORK: Final = 1_000_000  #: offsets; a longer range has a hole
TICK: Final = 0.25  #: seconds
SAMPLED_VALUES: Final = 400_000  #: maximum per task
_DEFAULT_EVIDENCE: Final = EvidenceOptions()
_SAMPLES: Final = ".samples-"  #: folders of a dataset that begin with a dot are not read

T = TypeVar("T")
Progress = Callable[[int], None]  #: called with the number of offsets done so far


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
    context = session.sparkContext
    done = context.accumulator(0)
    failed = context.accumulator([], ErrorList())
    shared = context.broadcast(expectations)
    task = AuditTask(source, shared, violations, cap, evidence, done, failed)

    def tick() -> None:
        if failed.value:  # other tasks that wait would fail in the same way, one after another
            raise failed.value[0]
        if progress is not None:
            progress(int(done.value))

    try:
        packed = pack_ranges(ranges, max(TASKS, TASKS_PER_CORE * context.defaultParallelism))
        outcomes = run_job(
            context,
            lambda: context.parallelize(packed, len(packed)).mapPartitions(task).collect(),
            tick,
        )
        return _merge_results(outcomes, Counter() if duplicates is None else duplicates)
    finally:
        with suppress(Py4JError, OSError):  # if the Java process has ended, nothing is left to destroy
            shared.destroy()
        for folder in violations.glob(f"{_SAMPLES}*"):
            shutil.rmtree(folder, ignore_errors=True)


def split_for_tasks(source: RecordSource, ranges: Sequence[OffsetRange]) -> list[OffsetRange]:
    """Split ranges so that cores share the work evenly, and progress is visible."""
    span = min(max(count_offsets(ranges) // RANGES, MIN_RANGE), MAX_RANGE)
    return source.split(ranges, span)


def pack_ranges(ranges: Sequence[OffsetRange], maximum: int) -> list[list[OffsetRange]]:
    """Pack consecutive ranges into tasks of about the same work, each worth its start.

    Args:
        ranges: at least one range.
        maximum: maximum number of tasks.
    """
    works = [min(offsets.end - offsets.start, MAX_WORK) + RANGE_WORK for offsets in ranges]
    tasks = min(len(ranges), maximum, max(sum(works) // TASK_WORK, 1))
    packed: list[list[OffsetRange]] = []
    done, share = 0, sum(works) / tasks
    for offsets, work in zip(ranges, works, strict=True):
        if not packed or done + work / 2 > len(packed) * share:  # its middle belongs to the next task
            packed.append([])
        packed[-1].append(offsets)
        done += work
    return packed


def _merge_results(outcomes: Iterable[TaskResult | ContractlogError], duplicates: Counter[str]) -> AuditState:
    merger = StateMerger()
    for outcome in outcomes:
        if isinstance(outcome, ContractlogError):
            raise outcome
        result = outcome.state
        if outcome.samples is not None:
            result = replace(result, samples=read_samples(outcome.samples))
            shutil.rmtree(outcome.samples, ignore_errors=True)
        duplicates.update(outcome.duplicates)
        merger.add(result)
    return merger.result()


@dataclass(frozen=True)
class TaskResult:
    """The state returned by a task, the folder of its samples, and duplicates by topic."""

    state: AuditState
    samples: Path | None
    duplicates: Mapping[str, int]


@dataclass(frozen=True)
class AuditTask:
    """Function run by a worker: audits the ranges of one task, with one reader."""

    source: RecordSource
    expectations: Any  #: a broadcast ``AuditExpectations``
    violations: Path
    cap: int | None
    evidence: EvidenceOptions
    done: Any  #: an accumulator of offsets
    failed: Any  #: an accumulator of errors

    def __call__(self, packed: Iterable[Sequence[OffsetRange]]) -> Iterator[TaskResult | ContractlogError]:
        """Yield one result, or an error of ours, which is not raised because a retry would not fix it."""
        merger = StateMerger(SAMPLED_VALUES)
        ranges = [offsets for task_ranges in packed for offsets in task_ranges]
        try:
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
                    self.done.add(len(offsets))
                duplicates = dict(reader.duplicates)
            result = merger.result()
        except ContractlogError as error:
            self.failed.add([error])
            yield error
        else:
            yield self._result(result, duplicates)

    def _result(self, state: AuditState, duplicates: Mapping[str, int]) -> TaskResult:
        if not state.samples:
            return TaskResult(state, None, duplicates)
        folder = self.violations / f"{_SAMPLES}{uuid4().hex}"
        folder.mkdir()
        write_samples(state.samples, folder)
        return TaskResult(replace(state, samples={}), folder, duplicates)


class ErrorList(AccumulatorParam[list[ContractlogError]]):
    """Errors of all tasks, in order of arrival."""

    def zero(self, value: list[ContractlogError]) -> list[ContractlogError]:
        """Return the empty list."""
        return value[:0]

    def addInPlace(  # noqa: N802 - Spark's name
        self, value1: list[ContractlogError], value2: list[ContractlogError]
    ) -> list[ContractlogError]:
        """Return both lists together."""
        return value1 + value2


def run_job(context: SparkContext, job: Callable[[], list[T]], tick: Callable[[], object]) -> list[T]:
    """Run a job in a separate thread, so that an interruption does not break the communication with Java.

    An interruption cancels this job only, as the session may also run jobs of others.
    """
    tag = f"contractlog-{uuid4().hex}"

    def run_with_tag() -> list[T]:
        try:
            context.addJobTag(tag)  # applies to this thread
            return job()
        except Exception as error:
            raise SparkFailed.of(error) from error

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(run_with_tag)
        try:
            while wait([running], TICK).not_done:
                tick()
        except BaseException:
            while not running.done():  # the job may not have started when it is first cancelled
                with suppress(Py4JError, OSError):
                    context.cancelJobsWithTag(tag)
                wait([running], TICK)
            raise
        tick()
        return running.result()
