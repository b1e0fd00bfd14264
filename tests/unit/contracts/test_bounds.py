"""A state stays small whatever the records hold, and how a range was cut does not show."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.observed.bounds import MAX_PLACES, MAX_UNKNOWN_IDS, bounded
from contractlog.contracts.observed.outcomes import Outcome
from contractlog.contracts.observed.states import AuditState, Cell, CellKey, Example, Violation, ViolationKey

FACTS = st.lists(st.tuples(st.integers(1, 300), st.integers(0, 300), st.booleans()), max_size=400)


def state_of(facts: list[tuple[int, int, bool]], start: int) -> AuditState:
    """Make a state in which ids are unknown, or fields with names from the data are wrong."""
    cells: dict[CellKey, Cell] = {}
    violations: dict[ViolationKey, Violation] = {}
    for offset, (schema_id, name, unknown) in enumerate(facts, start):
        outcome = Outcome.UNKNOWN_SCHEMA_ID if unknown else Outcome.SCHEMA_VIOLATION
        carried = schema_id if unknown else 7_000
        key = CellKey("t", "value", 0, "2013-01-01", carried)
        cell = Cell({outcome: 1}, offset, offset)
        cells[key] = cells[key].merged(cell) if key in cells else cell
        line = ViolationKey("t", "value", outcome, carried, "" if unknown else "/x", "" if unknown else f"f{name}")
        violation = Violation(1, offset, offset, (Example(0, offset),), str(offset))
        violations[line] = violations[line].merged(violation) if line in violations else violation
    return AuditState(frozenset(), cells, violations)


@given(FACTS, FACTS)
def test_bounding_early_or_late_gives_the_same(a: list[tuple[int, int, bool]], b: list[tuple[int, int, bool]]) -> None:
    left, right = state_of(a, 0), state_of(b, 1_000)
    assert bounded(bounded(left).merged(bounded(right))) == bounded(left.merged(right))


def test_the_lowest_are_kept_and_every_record_is_still_counted() -> None:
    facts = [(schema_id, 0, True) for schema_id in range(1, 1_001)] + [(1, name, False) for name in range(1_000)]
    state = bounded(state_of(facts, 0))
    ids = {key.schema_id for key in state.cells}
    assert ids == {0, 7_000, *range(1, MAX_UNKNOWN_IDS + 1)}
    assert len({key.field for key in state.violations if key.schema_id == 7_000}) == MAX_PLACES + 1
    assert sum(violation.records for violation in state.violations.values()) == 2_000
    assert sum(sum(cell.counts.values()) for cell in state.cells.values()) == 2_000
