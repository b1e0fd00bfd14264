"""Windows are hours if they are few, else longer, however the range is divided."""

from __future__ import annotations

from datetime import datetime, timedelta
from unittest.mock import patch

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit import windows
from contractlog.contracts.audit.mergeable_state import AuditState, Cell, CellKey, limit_state
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.windows import MAX_WINDOWS

EPOCH = datetime(2013, 1, 1)  # noqa: DTZ001 - for text without a time zone
HOUR, DAY, MONTH = MAX_WINDOWS
LIMITS = {HOUR: 5, DAY: 4, MONTH: 3}
#: hours since 2013, and whether an earlier release counted the day
RECORDS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30_000), st.booleans()), max_size=12)


def state_of(records: list[tuple[int, int, bool]]) -> AuditState:
    """Make a state of records in partitions."""
    state = AuditState()
    for partition, hours, is_day in records:
        window = (EPOCH + timedelta(hours=hours)).isoformat(timespec="hours")[: DAY if is_day else HOUR]
        key = CellKey("t", "value", partition, window, 1)
        state = state.merge(AuditState(cells={key: Cell({Outcome.CONFORMS: 1}, hours, hours)}))
    return state


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS, RECORDS, RECORDS)
def test_the_length_of_windows_does_not_depend_on_the_division_of_a_range(
    a: list[tuple[int, int, bool]], b: list[tuple[int, int, bool]], c: list[tuple[int, int, bool]]
) -> None:
    with patch.object(windows, "MAX_WINDOWS", LIMITS):
        states = [state_of(records) for records in (a, b, c)]
        whole = limit_state(states[0].merge(states[1]).merge(states[2]))
        left, middle, right = map(limit_state, states)
        assert limit_state(limit_state(left.merge(middle)).merge(right)) == whole
        assert limit_state(left.merge(limit_state(middle.merge(right)))) == whole
    assert sum(cell.counts[Outcome.CONFORMS] for cell in whole.cells.values()) == len(a) + len(b) + len(c)
    assert len({len(key.window) for key in whole.cells}) <= 1
    length = max((len(key.window) for key in whole.cells), default=0)
    assert len({(key.partition, key.window) for key in whole.cells}) <= LIMITS.get(length, 100)


def test_hours_become_days_beyond_the_limit_and_other_topics_keep_theirs() -> None:
    many = {CellKey("many", "value", 0, f"{EPOCH + timedelta(hours=at):%Y-%m-%dT%H}", 1) for at in range(3_001)}
    few = {CellKey("few", "value", 0, f"{EPOCH + timedelta(hours=at):%Y-%m-%dT%H}", 1) for at in range(3_000)}
    state = limit_state(AuditState(cells={key: Cell({Outcome.CONFORMS: 1}, 0, 0) for key in many | few}))
    assert {key for key in state.cells if key.topic == "few"} == few
    days = {key.window: cell.counts for key, cell in state.cells.items() if key.topic == "many"}
    assert len(days) == 126
    assert days["2013-01-01"] == {Outcome.CONFORMS: 24}
