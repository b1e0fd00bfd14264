"""The cache is bounded and never returns wrong or expired entries."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from contractlog.clients.cache import Caching, ClientCaches, SchemaCache, TtlCache
from contractlog.compatibility.data_contract import Metadata, Rule, RuleSet
from contractlog.compatibility.identifiers import SchemaId
from contractlog.compatibility.schema import Reference, RegisteredSchema


def schema(number: int, size: int = 10) -> RegisteredSchema:
    return RegisteredSchema(SchemaId(number), "x" * size)


def key(number: int) -> tuple[str, None, int]:
    return ".", None, number


def cache_of(capacity: int) -> SchemaCache:
    return ClientCaches(Caching(capacity=capacity)).ids


def test_references_metadata_and_rules_count_as_texts_do() -> None:
    long = "x" * 10_000
    beside: list[dict[str, Any]] = [
        {"references": (Reference(long, "s", 1),)},
        {"metadata": Metadata(properties={"owner": long})},
        {"metadata": Metadata(tags={"a": (long,)})},
        {"rule_set": RuleSet(domain_rules=(Rule("r", expr=long, params={"k": "v"}),))},
        {"references": tuple(Reference("n", "s", number) for number in range(100))},
    ]
    for kept in beside:
        cache = cache_of(100_000)
        for number in range(100):
            cache.put(key(number), replace(schema(number), **kept))
        assert 3 <= len(cache) <= 9, kept
        cache.clear()
        cache.put(key(1), schema(1, 90_000))
        assert len(cache) == 1


def test_bytes_count_and_not_characters() -> None:
    cache = cache_of(100_000)
    for number in range(100):
        cache.put(key(number), replace(schema(number), text="\U0001f600" * 10_000))
    assert len(cache) == 2


def test_expiring_entries_are_used_until_they_expire() -> None:
    now = 100.0
    known: TtlCache[str, int] = TtlCache(10, 5, lambda: now)
    known.put("a", 1, generation=known.generation)
    now = 109.9
    assert known.get("a") == 1
    now = 110.0
    assert known.get("a") is None


def test_a_life_of_nothing_remembers_nothing() -> None:
    known: TtlCache[str, int] = TtlCache(0, 5, lambda: 0.0)
    known.put("a", 1, generation=known.generation)
    assert known.get("a") is None
    assert len(known) == 0


def test_expiring_entries_are_bounded_and_the_oldest_is_evicted_first() -> None:
    known: TtlCache[int, int] = TtlCache(10, 3, lambda: 0.0)
    for number in (0, 1, 2, 0, 3):
        known.put(number, number, generation=known.generation)
    assert [known.get(number) for number in range(4)] == [0, None, 2, 3]


def test_an_answer_from_before_something_was_forgotten_is_not_remembered() -> None:
    known: TtlCache[str, int] = TtlCache(10, 5, lambda: 0.0)
    known.put("other", 7, generation=known.generation)
    before = known.generation
    known.invalidate(lambda key: key == "a")
    known.put("a", 1, generation=before)
    assert known.get("a") is None
    assert known.get("other") == 7
    known.put("a", 2, generation=known.generation)
    assert known.get("a") == 2
    known.invalidate()
    assert len(known) == 0
