"""An audit of many ranges as Spark tasks: each reads ranges where it runs and hands back states, never records.

Samples are the one part of a state that may be large: they come back through files, not through Spark's driver.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
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
from contractlog.contracts.observed.bounds import bounded, limit_samples
from contractlog.contracts.observed.states import AuditState
from contractlog.spark_validation.audit import audit_range
from contractlog.spark_validation.errors import SparkFailed
from contractlog.spark_validation.lineage.tables import read_samples, write_samples
from contractlog.spark_validation.plan import Plan
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import Source
from contractlog.spark_validation.violations import CAPPED

__all__ = ["audit_ranges"]

TASKS: Final = 64  #: at least as many, if there are ranges enough
TASKS_PER_CORE: Final = 4
TICK: Final = 0.25  #: seconds
SAMPLED_VALUES: Final = 400_000  #: of one task
_SAMPLES: Final = ".samples-"  #: folders of a dataset that begin with a dot are not read

T = TypeVar("T")
Progress = Callable[[int], None]  #: is told how many offsets are done


def audit_ranges(
    session: SparkSession,
    source: Source,
    ranges: Sequence[OffsetRange],
    plan: Plan,
    violations: Path,
    *,
    cap: int | None = CAPPED,
    progress: Progress | None = None,
) -> AuditState:
    """Audit ranges on a cluster and return the state of all together.

    Args:
        session: where to run.
        source: where the records are; reachable from the workers.
        ranges: what to read; they do not overlap.
        plan: what to hold records against.
        violations: a folder that the workers can write to, and this process can read; each range leaves one file, also
            when it is read again.
        cap: how many bytes of a violating key or value are kept; None: all.
        progress: is told now and then how many offsets are done.

    Raises:
        Unreachable: the source stopped answering.
        SparkFailed: Spark, Java or a worker raised what is no error of ours.
    """
    if not ranges:
        return AuditState()
    context = session.sparkContext
    done = context.accumulator(0)
    failed = context.accumulator([], _Errors())
    shared = context.broadcast(plan)
    task = Task(source, shared, violations, cap, done, failed)

    def tick() -> None:
        if failed.value:  # the tasks that wait would only find the same, one after the other
            raise failed.value[0]
        if progress is not None:
            progress(int(done.value))

    try:
        tasks = min(len(ranges), max(TASKS, TASKS_PER_CORE * context.defaultParallelism))
        outcomes = _watched(
            context,
            lambda: context.parallelize(ranges, tasks).mapPartitions(task).collect(),
            tick,
        )
        return _together(outcomes)
    finally:
        with suppress(Py4JError, OSError):  # of a Java that has gone nothing is left to destroy
            shared.destroy()
        for folder in violations.glob(f"{_SAMPLES}*"):
            shutil.rmtree(folder, ignore_errors=True)


def _together(outcomes: Iterable[TaskResult | ContractlogError]) -> AuditState:
    state = AuditState()
    for outcome in outcomes:
        if isinstance(outcome, ContractlogError):
            raise outcome
        found = outcome.state
        if outcome.samples is not None:
            found = replace(found, samples=read_samples(outcome.samples))
            shutil.rmtree(outcome.samples, ignore_errors=True)
        state = limit_samples(bounded(state.merged(found)))
    return state


@dataclass(frozen=True)
class TaskResult:
    """The state that a task leaves, and the folder of its samples."""

    state: AuditState
    samples: Path | None


@dataclass(frozen=True)
class Task:
    """What a worker does with its ranges."""

    source: Source
    plan: Any  #: a broadcast ``Plan``
    violations: Path
    cap: int | None
    done: Any  #: an accumulator of offsets
    failed: Any  #: an accumulator of errors

    def __call__(self, ranges: Iterable[OffsetRange]) -> Iterator[TaskResult | ContractlogError]:
        """Yield one result, or what went wrong: an error of ours would not mend itself by trying again."""
        state = AuditState()
        try:
            for offsets in ranges:
                found = audit_range(self.source, offsets, self.plan.value, self.violations, cap=self.cap)
                state = limit_samples(bounded(state.merged(found)), SAMPLED_VALUES)
                self.done.add(len(offsets))
        except ContractlogError as error:
            self.failed.add([error])
            yield error
        else:
            yield self._result(state)

    def _result(self, state: AuditState) -> TaskResult:
        if not state.samples:
            return TaskResult(state, None)
        folder = self.violations / f"{_SAMPLES}{uuid4().hex}"
        folder.mkdir()
        write_samples(state.samples, folder)
        return TaskResult(replace(state, samples={}), folder)


class _Errors(AccumulatorParam[list[ContractlogError]]):
    """Errors of all tasks, in the order in which they became known."""

    def zero(self, value: list[ContractlogError]) -> list[ContractlogError]:
        """Return what nothing adds to."""
        return value[:0]

    def addInPlace(  # noqa: N802 - Spark's name
        self, value1: list[ContractlogError], value2: list[ContractlogError]
    ) -> list[ContractlogError]:
        """Return both together."""
        return value1 + value2


def _watched(context: SparkContext, job: Callable[[], list[T]], tick: Callable[[], object]) -> list[T]:
    """Run a job in a thread of its own, so that an interruption meets us and not the talk with Java.

    An interruption ends this job and no other one of a session that is not ours alone.
    """
    tag = f"contractlog-{uuid4().hex}"

    def tagged() -> list[T]:
        try:
            context.addJobTag(tag)  # holds for this thread
            return job()
        except Exception as error:
            raise SparkFailed.of(error) from error

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(tagged)
        try:
            while wait([running], TICK).not_done:
                tick()
        except BaseException:
            while not running.done():  # it may not have begun when it is cancelled first
                with suppress(Py4JError, OSError):
                    context.cancelJobsWithTag(tag)
                wait([running], TICK)
            raise
        tick()
        return running.result()
