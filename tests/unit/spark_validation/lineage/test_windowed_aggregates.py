"""Aggregates by a key in windows are found in the numbers of completely sampled windows."""

from __future__ import annotations

from collections import defaultdict
from random import Random as Generator
from typing import Any

import pytest

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.inference import infer_edges
from contractlog.spark_validation.lineage.sample_arrays import group_by_topic
from contractlog.spark_validation.lineage.windowed_aggregates import TargetKeys

from support.sampled_topics import Record, sample_topics

START = 1_700_006_400_000  # midnight UTC
HOUR = 3_600_000


def make_sales(random: Generator, customers: int, count: int = 6000) -> list[Record]:
    times = sorted(START + random.randint(0, 5 * 24 * HOUR) for _ in range(count))
    return [
        (
            time,
            {
                "sale": f"{random.getrandbits(64):016x}",
                "customer": f"C{random.randint(1, customers)}",
                "amount": round(random.uniform(1, 90), 2),
                "weight": random.randint(1, 900),
            },
        )
        for time in times
    ]


def aggregate(sales: list[Record], hours: int, random: Generator) -> list[Record]:
    groups: defaultdict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
    for time, sale in sales:
        groups[time // (hours * HOUR), sale["customer"]].append(sale)
    made = [
        (
            (window + 1) * hours * HOUR + random.randint(1, 20_000),
            {
                "customer": customer,
                "revenue": round(sum(sale["amount"] for sale in group), 6),
                "sales": len(group),
                "lightest": min(sale["weight"] for sale in group),
                "heaviest": max(sale["weight"] for sale in group),
            },
        )
        for (window, customer), group in groups.items()
    ]
    return sorted(made, key=lambda record: record[0])


def infer(topics: dict[str, list[Record]]) -> list[LineageEdge]:
    return [edge for edge in infer_edges(sample_topics(topics, 1500)) if edge["to"]["topic"] == "totals"]


@pytest.mark.parametrize(("customers", "hours", "window"), [(200, 24, "1 day"), (60, 6, "6 hours"), (8, 1, "1 hour")])
def test_sums_counts_and_extremes_name_the_number_and_the_window(customers: int, hours: int, window: str) -> None:
    random = Generator(4)  # noqa: S311 - made-up data
    sales = make_sales(random, customers)
    edges = infer({"sales": sales, "totals": aggregate(sales, hours, random)})
    per = f"per customer and window of {window}"
    assert [(edge["to"]["field"], edge["from"]["field"], edge.get("description")) for edge in edges] == [
        ("customer", "customer", f"customer = customer, one record {per}"),
        ("heaviest", "weight", f"heaviest = maximum of weight {per}"),
        ("lightest", "weight", f"lightest = minimum of weight {per}"),
        ("revenue", "amount", f"revenue = sum of amount {per}"),
    ]
    assert {(edge["from"]["topic"], edge["method"]) for edge in edges} == {("sales", "aggregate")}
    assert all(edge["score"] >= 0.95 for edge in edges)


def test_the_source_is_the_topic_whose_records_are_aggregated_not_a_sample_of_it() -> None:
    random = Generator(5)  # noqa: S311 - made-up data
    sales = make_sales(random, 60)
    part = [(time + random.randint(10, 900), sale) for time, sale in sales if random.random() < 0.7]
    topics = {"part": part, "sales": sales, "totals": aggregate(sales, 6, random)}
    assert {edge["from"]["topic"] for edge in infer(topics)} == {"sales"}
    topics["totals"] = aggregate(part, 6, random)
    assert {edge["from"]["topic"] for edge in infer(topics)} == {"part"}


def test_numbers_of_shared_keys_that_aggregate_nothing_have_no_source() -> None:
    random = Generator(6)  # noqa: S311 - made-up data
    sales = make_sales(random, 60)
    others = make_sales(random, 60)
    assert infer({"sales": sales, "totals": aggregate(others, 6, random)}) == []


def test_a_key_with_several_records_per_window_is_none_of_an_aggregate() -> None:
    times = range(START, START + 48 * HOUR, HOUR // 2)
    records = [(time, {"customer": f"C{customer}", "amount": customer}) for time in times for customer in range(5)]
    keys = TargetKeys(group_by_topic(sample_topics({"sales": records}).samples)[0])
    assert keys.find_widths(1) == [minutes * 60_000 for minutes in (1, 5, 10, 15, 30)]  # field 1 is the customer
