"""The memory of ids is bounded and never wrong."""

from __future__ import annotations

from contractlog.clients.cache import IdCache
from contractlog.compatibility.names import SchemaId
from contractlog.compatibility.schema import RegisteredSchema


def schema(number: int, size: int = 10) -> RegisteredSchema:
    return RegisteredSchema(SchemaId(number), "x" * size)


def test_what_was_put_is_found_under_the_subject_it_was_asked_with() -> None:
    cache = IdCache()
    cache.put(None, schema(1))
    assert cache.get(None, 1) == schema(1)
    assert cache.get("s", 1) is None
    assert cache.get(None, 2) is None


def test_the_oldest_go_when_it_gets_too_much() -> None:
    cache = IdCache(capacity=100_000)
    for number in range(100):
        cache.put(None, schema(number, 10_000))
    assert len(cache) == 9
    assert cache.get(None, 99) is not None
    assert cache.get(None, 0) is None


def test_a_schema_larger_than_the_memory_is_not_kept() -> None:
    cache = IdCache(capacity=5_000)
    cache.put(None, schema(1, 10_000))
    assert len(cache) == 0
    cache.put(None, schema(2))
    assert cache.get(None, 2) is not None


def test_putting_twice_counts_once_and_clearing_forgets() -> None:
    cache = IdCache(capacity=5_000)
    for _ in range(100):
        cache.put(None, schema(1, 2_000))
    assert len(cache) == 1
    cache.clear()
    assert cache.get(None, 1) is None
