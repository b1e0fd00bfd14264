"""Back-test of many ranges as Spark tasks, which return states, not records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from contractlog.compatibility.errors import ContractlogError
from contractlog.contracts.audit.backtest import ReadabilityState, limit_readability
from contractlog.spark_validation.range_backtest import BacktestPlan, backtest_range
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.spark_audit import TASKS, TASKS_PER_CORE, ErrorList, Progress, pack_ranges, run_job

__all__ = ["backtest_ranges"]


def backtest_ranges(
    session: SparkSession,
    source: RecordSource,
    ranges: Sequence[OffsetRange],
    plan: BacktestPlan,
    *,
    progress: Progress | None = None,
) -> ReadabilityState:
    """Read ranges with a proposed schema on a cluster, and return their merged state.

    Args:
        session: the Spark session.
        source: source of the records; must be reachable from the workers.
        ranges: the ranges to read; they do not overlap.
        plan: the proposed schema, and those of the records.
        progress: called regularly with the number of offsets done so far.

    Raises:
        Unreachable: the source stopped responding.
        SparkFailed: Spark, Java or a worker raised an error that is not one of contractlog's.
    """
    if not ranges:
        return ReadabilityState()
    context = session.sparkContext
    done = context.accumulator(0)
    failed = context.accumulator([], ErrorList())
    shared = context.broadcast(plan)
    task = BacktestTask(source, shared, done, failed)

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
    state = ReadabilityState()
    for result in results:
        if isinstance(result, ContractlogError):
            raise result
        state = limit_readability(state.merge(result))
    return state


@dataclass(frozen=True)
class BacktestTask:
    """Function run by a worker: reads the ranges of one task."""

    source: RecordSource
    plan: Any  #: a broadcast ``BacktestPlan``
    done: Any  #: an accumulator of offsets
    failed: Any  #: an accumulator of errors

    def __call__(self, packed: Iterable[Sequence[OffsetRange]]) -> Iterator[ReadabilityState | ContractlogError]:
        """Yield one state, or an error of ours, which is not raised because a retry would not fix it."""
        state = ReadabilityState()
        ranges = [offsets for task_ranges in packed for offsets in task_ranges]
        try:
            prepared = self.plan.value.prepare()
            with self.source.open(ranges) as reader:
                for offsets in ranges:
                    state = limit_readability(state.merge(backtest_range(reader, offsets, prepared)))
                    self.done.add(len(offsets))
        except ContractlogError as error:
            self.failed.add([error])
            yield error
        else:
            yield state
