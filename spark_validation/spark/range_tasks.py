"""Work on many ranges as Spark tasks, which return small mergeable results, not records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any, Generic, Protocol, TypeVar

from contractlog.clients.cli.progress_line import ProgressLine
from contractlog.compatibility.errors import ContractlogError
from contractlog.spark_validation.sources.records import OffsetRange, count_offsets
from contractlog.spark_validation.sources.source import RangeSource, RecordSource
from contractlog.spark_validation.spark.cluster import SparkCluster
from contractlog.spark_validation.spark.session import open_session, prepare_environment
from contractlog.spark_validation.spark.tasks import TaskSignals, run_tasks, split_for_tasks

__all__ = ["RangeWork", "run_on_cluster"]


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
    cluster: SparkCluster,
    source: RecordSource,
    ranges: Sequence[OffsetRange],
    work: RangeWork[S],
    progress: ProgressLine,
) -> S:
    """Start Spark, run work on ranges, which are split for it, and return the merged result.

    Without offsets, Spark is not started.

    Args:
        cluster: the Spark cluster.
        source: source of the records; must be reachable from the workers.
        ranges: the ranges to read; they do not overlap.
        work: what is done with each range.
        progress: shows the number of offsets done so far.

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
    with open_session(cluster.master, wheel=cluster.wheel) as session:
        progress.start(size)
        try:
            results: list[S] = run_tasks(
                session,
                split_for_tasks(source, ranges),
                work,
                lambda shared, signals: RangeTask(source, shared, signals),
                progress=progress,
            )
        finally:
            progress.finish()
    return reduce(work.merge, results, work.empty())


@dataclass(frozen=True)
class RangeTask(Generic[S]):
    """Function run by a worker: works on the ranges of one task."""

    source: RecordSource
    work: Any  #: a broadcast ``RangeWork``
    signals: TaskSignals

    def __call__(self, packed: Iterable[Sequence[OffsetRange]]) -> Iterator[S | ContractlogError]:
        """Yield one result, or an error of ours, which is not raised because a retry would not fix it."""
        work: RangeWork[S] = self.work.value
        state = work.empty()
        ranges = list(chain.from_iterable(packed))
        try:
            process = work.prepare()
            with self.source.open(ranges) as reader:
                for offsets in ranges:
                    state = work.merge(state, process(reader, offsets))
                    self.signals.count(offsets)
        except ContractlogError as error:
            self.signals.fail(error)
            yield error
        else:
            yield state
