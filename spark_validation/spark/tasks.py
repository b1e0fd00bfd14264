"""Spark tasks on offset ranges: split and packing of ranges, and a job that can be interrupted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from contractlog.compatibility.errors import ContractlogError
from contractlog.spark_validation.sources.records import OffsetRange, count_offsets
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark.session import SparkFailed

__all__ = ["Progress", "TaskSignals", "pack_ranges", "run_tasks", "split_for_tasks"]

RANGES: Final = 64  #: target number of ranges
MIN_RANGE, MAX_RANGE = 25_000, 1_000_000  #: offsets of a range
TASKS: Final = 64  #: maximum number, if the cluster has few cores
TASKS_PER_CORE: Final = 4
TASK_WORK: Final = 10_000  #: offsets of a task, at least, unless there are fewer
RANGE_WORK: Final = 200  #: offsets that would be read in the time that a range takes besides its records
MAX_WORK: Final = 1_000_000  #: offsets; a longer range has a hole
TICK: Final = 0.25  #: seconds

T = TypeVar("T")
Progress = Callable[[int], None]  #: called with the number of offsets done so far
Task = Callable[[Iterable[Sequence[OffsetRange]]], Iterator[T | ContractlogError]]


@dataclass(frozen=True)
class TaskSignals:
    """Messages of a running task to the driver: offsets that are done, and errors."""

    done: Any  #: an accumulator of offsets
    failed: Any  #: an accumulator of errors

    def count(self, offsets: OffsetRange) -> None:
        """Report that a range was read."""
        self.done.add(len(offsets))

    def fail(self, error: ContractlogError) -> None:
        """Report an error, which ends all tasks."""
        self.failed.add([error])


def run_tasks(
    session: SparkSession,
    ranges: Sequence[OffsetRange],
    value: object,
    make_task: Callable[[Any, TaskSignals], Task[T]],
    *,
    progress: Progress | None = None,
) -> list[T]:
    """Run tasks on packed ranges, and return their results.

    Args:
        session: the Spark session.
        ranges: at least one range.
        value: a value that all tasks need.
        make_task: returns the function of a task, given the broadcast value and the signals. It yields its result, or
            an error of ours, which is not raised because a retry would not fix it.
        progress: called regularly with the number of offsets done so far.

    Raises:
        ContractlogError: a task yielded it.
        SparkFailed: Spark, Java or a worker raised another error.
    """
    context = session.sparkContext
    signals = TaskSignals(context.accumulator(0), context.accumulator([], _ErrorList()))
    shared = context.broadcast(value)
    task = make_task(shared, signals)

    def tick() -> None:
        if signals.failed.value:  # other tasks that wait would fail in the same way, one after another
            raise signals.failed.value[0]
        if progress is not None:
            progress(int(signals.done.value))

    try:
        packed = pack_ranges(ranges, max(TASKS, TASKS_PER_CORE * context.defaultParallelism))
        outcomes = _run_job(
            context, lambda: context.parallelize(packed, len(packed)).mapPartitions(task).collect(), tick
        )
    finally:
        with suppress(Py4JError, OSError):  # if the Java process has ended, nothing is left to destroy
            shared.destroy()
    results: list[T] = []
    for outcome in outcomes:
        if isinstance(outcome, ContractlogError):
            raise outcome
        results.append(outcome)
    return results


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


class _ErrorList(AccumulatorParam[list[ContractlogError]]):
    """Errors of all tasks, in order of arrival."""

    def zero(self, value: list[ContractlogError]) -> list[ContractlogError]:
        """Return the empty list."""
        return value[:0]

    def addInPlace(  # noqa: N802 - Spark's name
        self, value1: list[ContractlogError], value2: list[ContractlogError]
    ) -> list[ContractlogError]:
        """Return both lists together."""
        return value1 + value2


def _run_job(context: SparkContext, job: Callable[[], list[T]], tick: Callable[[], object]) -> list[T]:
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
