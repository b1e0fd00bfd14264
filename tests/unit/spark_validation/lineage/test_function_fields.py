"""Fields that a common function made from others are found, each with the function in words."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import md5, sha256
from random import Random as Generator
from typing import Any

import pytest

from contractlog.contracts.lineage.edges import LineageEdge
from contractlog.spark_validation.lineage.inference import infer_edges

from support.sampled_topics import Record, sample_topics

START = 1_700_000_000_000
SECRET = "secret of the tests"  # noqa: S105 - protects nothing


def make_trips(random: Generator) -> list[Record]:
    return [
        (
            START + number * 30_000,
            {
                "id": f"{random.getrandbits(64):016x}",
                "callsign": f"{random.choice('ABCDEF')}{random.choice('XYZ')}-{random.randint(1, 9999)}",
                "minutes": random.randint(-30, 900),
                "weight": round(random.uniform(100, 900), 2),
                "name": f"Name {random.getrandbits(40):x}",
                "gate": random.choice("ABCDE"),
            },
        )
        for number in range(3000)
    ]


def infer(change: Callable[[dict[str, Any]], object], secret: str = SECRET) -> list[LineageEdge]:
    """Return the edges to a field that is made by a function, in a copy of all other fields."""
    random = Generator(3)  # noqa: S311 - made-up data
    trips = make_trips(random)
    made = [
        (time + random.randint(50, 4000), {"id": value["id"], "gate": value["gate"], "made": change(value)})
        for time, value in trips
    ]
    made.sort(key=lambda record: record[0])
    edges = infer_edges(sample_topics({"trips": trips, "made": made}, 700, secret), secret=secret)
    return [edge for edge in edges if edge["to"] == {"topic": "made", "field": "made"}]


@pytest.mark.parametrize(
    ("change", "method", "words"),
    [
        (lambda trip: trip["minutes"] / 60, "linear", "made = minutes / 60"),
        (lambda trip: str(trip["minutes"] * 60), "linear", "made = minutes * 60"),
        (
            lambda trip: f" {trip['name'].upper()}",
            "case",
            "made = name in another case, or with other spaces around it",
        ),
        (lambda trip: sha256(trip["name"].encode()).hexdigest(), "digest", "made = SHA-256 of name"),
        (lambda trip: md5(str(trip["weight"]).encode()).hexdigest(), "digest", "made = MD5 of weight"),  # noqa: S324
        (lambda trip: trip["name"][:9], "truncation", "made = the first 9 characters of name"),
        (lambda trip: trip["name"][-4:], "truncation", "made = the last 4 characters of name"),
        (lambda trip: trip["callsign"].split("-")[1], "split", "made = the part of callsign after separator 1"),
    ],
)
def test_a_function_of_one_field_is_found(change: Callable[[dict[str, Any]], object], method: str, words: str) -> None:
    (edge,) = infer(change)
    assert (edge["from"]["topic"], edge["method"], edge.get("description")) == ("trips", method, words)
    assert edge["score"] >= 0.95


@pytest.mark.parametrize(
    ("change", "sources", "words"),
    [
        (lambda trip: f"{trip['callsign']}/{trip['minutes']}", ["callsign", "minutes"], "callsign + … + minutes"),
        (lambda trip: f"{trip['gate']}-{trip['weight']}", ["gate", "weight"], "gate + … + weight"),
        (
            lambda trip: f"{trip['gate']}-{trip['minutes'] % 7}-{trip['name'].split()[1]}",
            ["gate"],
            "gate as a part",
        ),
    ],
)
def test_joined_values_have_an_edge_from_each(
    change: Callable[[dict[str, Any]], object], sources: list[str], words: str
) -> None:
    edges = infer(change)
    assert [edge["from"]["field"] for edge in edges] == sources
    assert {edge["method"] for edge in edges} == {"concatenation"}
    assert all(edge.get("description", "").endswith(words) for edge in edges)


def test_parts_of_texts_are_compared_only_with_a_secret_key() -> None:
    assert infer(lambda trip: trip["name"][:9], secret="") == []
    assert infer(lambda trip: sha256(trip["name"].encode()).hexdigest(), secret="") != []


def test_values_of_nothing_have_no_source() -> None:
    random = Generator(9)  # noqa: S311 - made-up data
    assert infer(lambda _: random.getrandbits(40)) == []
    assert infer(lambda _: f"{random.getrandbits(40):x}-{random.getrandbits(40):x}") == []


def test_an_edge_names_records_to_check() -> None:
    (edge,) = infer(lambda trip: trip["minutes"] / 60)
    example = edge.get("example")
    assert example is not None
    random = Generator(3)  # noqa: S311 - as above
    trips = make_trips(random)
    made = [(time + random.randint(50, 4000), value["minutes"] / 60) for time, value in trips]
    made.sort(key=lambda record: record[0])
    offset, source = example["to"]["offset"], example["from"]["offset"]
    assert made[offset][1] == trips[source][1]["minutes"] / 60
    quantiles = edge.get("lag_quantiles_ms")
    assert quantiles is not None
    assert 50 <= quantiles["p05"] <= quantiles["p50"] <= quantiles["p95"] <= 4000
    assert edge.get("evidence") == "values"
    assert edge.get("first_seen", "") < edge.get("last_seen", "")
