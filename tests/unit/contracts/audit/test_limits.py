"""States stay small for any records, and do not depend on the division of the range."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.mergeable_state import (
    MAX_FIELDS,
    MAX_PATHS,
    MAX_UNKNOWN_IDS,
    AuditState,
    Cell,
    CellKey,
    ViolationCounts,
    ViolationExample,
    ViolationKey,
    describe_unsampled_fields,
    limit_samples,
    limit_state,
)
from contractlog.contracts.audit.outcomes import Outcome
from contractlog.contracts.audit.value_samples import DESIGN, FieldSample, SampledValue

FACTS = st.lists(st.tuples(st.integers(1, 300), st.integers(0, 300), st.booleans()), max_size=400)


def state_of(facts: list[tuple[int, int, bool]], start: int) -> AuditState:
    """Make a state in which ids are unknown, or fields with names from the data are wrong."""
    cells: dict[CellKey, Cell] = {}
    violations: dict[ViolationKey, ViolationCounts] = {}
    for offset, (schema_id, name, unknown) in enumerate(facts, start):
        outcome = Outcome.UNKNOWN_SCHEMA_ID if unknown else Outcome.SCHEMA_VIOLATION
        carried = schema_id if unknown else 7_000
        key = CellKey("t", "value", 0, "2013-01-01", carried)
        cell = Cell({outcome: 1}, offset, offset)
        cells[key] = cells[key].merge(cell) if key in cells else cell
        line = ViolationKey("t", "value", outcome, carried, "" if unknown else "/x", "" if unknown else f"f{name}")
        violation = ViolationCounts(1, offset, offset, (ViolationExample(0, offset),), str(offset))
        violations[line] = violations[line].merge(violation) if line in violations else violation
    return AuditState(frozenset(), cells, violations)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FACTS, FACTS)
def test_bounding_early_or_late_gives_the_same(a: list[tuple[int, int, bool]], b: list[tuple[int, int, bool]]) -> None:
    left, right = state_of(a, 0), state_of(b, 1_000)
    assert limit_state(limit_state(left).merge(limit_state(right))) == limit_state(left.merge(right))


def test_the_lowest_are_kept_and_every_record_is_still_counted() -> None:
    facts = [(schema_id, 0, True) for schema_id in range(1, 1_001)] + [(1, name, False) for name in range(1_000)]
    state = limit_state(state_of(facts, 0))
    ids = {key.schema_id for key in state.cells}
    assert ids == {0, 7_000, *range(1, MAX_UNKNOWN_IDS + 1)}
    assert len({key.field for key in state.violations if key.schema_id == 7_000}) == MAX_PATHS + 1
    assert sum(violation.records for violation in state.violations.values()) == 2_000
    assert sum(sum(cell.counts.values()) for cell in state.cells.values()) == 2_000


def sampled(sizes: dict[tuple[str, str], int], start: int = 0) -> AuditState:
    """Make a state with so many sampled values of each field of each topic."""
    samples = {
        (topic, "value", field): FieldSample(
            DESIGN, tuple(SampledValue(number, 0, 0, 0, number, b"") for number in range(start, start + size))
        )
        for (topic, field), size in sizes.items()
    }
    return AuditState(samples=samples)


FIELDS = st.dictionaries(
    st.tuples(st.just("t"), st.integers(0, 99).map("f{:02}".format)), st.integers(1, 2), max_size=99
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(FIELDS, FIELDS, FIELDS)
def test_sampled_fields_do_not_depend_on_the_division_of_a_range(
    a: dict[tuple[str, str], int], b: dict[tuple[str, str], int], c: dict[tuple[str, str], int]
) -> None:
    one, two, three = sampled(a), sampled(b, 5), sampled(c, 9)
    whole = limit_state(one.merge(two).merge(three))
    assert limit_state(limit_state(limit_state(one).merge(limit_state(two))).merge(limit_state(three))) == whole
    assert limit_state(limit_state(one).merge(limit_state(limit_state(two).merge(three)))) == whole
    fields = sorted({field for _, field in [*a, *b, *c]})
    assert sorted(field for *_, field in whole.samples) == fields[:MAX_FIELDS]
    assert sorted(field for *_, field in whole.unsampled) == fields[MAX_FIELDS:]


def test_the_widest_topic_loses_fields_first_and_what_it_lost_is_named() -> None:
    wide = {("wide", f"f{number}"): 10 for number in range(8)}
    state = limit_samples(sampled({**wide, ("slim", "only"): 10}), 60)
    assert sum(len(sample.values) for sample in state.samples.values()) == 60
    assert ("slim", "value", "only") in state.samples
    assert sorted(state.unsampled) == [("wide", "value", name) for name in ("f5", "f6", "f7")]
    kept = "Samples of values were kept of 5 fields and left out of 3 to bound memory (`f5`, `f6`, `f7`)"
    assert describe_unsampled_fields(state) == {("wide", "value"): [f"{kept}; lineage does not see those."]}
    again = limit_state(state.merge(sampled({("wide", "f7"): 3}, 50)))
    assert ("wide", "value", "f7") not in again.samples  # a part of its values would be no sample
    assert limit_samples(state, 60) is state
