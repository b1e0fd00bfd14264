"""Copies with few fields are found by an id and a field with a rare value."""

from __future__ import annotations

from random import Random as Generator

import pytest

from contractlog.spark_validation.lineage.inference import infer_edges

from support.sampled_topics import Record, format_edges, sample_topics

START = 1_700_006_400_000
MINUTE = 60_000


def seeded(seed: int) -> Generator:
    return Generator(seed)  # noqa: S311 - made-up data, the same every time


def make_payments(random: Generator, count: int = 1200) -> list[Record]:
    return [
        (
            START + n * MINUTE,
            {"id": f"{random.getrandbits(64):016x}", "status": "refused" if random.random() < 0.1 else "captured"},
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_an_id_and_a_field_whose_rare_value_always_agrees_prove_a_copy(seed: int) -> None:
    payments = make_payments(seeded(seed))
    copies = [(time + 100, row) for time, row in payments]
    edges = infer_edges(sample_topics({"payments": payments, "copies": copies}))
    assert format_edges(edges) == {("payments.id", "copies.id"), ("payments.status", "copies.status")}


@pytest.mark.parametrize("seed", [1, 2])
def test_an_id_and_a_field_that_agree_by_chance_prove_nothing(seed: int) -> None:
    random = seeded(seed)
    payments = make_payments(random)
    others = [
        (time + 100, {"id": row["id"], "status": "refused" if random.random() < 0.1 else "captured"})
        for time, row in payments
    ]
    assert infer_edges(sample_topics({"payments": payments, "others": others})) == []
