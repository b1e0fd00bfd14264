"""Copies of topics that were read in part are found by what was read."""

from __future__ import annotations

from dataclasses import replace
from random import Random as Generator

import pytest

from contractlog.contracts.audit.mergeable_state import Coverage
from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.inference import infer_edges
from contractlog.spark_validation.lineage.read_shares import chance_of_share, measure_read_shares

from support.sampled_topics import Record, sample_topics

START = 1_700_006_400_000
MINUTE = 60_000


def seeded(seed: int) -> Generator:
    return Generator(seed)  # noqa: S311 - made-up data, the same every time


def make_orders(random: Generator, count: int = 3000) -> list[Record]:
    times = sorted(START + random.randint(0, 20 * 60 * MINUTE) for _ in range(count))
    return [
        (
            time,
            {"id": f"{random.getrandbits(64):016x}", "amount": random.randint(1, 10**6), "unit": random.randint(1, 9)},
        )
        for time in times
    ]


def delay(records: list[Record], random: Generator) -> list[Record]:
    copies = [(time + 1 + int(random.lognormvariate(0, 0.5) * 300), row) for time, row in records]
    return sorted(copies, key=lambda record: record[0])


def infer_read(topics: dict[str, list[Record]], share: float) -> list[LineageEdge]:
    """Infer the edges from a share of the records of each topic, whose other offsets are missing."""
    random = seeded(9)
    read = {name: [record for record in records if random.random() < share] for name, records in topics.items()}
    state = sample_topics(read)
    coverage = [Coverage(name, 0, 0, len(records), len(read[name])) for name, records in topics.items()]
    return infer_edges(replace(state, coverage=frozenset(coverage)))


def list_topics(edges: list[LineageEdge]) -> set[tuple[str, str]]:
    return {(edge["from"]["topic"], edge["to"]["topic"]) for edge in edges}


@pytest.mark.parametrize("share", [1.0, 0.5, 0.3])
def test_a_chain_of_copies_is_found_in_a_part_of_the_records(share: float) -> None:
    random = seeded(3)
    orders = make_orders(random)
    middle = delay([record for record in orders if random.random() < 0.6], random)
    edges = infer_read({"orders": orders, "middle": middle, "last": delay(middle, random)}, share)
    assert list_topics(edges) == {("orders", "middle"), ("middle", "last")}


@pytest.mark.parametrize("share", [1.0, 0.5, 0.2])
def test_mirrors_are_found_in_a_part_of_the_records(share: float) -> None:
    orders = make_orders(seeded(4))
    edges = infer_read({"orders": orders, "mirror": orders}, share)
    assert list_topics(edges) == {("mirror", "orders")}
    assert {edge["direction"] for edge in edges} == {"unknown"}


def test_the_share_read_is_records_per_offset_over_all_ranges() -> None:
    coverage = [Coverage("a", 0, 0, 100, 50), Coverage("a", 1, 50, 150, 100), Coverage("b", 0, 0, 10, 10)]
    assert measure_read_shares(coverage, ["a", "b", "c"]) == {"a": 0.75, "b": 1.0, "c": 1.0}


def test_a_topic_that_was_read_as_a_whole_lacks_no_rows_by_chance() -> None:
    assert chance_of_share(1.0, 100) == 0
    assert 0 < chance_of_share(0.5, 1000) < chance_of_share(0.5, 100)
