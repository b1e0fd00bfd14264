"""Arrays of samples are searched as their definitions say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from contractlog.spark_validation.lineage.sample_arrays import GroupedTimes

groups = st.integers(0, 4)
times = st.integers(-(2**62), 2**62) | st.integers(-3, 3)
moments = st.lists(st.tuples(groups, times), max_size=20)


@given(moments, moments)
def test_the_last_time_found_is_the_last_of_those_that_are_not_later(
    moments: list[tuple[int, int]], searches: list[tuple[int, int]]
) -> None:
    columns = np.array(moments, np.int64).reshape(-1, 2)
    wanted = np.array(searches, np.int64).reshape(-1, 2)
    timeline = GroupedTimes(columns[:, 0], columns[:, 1])
    assert [moments[index] for index in timeline.order.tolist()] == sorted(moments)
    last = timeline.find_last(wanted[:, 0], wanted[:, 1])
    assert last.tolist() == [sum(moment <= search for moment in moments) - 1 for search in searches]
