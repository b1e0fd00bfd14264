"""Lineage of synthetic topics is found, without false edges from common values."""

from __future__ import annotations

from collections.abc import Callable
from random import Random as Generator
from typing import Any

import pytest

from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.contracts.audit.value_samples import FieldSample, SampleDesign
from contractlog.spark_validation.lineage.inference import infer_edges

from support.sampled_topics import Record, format_edges, sample_topics

# The thresholds were settled on real flights and on seed 1; the other seeds are held out.
SEEDS = (1, 8)
ALL_SEEDS = (*SEEDS, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (9, 23)))
START = 1_700_000_000_000
MINUTE = 60_000
CITIES = [f"city {number}" for number in range(40)]


def seeded(seed: int) -> Generator:
    return Generator(seed)  # noqa: S311 - made-up data, the same every time


def orders_of(random: Generator, count: int = 6000) -> list[Record]:
    time, orders = START, []
    for number in range(count):
        time += int(random.expovariate(1 / MINUTE))
        orders.append(
            (
                time,
                {
                    "order_id": f"{random.getrandbits(64):016x}",
                    "sequence": number + random.randint(0, 3),
                    "customer": f"C{random.randint(1, 400)}",
                    "amount": round(random.uniform(5, 500), 2),
                    "country": random.choice(["DE", "FR", "PL", "US"]),
                    "placed": {"shop": random.randint(1, 30), "day": time // 86_400_000},
                },
            )
        )
    return orders


def customers_of(random: Generator) -> list[Record]:
    return [
        (
            START - random.randint(0, 10_000_000),
            {
                "id": f"C{number}",
                "name": f"name {random.getrandbits(40)}",
                "city": random.choice(CITIES),
                "active": True,
            },
        )
        for number in range(1, 500)
    ]


def made(
    records: list[Record],
    random: Generator,
    change: Callable[[Any], dict[str, Any]],
    lag: tuple[int, int] = (100, 5000),
    share: float = 1.0,
) -> list[Record]:
    """Write a record later for each that passes; delays differ, so the order does too."""
    chosen = [record for record in records if random.random() < share]
    return sorted(
        ((time + random.randint(*lag), change(value)) for time, value in chosen), key=lambda record: record[0]
    )


def unchanged(value: dict[str, Any]) -> dict[str, Any]:
    return value


ALL = ("order_id", "sequence", "customer", "amount", "country", "placed.shop", "placed.day")


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_a_filter_that_renames_is_found_field_by_field(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    paid = made(
        orders,
        random,
        lambda v: {"id": v["order_id"], "total": v["amount"], "who": v["customer"], "method": random.choice("abc")},
        share=0.3,
    )
    found = infer_edges(sample_topics({"orders": orders, "paid": paid}))
    assert format_edges(found) == {
        ("orders.order_id", "paid.id"),
        ("orders.amount", "paid.total"),
        ("orders.customer", "paid.who"),
    }
    for edge in found:
        assert edge["method"] == "copy"
        assert edge["score"] > 0.99
        assert edge["support"] > 100
        assert edge["lag_ms"] == pytest.approx(2550, rel=0.2)


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_an_enrichment_is_a_copy_and_a_look_up(seed: int) -> None:
    random = seeded(seed)
    orders, customers = orders_of(random), customers_of(random)
    by_id = {value["id"]: value for _, value in customers}
    enriched = made(
        orders,
        random,
        lambda v: {**v, "customer_name": by_id[v["customer"]]["name"], "customer_city": by_id[v["customer"]]["city"]},
    )
    found = infer_edges(sample_topics({"orders": orders, "customers": customers, "enriched": enriched}))
    assert format_edges(found) == {
        *((f"orders.{field}", f"enriched.{field}") for field in ALL),
        ("customers.name", "enriched.customer_name"),
        ("customers.city", "enriched.customer_city"),
    }
    assert {edge["method"] for edge in found if edge["from"]["topic"] == "customers"} == {"lookup"}
    assert all(edge["lag_ms"] is None for edge in found if edge["method"] == "lookup")


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_a_mirror_is_made_from_its_original_and_what_else_is_made_of_it_too(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    topics = {
        "a.mirror": made(orders, random, unchanged, lag=(5, 50)),
        "orders": orders,
        "paid": made(orders, random, lambda v: {"order_id": v["order_id"], "amount": v["amount"]}, share=0.5),
    }
    assert format_edges(infer_edges(sample_topics(topics))) == {
        *((f"orders.{field}", f"a.mirror.{field}") for field in ALL),
        ("orders.order_id", "paid.order_id"),
        ("orders.amount", "paid.amount"),
    }


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_of_a_chain_the_nearest_topic_is_named_and_siblings_are_not(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    paid = made(orders, random, unchanged, share=0.4)
    topics = {
        "orders": orders,
        "paid": paid,
        "shipped": made(paid, random, lambda v: {"order": v["order_id"], "amount": v["amount"]}, share=0.8),
        "returned": made(orders, random, lambda v: {"order": v["order_id"], "amount": v["amount"]}, share=0.3),
    }
    assert format_edges(infer_edges(sample_topics(topics))) == {
        *((f"orders.{field}", f"paid.{field}") for field in ALL),
        ("paid.order_id", "shipped.order"),
        ("paid.amount", "shipped.amount"),
        ("orders.order_id", "returned.order"),
        ("orders.amount", "returned.amount"),
    }


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_a_part_that_keeps_the_time_of_the_whole_was_made_from_it(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    part = made(orders, random, lambda v: {"order_id": v["order_id"], "amount": v["amount"]}, lag=(0, 0), share=0.6)
    assert format_edges(infer_edges(sample_topics({"orders": orders, "part": part}))) == {
        ("orders.order_id", "part.order_id"),
        ("orders.amount", "part.amount"),
    }


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_mirrors_are_edges_without_direction(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    later = made(orders, random, lambda v: {"order_id": v["order_id"], "amount": v["amount"]}, share=0.5)
    edges = infer_edges(sample_topics({"one": orders, "other": orders, "later": later}))
    mirrored = [edge for edge in edges if edge["to"]["topic"] == "other"]
    assert [(edge["from"]["topic"], edge["direction"]) for edge in mirrored] == [("one", "unknown")] * 7
    assert {edge["to"]["field"] for edge in mirrored} == {edge["from"]["field"] for edge in mirrored}
    others = [edge for edge in edges if edge not in mirrored]
    assert {(edge["from"]["topic"], edge["to"]["topic"], edge["direction"]) for edge in others} == {
        ("one", "later", "known")
    }


def test_mirrors_of_one_topic_need_no_field_in_common() -> None:
    random = seeded(1)
    records: list[Record] = [
        (
            time,
            {"a": f"{random.getrandbits(60):x}", "b": value["amount"], "c": number * 37, "d": random.getrandbits(40)},
        )
        for number, (time, value) in enumerate(orders_of(random))
    ]

    def project(*names: str) -> list[Record]:
        return [(time, {name: value[name] for name in names}) for time, value in records]

    edges = infer_edges(sample_topics({"first": project("a", "b"), "second": records, "third": project("c", "d")}))
    assert {(edge["from"]["topic"], edge["to"]["topic"], edge["direction"]) for edge in edges} == {
        ("first", "second", "unknown"),
        ("second", "third", "unknown"),
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("copies_first", [True, False])
def test_what_a_copy_lost_and_delayed_tells_it_from_its_source(seed: int, *, copies_first: bool) -> None:
    """A copy that lost one record in a hundred has the same values; rows and delays decide."""
    random = seeded(seed)
    orders = orders_of(random)
    copy = made(orders, random, unchanged, share=0.99)
    target = made(copy if copies_first else orders, random, unchanged, lag=(6000, 9000))
    edges = infer_edges(sample_topics({"a": orders, "b": copy, "c": target}))
    assert {edge["from"]["topic"] for edge in edges if edge["to"]["topic"] == "c"} == {"b" if copies_first else "a"}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("copies_first", [True, False])
def test_delays_tell_a_complete_copy_from_its_source(seed: int, *, copies_first: bool) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    copy = made(orders, random, unchanged)
    target = made(copy if copies_first else orders, random, unchanged, lag=(6000, 9000))
    edges = infer_edges(sample_topics({"a": orders, "b": copy, "c": target}))
    assert {edge["from"]["topic"] for edge in edges if edge["to"]["topic"] == "c"} == {"b" if copies_first else "a"}


@pytest.mark.parametrize("seed", SEEDS)
def test_few_records_are_enough_if_a_field_identifies_them(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    failed = made(orders, random, lambda v: v | {"error": random.choice(["timeout", "invalid"])}, share=0.02)
    copied = format_edges(infer_edges(sample_topics({"orders": orders, "failed": failed})))
    assert {("orders.order_id", "failed.order_id"), ("orders.amount", "failed.amount")} <= copied
    assert not [edge for edge in copied if "error" in edge[1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_field_that_two_streams_were_joined_by_comes_from_both(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    payments = made(orders, random, lambda v: {"order_id": v["order_id"], "code": random.getrandbits(40)}, share=0.9)
    codes = {value["order_id"]: value["code"] for _, value in payments}
    joined = made(
        [(time + 6000, value) for time, value in orders if value["order_id"] in codes],
        random,
        lambda v: {"order_id": v["order_id"], "amount": v["amount"], "code": codes[v["order_id"]]},
    )
    edges = format_edges(infer_edges(sample_topics({"orders": orders, "payments": payments, "joined": joined})))
    assert {edge for edge in edges if edge[1].startswith("joined")} == {
        ("orders.order_id", "joined.order_id"),
        ("payments.order_id", "joined.order_id"),
        ("orders.amount", "joined.amount"),
        ("payments.code", "joined.code"),
    }


@pytest.mark.parametrize("seed", ALL_SEEDS)
@pytest.mark.parametrize("slower", [5000, 9000])
def test_two_topics_made_from_one_that_nobody_sees_were_not_made_from_each_other(seed: int, slower: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    topics = {"one": made(orders, random, unchanged), "two": made(orders, random, unchanged, (100, slower))}
    assert infer_edges(sample_topics(topics)) == []


@pytest.mark.parametrize("seed", ALL_SEEDS)
def test_shared_keys_and_equal_rates_are_no_lineage(seed: int) -> None:
    random = seeded(seed)
    orders, customers = orders_of(random), customers_of(random)
    clicks = [
        (
            time + random.randint(1, MINUTE),
            {
                "customer": f"C{random.randint(1, 400)}",
                "country": random.choice(["DE", "FR", "PL", "US"]),
                "sequence": number,  # counts at the same rate as the orders do
                "page": f"/p/{random.randint(1, 300)}",
                "day": time // 86_400_000,
            },
        )
        for number, (time, _) in enumerate(orders)
    ]
    beats = [
        (START + second * 15_000, {"host": f"h{second % 5}", "ok": True, "sequence": second}) for second in range(9000)
    ]
    topics = {"orders": orders, "customers": customers, "clicks": clicks, "beats": beats}
    assert infer_edges(sample_topics(topics)) == []


def test_batches_and_the_order_of_topics_change_nothing() -> None:
    random = seeded(1)
    orders = orders_of(random, 2000)
    topics = {"orders": orders, "paid": made(orders, random, unchanged, share=0.5)}
    found = infer_edges(sample_topics(topics))
    assert found
    assert found == infer_edges(sample_topics(dict(reversed(topics.items())), batch=333))


def test_without_samples_there_are_no_edges() -> None:
    assert infer_edges(AuditState()) == []


def test_samples_of_other_designs_are_left_alone() -> None:
    random = seeded(1)
    orders = orders_of(random, 2000)
    state = sample_topics({"orders": orders, "paid": made(orders, random, unchanged, share=0.5)})
    foreign = {
        place: FieldSample(SampleDesign("other"), sample.values) if place[0] == "paid" else sample
        for place, sample in state.samples.items()
    }
    assert infer_edges(AuditState(samples=foreign)) == []


def test_a_topic_of_one_record_or_of_one_value_has_no_lineage() -> None:
    same = [(START + second, {"a": 1, "b": "x"}) for second in range(500)]
    assert (
        infer_edges(
            sample_topics({"one": same[:1], "same": same, "again": [(time + 1, value) for time, value in same]})
        )
        == []
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_field_computed_from_a_recurring_field_is_found(seed: int) -> None:
    random = seeded(seed)
    orders = orders_of(random)
    tokens = {value["customer"]: f"{random.getrandbits(64):x}" for _, value in orders}
    masked = made(
        orders,
        random,
        lambda v: {
            "order_id": v["order_id"],
            "amount": v["amount"],
            "token": tokens[v["customer"]],
            "area": f"area {v['placed']['shop'] // 5}",
            "nonce": random.getrandbits(60),
            "flag": random.choice(["x", "y", "z"]),
        },
    )
    edges = infer_edges(sample_topics({"orders": orders, "masked": masked}))
    assert {(edge["from"]["field"], edge["to"]["field"], edge["method"]) for edge in edges} == {
        ("order_id", "order_id", "copy"),
        ("amount", "amount", "copy"),
        ("customer", "token", "bijection"),
        ("placed.shop", "area", "function"),
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sibling_with_the_same_lookup_is_no_source(seed: int) -> None:
    """Both were made from the orders and the customers, the slower one not from the faster one."""
    random = seeded(seed)
    orders, customers = orders_of(random), customers_of(random)
    cities = {value["id"]: value["city"] for _, value in customers}

    def enrich(value: dict[str, Any]) -> dict[str, Any]:
        return {**{name: value[name] for name in ("order_id", "amount", "customer")}, "city": cities[value["customer"]]}

    first = made(orders, random, enrich)
    second = made(orders, random, enrich, lag=(4000, 9000))
    edges = infer_edges(sample_topics({"orders": orders, "customers": customers, "first": first, "second": second}))
    assert {edge["from"]["topic"] for edge in edges if edge["to"]["topic"] == "second"} == {"orders", "customers"}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_fewest_sources_that_explain_all_fields_are_named(seed: int) -> None:
    """The anonymous topic has no order id, but a token that only the copy of it has, too."""
    random = seeded(seed)
    orders = orders_of(random)

    def anonymise(value: dict[str, Any]) -> dict[str, Any]:
        kept = {name: value[name] for name in ("amount", "customer", "country")}
        return {**kept, "token": f"{random.getrandbits(60):x}"}

    anonymous = made(orders, random, anonymise)
    shared = made(anonymous, random, unchanged, share=0.9)
    edges = infer_edges(sample_topics({"anonymous": anonymous, "orders": orders, "shared": shared}))
    assert {edge["from"]["topic"] for edge in edges if edge["to"]["topic"] == "shared"} == {"anonymous"}


@pytest.mark.parametrize("seed", SEEDS)
def test_two_fields_together_identify_rows(seed: int) -> None:
    """No field of the target identifies an order, and no other agrees."""
    random = seeded(seed)
    orders = orders_of(random)
    sums = made(orders, random, lambda v: {"customer": v["customer"], "cents": str(v["amount"])}, share=0.8)
    others = [
        (time, {"customer": value["customer"], "cents": sums[-number][1]["cents"]})
        for number, (time, value) in enumerate(sums)
    ]
    edges = format_edges(infer_edges(sample_topics({"orders": orders, "sums": sums, "unrelated": others})))
    assert edges == {("orders.customer", "sums.customer"), ("orders.amount", "sums.cents")}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("unit", [1, 1000])
def test_the_times_of_a_key_tell_its_sessions(seed: int, unit: int) -> None:
    """A clock is no evidence with a sequence, but with a key that recurs."""
    random = seeded(seed)
    orders = orders_of(random)
    sessions = [
        (time + 7_200_000, {"who": value["customer"], "started": unit * time, "length": random.randint(1, 9)})
        for time, value in orders[::3]
    ]
    log = [(time + 5, {"number": number, "at": unit * time}) for number, (time, _) in enumerate(orders)]
    edges = format_edges(infer_edges(sample_topics({"orders": orders, "sessions": sessions, "log": log})))
    assert edges == {("orders.customer", "sessions.who")}


def test_fields_that_never_occur_together_align_no_rows() -> None:
    source = [(START + n, {"a": n % 40} if n % 2 else {"b": f"{n % 40} b"}) for n in range(400)]
    target = [(START + 1000 + n, {"a": n % 40, "b": f"{n % 40} b"}) for n in range(400)]
    assert infer_edges(sample_topics({"source": source, "target": target})) == []
