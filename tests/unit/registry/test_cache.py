"""The cache of answers: bounded, and never keeps what had to be forgotten."""

from __future__ import annotations

from contractlog.registry.cache import ByteCache


def test_an_answer_is_kept_until_it_is_too_old() -> None:
    now = [0.0]
    cache = ByteCache(10_000, seconds=5, clock=lambda: now[0])
    cache.put((".", 1), b"one", generation=cache.generation)
    now[0] = 5.0
    assert cache.get((".", 1)) == b"one"
    now[0] = 5.1
    assert cache.get((".", 1)) is None


def test_what_was_used_longest_ago_goes_first() -> None:
    cache = ByteCache(3 * 1_200, seconds=60)
    for number in (1, 2, 3):
        cache.put((".", number), b"x" * 1_000, generation=cache.generation)
    cache.get((".", 1))
    cache.put((".", 4), b"x" * 1_000, generation=cache.generation)
    assert [number for number in (1, 2, 3, 4) if cache.get((".", number))] == [1, 3, 4]
    cache.put((".", 5), b"x" * 10_000, generation=cache.generation)
    assert cache.get((".", 5)) is None


def test_what_was_read_before_it_was_forgotten_is_not_kept() -> None:
    cache = ByteCache(10_000, seconds=60)
    generation = cache.generation
    cache.forget({(".", 1)})
    cache.put((".", 1), b"old", generation=generation)
    assert cache.get((".", 1)) is None
    cache.put((".", 1), b"new", generation=cache.generation)
    assert cache.get((".", 1)) == b"new"
    cache.forget({(".", 1)})
    assert cache.get((".", 1)) is None
