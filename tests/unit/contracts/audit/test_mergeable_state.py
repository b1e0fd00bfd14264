"""States are a commutative monoid, so the division of a range does not matter."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.mergeable_state import (
    MAX_EXAMPLES,
    AuditState,
    Cell,
    CellKey,
    Coverage,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
    merge_states,
)
from contractlog.contracts.audit.outcomes import Outcome

RECORDS = st.lists(
    st.tuples(st.sampled_from([Outcome.CONFORMS, Outcome.TRUNCATED, Outcome.TOMBSTONE]), st.integers(0, 9)), max_size=60
)


def state_of(records: list[tuple[Outcome, int]], start: int) -> AuditState:
    """Observe records one by one, each at its own offset."""
    state = AuditState(frozenset({Coverage("t", 0, start, start + len(records), len(records))}))
    for offset, (outcome, seconds) in enumerate(records, start):
        cells = {CellKey("t", "value", 0, "2013-01-01", 1): Cell({outcome: 1}, seconds, seconds)}
        example = ViolationExample(0, offset, seconds)
        key = ViolationKey("t", "value", outcome, 1, "/fields/0", "a")
        violations = (
            {key: ViolationCounts(1, seconds, seconds, (example,), str(offset), first=example)}
            if outcome.violating
            else {}
        )
        state = state.merge(AuditState(frozenset(), cells, violations))
    return state


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS, RECORDS, RECORDS)
def test_merging_does_not_depend_on_order_or_grouping(
    a: list[tuple[Outcome, int]], b: list[tuple[Outcome, int]], c: list[tuple[Outcome, int]]
) -> None:
    states = [state_of(a, 0), state_of(b, 100), state_of(c, 200)]
    assert merge_states(states) == merge_states(reversed(states)) == states[0].merge(states[1].merge(states[2]))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS)
def test_counts_add_up_and_examples_are_the_lowest(records: list[tuple[Outcome, int]]) -> None:
    state = state_of(records, 0)
    assert sum(sum(cell.counts.values()) for cell in state.cells.values()) == len(records)
    bad = [offset for offset, (outcome, _) in enumerate(records) if outcome.violating]
    for violation in state.violations.values():
        assert [example.offset for example in violation.examples] == bad[:MAX_EXAMPLES]
        assert violation.detail == str(bad[0])
        assert violation.records == len(bad)
        times = [(seconds, offset) for offset, (outcome, seconds) in enumerate(records) if outcome.violating]
        assert violation.first is not None
        assert (violation.first.timestamp, violation.first.offset) == min(times)
