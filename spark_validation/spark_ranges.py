"""Work on many ranges as Spark tasks, which return small mergeable results, not records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from contractlog.compatibility.errors import ContractlogError
from contractlog.spark_validation.jobs.progress import ProgressLine
from contractlog.spark_validation.session import open_session, prepare_environment
from contractlog.spark_validation.sources.records import OffsetRange, count_offsets
from contractlog.spark_validation.sources.source import RangeSource, RecordSource
from contractlog.spark_validation.spark_audit import (
    TASKS,
    TASKS_PER_CORE,
    ErrorList,
    Progress,
    pack_ranges,
    run_job,
    split_for_tasks,
)

__all__ = ["RangeWork", "run_on_cluster", "run_ranges"]


S = TypeVar("S")


class RangeWork(Protocol[S]):
    """Work on a range, as a value that is sent to workers."""

    def prepare(self) -> Callable[[RangeSource, OffsetRange], S]:
        """Return the function of a range; called once per task."""

    def merge(self, left: S, right: S) -> S:
        """Return two results combined, within the limits of a result."""

    def empty(self) -> S:
        """Return the result of no range."""


def run_on_cluster(
    master: str, source: RecordSource, ranges: Sequence[OffsetRange], work: RangeWork[S], progress: ProgressLine
) -> S:
    """Start Spark and run work on ranges, which are split for it; without offsets, Spark is not started.

    Raises:
        UsageError: Spark does not start.
        Unreachable: the source stopped responding.
        SparkFailed: Spark, Java or a worker raised an error that is not one of contractlog's.
    """
    size = count_offsets(ranges)
    if not size:
        process = work.prepare()
        result = work.empty()
        for offsets in ranges:
            result = work.merge(result, process(source, offsets))
        return result
    prepare_environment()
    with open_session(master) as session:
        progress.start(size)
        try:
            return run_ranges(session, source, split_for_tasks(source, ranges), work, progress=progress)
        finally:
            progress.finish()


def run_ranges(
    session: SparkSession,
    source: RecordSource,
    ranges: Sequence[OffsetRange],
    work: RangeWork[S],
    *,
    progress: Progress | None = None,
) -> S:
    """Run work on ranges on a cluster, and return the merged result.

    Args:
        session: the Spark session.
        source: source of the records; must be reachable from the workers.
        ranges: the ranges to read; they do not overlap.
        work: what is done with each range.
        progress: called regularly with the number of offsets done so far.

    Raises:
        Unreachable: the source stopped responding.
        SparkFailed: Spark, Java or a worker raised an error that is not one of contractlog's.
    """
    state = work.empty()
    if not ranges:
        return state
    context = session.sparkContext
    done = context.accumulator(0)
    failed = context.accumulator([], ErrorList())
    shared = context.broadcast(work)
    task: RangeTask[S] = RangeTask(source, shared, done, failed)

    def tick() -> None:
        if failed.value:  # other tasks that wait would fail in the same way, one after another
            raise failed.value[0]
        if progress is not None:
            progress(int(done.value))

    try:
        packed = pack_ranges(ranges, max(TASKS, TASKS_PER_CORE * context.defaultParallelism))
        results = run_job(context, lambda: context.parallelize(packed, len(packed)).mapPartitions(task).collect(), tick)
    finally:
        with suppress(Py4JError, OSError):  # if the Java process has ended, nothing is left to destroy
            shared.destroy()
    for result in results:
        if isinstance(result, ContractlogError):
            raise result
        state = work.merge(state, result)
    return state


@dataclass(frozen=True)
class RangeTask(Generic[S]):
    """Function run by a worker: works on the ranges of one task."""

    source: RecordSource
    work: Any  #: a broadcast ``RangeWork``
    done: Any  #: an accumulator of offsets
    failed: Any  #: an accumulator of errors

    def __call__(self, packed: Iterable[Sequence[OffsetRange]]) -> Iterator[S | ContractlogError]:
        """Yield one result, or an error of ours, which is not raised because a retry would not fix it."""
        work: RangeWork[S] = self.work.value
        state = work.empty()
        ranges = [offsets for task_ranges in packed for offsets in task_ranges]
        try:
            process = work.prepare()
            with self.source.open(ranges) as reader:
                for offsets in ranges:
                    state = work.merge(state, process(reader, offsets))
                    self.done.add(len(offsets))
        except ContractlogError as error:
            self.failed.add([error])
            yield error
        else:
            yield state
