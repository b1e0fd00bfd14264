"""Ranges are packed into tasks of similar work, each range once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.spark.tasks import RANGE_WORK, TASK_WORK, pack_ranges


@given(st.lists(st.integers(0, 100_000), min_size=1, max_size=60), st.integers(1, 20))
def test_each_range_is_in_one_task_and_tasks_are_balanced(sizes: list[int], maximum: int) -> None:
    ranges = [OffsetRange("t", number, 0, size) for number, size in enumerate(sizes)]
    packed = pack_ranges(ranges, maximum)
    assert [offsets for task in packed for offsets in task] == ranges
    assert all(packed)
    assert len(packed) <= maximum
    works = [sum(len(offsets) + RANGE_WORK for offsets in task) for task in packed]
    assert max(works) <= sum(works) / maximum + 2 * TASK_WORK + 2 * (max(sizes) + RANGE_WORK)


def test_many_small_topics_are_few_tasks() -> None:
    ranges = [OffsetRange(f"t{number:04}", 0, 0, 100) for number in range(1_000)]
    assert len(pack_ranges(ranges, 64)) == 1_000 * (100 + RANGE_WORK) // TASK_WORK


def test_large_ranges_have_a_task_each() -> None:
    ranges = [OffsetRange("t", number, 0, 1_000_000) for number in range(64)]
    assert [len(task) for task in pack_ranges(ranges, 64)] == [1] * 64
