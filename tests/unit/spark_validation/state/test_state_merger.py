"""Many states are merged as if one after the other, with few copies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.mergeable_state import AuditState, Cell, CellKey, Coverage, limit_state, merge_states
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.spark_validation.state import state_merger


def create_state(number: int, windows: int = 1) -> AuditState:
    """Create the state of a range, with a number of cells."""
    cells = {
        CellKey(f"t{number % 7}", "value", 0, f"{window:04}", 1): Cell({Outcome.CONFORMS: 1}, 0, 1)
        for window in range(windows)
    }
    return AuditState(frozenset({Coverage(f"t{number % 7}", 0, number, number + 1, 1)}), cells)


@given(st.lists(st.integers(1, 200), max_size=40))
def test_the_result_is_that_of_merging_one_after_the_other(sizes: list[int]) -> None:
    states = [create_state(number, windows) for number, windows in enumerate(sizes)]
    merger = state_merger.StateMerger()
    for state in states:
        merger.add(state)
    assert merger.result() == merge_states(states)


def test_each_state_is_copied_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = []

    def count(state: AuditState) -> AuditState:
        copied.append(len(state.coverage))
        return limit_state(state)

    monkeypatch.setattr(state_merger, "limit_state", count)
    merger = state_merger.StateMerger()
    for number in range(2_000):
        merger.add(create_state(number, 10))
    assert len(merger.result().coverage) == 2_000
    assert sum(copied) < 2_000 * 140  # one after the other: 2,000 * 1,000
