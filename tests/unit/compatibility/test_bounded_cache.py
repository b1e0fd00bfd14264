"""A cache is bounded by the weight of its entries, and evicts the oldest first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from contractlog.compatibility.bounded_cache import BoundedCache


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_a_cache_never_weighs_more_than_its_limit_and_evicts_the_oldest(limit: int) -> None:
    cache: BoundedCache[int, int] = BoundedCache(limit)
    for number in range(1_000):
        assert cache.put(number, -number, 1 + number % 7) == -number
        assert cache.weight == sum(1 + key % 7 for key in cache) <= limit
        newest = [key for key in range(number + 1) if 1 + key % 7 <= limit]
        assert list(cache) == newest[len(newest) - len(cache) :]
    assert cache.weight > 0


def test_a_full_cache_evicts_an_eighth_at_once_and_a_small_one_a_single_entry() -> None:
    cache: BoundedCache[int, int] = BoundedCache(800)
    for number in range(801):
        cache.put(number, number)
    assert list(cache) == list(range(101, 801))
    small: BoundedCache[int, int] = BoundedCache(3)
    for number in (0, 1, 2, 0, 3):
        small.put(number, number)
    assert list(small) == [2, 0, 3]


def test_a_value_heavier_than_the_limit_is_not_cached_and_replaces_what_was() -> None:
    cache: BoundedCache[str, int] = BoundedCache(100)
    cache.put("light", 1)
    cache.put("heavy", 2, 100)
    assert list(cache) == ["heavy"]
    assert cache.put("heavy", 3, 101) == 3
    assert (cache.get("heavy"), len(cache), cache.weight) == (None, 0, 0)


def test_weights_are_given_or_computed() -> None:
    cache: BoundedCache[str, str] = BoundedCache(10, len)
    for key, value in (("a", "xxx"), ("b", "xxxx"), ("a", "x")):
        cache.put(key, value)
    assert (cache.weight, list(cache)) == (5, ["b", "a"])
    cache.drop("b")
    cache.drop("missing")
    assert cache.weight == 1
    cache.clear()
    assert (cache.weight, len(cache), "a" in cache) == (0, 0, False)


def test_touched_entries_become_the_newest_and_read_ones_do_not() -> None:
    cache: BoundedCache[str, int] = BoundedCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert (cache.get("a"), list(cache)) == (1, ["a", "b"])
    assert (cache.touch("a"), cache.touch("c"), list(cache)) == (1, None, ["b", "a"])
    cache.put("c", 3)
    assert list(cache) == ["a", "c"]


def test_threads_never_see_a_wrong_value_and_lose_no_weight() -> None:
    cache: BoundedCache[int, int] = BoundedCache(50)

    def work(seed: int) -> None:
        for step in range(5_000):
            key = (seed * 7 + step * 13) % 100
            assert (cache.touch(key) if step % 2 else cache.get(key)) in {None, -key}
            cache.put(key, -key, 1 + key % 3)
            if step % 50 == 0:
                cache.drop(key)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert cache.weight == sum(1 + key % 3 for key in cache) <= 50
