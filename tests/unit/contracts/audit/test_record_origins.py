"""Origins of records merge exactly, in any order, and are bounded whatever headers contain."""

from __future__ import annotations

from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.contracts.audit.record_origins import (
    MAX_ORIGINS,
    MAX_TRACES,
    OTHER_ORIGINS,
    OriginCounts,
    OriginKey,
    OriginPosition,
    TopicOrigins,
    TracedRecord,
    describe_uncounted_origins,
)

RECORDS = st.lists(st.tuples(st.integers(0, MAX_ORIGINS + 20), st.integers(0, 30), st.integers(0, 3)), max_size=40)


def origins_of(offset: int, number: int, trace: int, time: int) -> TopicOrigins:
    """Return the origins of one record."""
    counts = OriginCounts(1, time, time, NumberHistogram({time: 1}), OriginPosition(0, offset, 1, 2))
    return TopicOrigins(
        {OriginKey("h", f"t{number:03}", ""): counts}, {trace: TracedRecord(time, 0, offset, trace % 2)}, number % 2
    )


def crowd() -> TopicOrigins:
    """Return as many origins as a topic may have."""
    return reduce(TopicOrigins.merge, (origins_of(1000 + at, at, 2**63 + at, 9) for at in range(MAX_ORIGINS)))


@given(RECORDS, st.randoms(use_true_random=False))
def test_a_merge_does_not_depend_on_the_order(records: list[tuple[int, int, int]], random: object) -> None:
    parts = [crowd(), *(origins_of(offset, *record) for offset, record in enumerate(records))]
    in_order = reduce(TopicOrigins.merge, parts)
    getattr(random, "shuffle")(parts)  # noqa: B009 - the strategy's type is private
    middle = len(parts) // 2
    halves = [reduce(TopicOrigins.merge, half, TopicOrigins()) for half in (parts[:middle], parts[middle:])]
    assert reduce(TopicOrigins.merge, parts) == halves[0].merge(halves[1]) == in_order
    assert sum(counts.records for counts in in_order.origins.values()) == MAX_ORIGINS + len(records)
    for trace in {trace for _, trace, _ in records}:
        first = min((time, offset) for offset, (_, other, time) in enumerate(records) if other == trace)
        assert (in_order.traces[trace].timestamp, in_order.traces[trace].offset) == first


def test_names_and_traces_are_bounded_and_the_lowest_are_counted() -> None:
    parts = [origins_of(at, at, 10_000 - at, at) for at in range(3 * MAX_TRACES)]
    merged = reduce(TopicOrigins.merge, parts)
    assert len(merged.origins) == MAX_ORIGINS + 1
    assert OriginKey("h", "t000", "") in merged.origins
    assert merged.origins[OTHER_ORIGINS].records == 3 * MAX_TRACES - MAX_ORIGINS
    assert merged.origins[OTHER_ORIGINS].example is None
    assert max(merged.traces) == min(merged.traces) + MAX_TRACES - 1
    assert min(merged.traces) == 10_000 - 3 * MAX_TRACES + 1


def test_what_lineage_does_not_see_is_named() -> None:
    assert describe_uncounted_origins({"t": crowd().merge(TopicOrigins(invalid=1))})["t"][-1].endswith("the format.")
    merged = crowd().merge(origins_of(0, 999, 0, 0))
    assert describe_uncounted_origins({"t": merged, "u": origins_of(0, 0, 0, 0)}) == {
        "t": [
            "Headers name more than 100 origins. Records with others, which lineage leaves out: 1.",
            "51 provenance headers are not in the format.",
        ]
    }


def test_a_topic_without_headers_is_empty() -> None:
    assert TopicOrigins().empty
    assert not origins_of(0, 0, 0, 0).empty
