"""Ids that records carry: merging, what an audit knows of them, and gaps of what was read."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.id_usage import IdKey, IdUsage, IdUse, find_gaps, find_id_usage, subtract_coverage
from contractlog.contracts.audit.mergeable_state import AuditState, Cell, CellKey, Coverage
from contractlog.contracts.audit.outcomes import Outcome

NUMBERS = st.integers(0, 20)
RANGES = st.lists(st.tuples(NUMBERS, NUMBERS).map(lambda pair: (min(pair), max(pair))), max_size=5)
KEYS = st.builds(IdKey, st.sampled_from(["a", "b"]), st.just("value"), st.integers(0, 3))
USES = st.builds(IdUse, NUMBERS, NUMBERS, NUMBERS)
USAGES = st.builds(
    IdUsage,
    st.frozensets(st.builds(Coverage, st.just("a"), st.just(0), NUMBERS, NUMBERS, NUMBERS), max_size=3),
    st.dictionaries(KEYS, USES, max_size=4),
    st.dictionaries(KEYS, NUMBERS, max_size=4),
    st.dictionaries(st.sampled_from(["a", "b"]), st.tuples(NUMBERS, NUMBERS), max_size=2),
)


@given(RANGES, NUMBERS, NUMBERS)
def test_gaps_are_the_offsets_in_no_range(ranges: list[tuple[int, int]], start: int, end: int) -> None:
    covered = {at for first, last in ranges for at in range(first, last)}
    gaps = [at for first, last in find_gaps(ranges, start, end) for at in range(first, last)]
    assert gaps == [at for at in range(start, end) if at not in covered]


@given(USAGES, USAGES, USAGES)
def test_usages_merge_in_any_order(first: IdUsage, second: IdUsage, third: IdUsage) -> None:
    assert first.merge(IdUsage()) == first
    assert first.merge(second) == second.merge(first)
    assert first.merge(second).merge(third) == first.merge(second.merge(third))


def test_only_logs_that_were_not_read_completely_have_gaps() -> None:
    coverage = [Coverage("a", 0, 0, 5, 5), Coverage("a", 0, 5, 9, 1), Coverage("gone", 0, 0, 9, 9)]
    logs = {("a", 0): (2, 9), ("a", 1): (0, 0), ("b", 0): (3, 4)}
    assert subtract_coverage(coverage, logs) == {("b", 0): [(3, 4)]}


def test_an_audit_knows_the_ids_of_violating_records_and_not_those_of_parts_without_schema() -> None:
    def cell(part: str, schema_id: int, **counts: int) -> tuple[CellKey, Cell]:
        key = CellKey("orders", part, 0, "1970-01-01", schema_id)
        return key, Cell({Outcome[name]: number for name, number in counts.items()}, 5, 7)

    cells = dict(
        [
            cell("value", 1, CONFORMS=3, TRUNCATED=2),
            cell("value", 9, WRONG_SUBJECT=1),
            cell("value", 0, TOMBSTONE=4, NOT_FRAMED=1, UNKNOWN_SCHEMA_ID=6),
            cell("key", 0, UNAUDITED=8),
        ]
    )
    usage = find_id_usage(AuditState(cells=cells))
    assert {key.schema_id: use.records for key, use in usage.uses.items()} == {1: 5, 9: 1}
    assert {key.part: records for key, records in usage.unidentified.items()} == {"value": 6, "key": 8}
    assert usage.times == {"orders": (5, 7)}
