"""Clocks that differ between topics are corrected by the delays of records that both topics have."""

from __future__ import annotations

from random import Random as Generator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.clock_skew import DelayLimit, solve_offsets
from contractlog.spark_validation.lineage.inference import infer_edges

from support.sampled_topics import Record, sample_topics

START = 1_700_006_400_000
MINUTE = 60_000

limits = st.lists(
    st.builds(
        DelayLimit, st.sampled_from("abcde"), st.sampled_from("fghij"), st.integers(-60_000, 60_000), st.just(100)
    ),
    max_size=20,
)


def seeded(seed: int) -> Generator:
    return Generator(seed)  # noqa: S311 - made-up data, the same every time


def make_orders(random: Generator, count: int = 600) -> list[Record]:
    times = sorted(START + random.randint(0, 20 * 60 * MINUTE) for _ in range(count))
    return [
        (
            time,
            {
                "id": f"{random.getrandbits(64):016x}",
                "amount": random.randint(1, 10**6),
                "unit": f"u{random.randint(1, 9)}",
            },
        )
        for time in times
    ]


def delay(records: list[Record], random: Generator, skew: int, typical: float = 300.0) -> list[Record]:
    """Return copies as a pipeline writes them, one in a hundred minutes later, by a clock that is off."""
    written = [
        (
            time
            + 1
            + int(random.lognormvariate(0, 0.5) * typical)
            + (random.randint(1, 20) * MINUTE if n % 100 == 7 else 0),
            row,
        )
        for n, (time, row) in enumerate(records)
    ]
    return sorted(((time + skew, row) for time, row in written), key=lambda record: record[0])


def list_topics(edges: list[LineageEdge]) -> set[tuple[str, str]]:
    return {(edge["from"]["topic"], edge["to"]["topic"]) for edge in edges}


@pytest.mark.parametrize("skew", [-60_000, -1_000, 0, 1_000, 60_000])
def test_a_chain_of_copies_is_found_although_the_clocks_differ(skew: int) -> None:
    random = seeded(3)
    orders = make_orders(random)
    kept = [record for record in delay(orders, random, 0) if random.random() < 0.9]
    middle = [(time + skew, row) for time, row in kept]
    last = delay(kept, random, 0)
    edges = infer_edges(sample_topics({"orders": orders, "middle": middle, "last": last}))
    assert list_topics(edges) == {("orders", "middle"), ("middle", "last")}
    assert {edge["direction"] for edge in edges} == {"known"}


def test_a_source_whose_clock_is_ahead_has_a_lag_of_zero_at_least() -> None:
    random = seeded(4)
    orders = make_orders(random)
    edges = infer_edges(sample_topics({"orders": orders, "copy": delay(orders, random, -5_000)}))
    assert list_topics(edges) == {("orders", "copy")}
    assert all(edge["lag_ms"] is not None and 0 <= edge["lag_ms"] < 1_000 for edge in edges)


@given(limits)
def test_no_limit_is_below_zero_after_the_correction_unless_limits_contradict(limits: list[DelayLimit]) -> None:
    offsets = solve_offsets(limits)  # sources and targets are different topics, so no limits contradict
    for limit in limits:
        assert limit.delay_ms + offsets.get(limit.target, 0) - offsets.get(limit.source, 0) >= 0


@given(limits)
def test_clocks_are_left_alone_if_no_copy_is_earlier_than_its_source(limits: list[DelayLimit]) -> None:
    assert solve_offsets([limit for limit in limits if limit.delay_ms >= 0]) == {}


def test_limits_that_contradict_those_of_more_rows_are_left_out() -> None:
    limits = [DelayLimit("a", "b", -100, 500), DelayLimit("b", "a", 40, 60)]
    assert solve_offsets(limits) == {"a": -100}
