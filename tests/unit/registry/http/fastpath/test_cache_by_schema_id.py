"""The response cache is bounded and cheap, and drops invalidated responses."""

from __future__ import annotations

import gc
import tracemalloc

import pytest

from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache

ONE, TWO = (".", 1), (".eu", 1)


def test_an_answer_is_fresh_until_it_is_too_old_and_stays_for_when_nobody_can_be_asked() -> None:
    now = [0.0]
    cache = ByteCache(10_000, seconds=5, clock=lambda: now[0])
    cache.put(ONE, b"one", start=cache.start_read())
    now[0] = 5.0
    assert cache.get(ONE) == b"one"
    now[0] = 5.1
    assert cache.get(ONE) is None
    assert cache.stale(ONE) == b"one"


def test_an_answer_is_as_old_as_the_beginning_of_its_reading() -> None:
    now = [0.0]
    cache = ByteCache(10_000, seconds=5, clock=lambda: now[0])
    slow = cache.start_read()
    now[0] = 2.0  # what the slow read returns may have been deleted since then
    cache.put(TWO, b"two", start=cache.start_read())
    cache.put(ONE, b"one", start=slow)
    now[0] = 5.001
    assert cache.get(ONE) is None
    assert cache.get(TWO) == b"two"
    now[0] = 6.9
    cache.put(ONE, b"late", start=slow)
    assert cache.get(ONE) is None


def test_answers_of_a_moment_share_a_time_that_is_never_too_late() -> None:
    now = [0.0]
    cache = ByteCache(10_000, seconds=5, clock=lambda: now[0])
    for number in range(100):
        now[0] = number / 100
        cache.put((".", number), b"x", start=cache.start_read())
    for number in range(100):
        now[0] = number / 100 + 5.001
        assert cache.get((".", number)) is None


def test_renewed_entries_stay_and_others_expire() -> None:
    now = [0.0]
    cache = ByteCache(20 * 1_200, seconds=5, clock=lambda: now[0])
    for number in range(100):
        now[0] += 1
        if cache.get((".", 0)) is None:
            cache.put((".", 0), b"x" * 1_000, start=cache.start_read())
        cache.put((".", number), b"x" * 1_000, start=cache.start_read())
        assert cache.get((".", 0)), number
        assert cache.size <= 20 * 1_200
    assert cache.get((".", 99))
    assert cache.stale((".", 1)) is None
    assert 10 <= len(cache) <= 20
    cache.put((".", 500), b"x" * 30_000, start=cache.start_read())
    assert cache.get((".", 500)) is None


def test_the_size_is_that_of_what_is_kept() -> None:
    cache = ByteCache(100_000, seconds=60)
    for number in range(10):
        for form in ("", "a", "bb"):
            cache.put((".", number), b"x" * number, start=cache.start_read(), requested_subject=form)
    assert cache.size == sum(3 * (number + 200) + 6 for number in range(10))
    for number in range(10):
        cache.put((".", number), b"", start=cache.start_read(), requested_subject="a")
    cache.forget([(".", number) for number in range(5)])
    assert cache.size == sum(2 * number + 606 for number in range(5, 10))
    cache.forget_all()
    assert (cache.size, len(cache)) == (0, 0)


def test_an_id_has_an_answer_for_each_form_and_all_are_forgotten_together() -> None:
    cache = ByteCache(10_000, seconds=60)
    for form in ("", "a", "b"):
        cache.put(ONE, b"one " + form.encode(), start=cache.start_read(), requested_subject=form)
    cache.put(TWO, b"two", start=cache.start_read())
    assert [cache.get(ONE, form) for form in ("", "a", "b", "c")] == [b"one ", b"one a", b"one b", None]
    cache.put(ONE, b"new", start=cache.start_read(), requested_subject="a")
    assert [cache.get(ONE, form) for form in ("", "a", "b")] == [b"one ", b"new", b"one b"]
    cache.forget({ONE})
    assert [cache.get(ONE, form) for form in ("", "a", "b")] == [None] * 3
    assert cache.get(TWO) == b"two"


def test_an_id_has_a_bounded_number_of_forms() -> None:
    cache = ByteCache(1_000_000, seconds=60)
    for number in range(100):
        cache.put(ONE, b"x", start=cache.start_read(), requested_subject=str(number))
    assert sum(cache.get(ONE, str(number)) is not None for number in range(100)) == 8
    assert cache.get(ONE, "99")


def test_responses_read_before_an_invalidation_are_not_cached() -> None:
    cache = ByteCache(10_000, seconds=60)
    start = cache.start_read()
    cache.forget({ONE})
    cache.put(ONE, b"old", start=start)
    assert cache.get(ONE) is None
    cache.put(ONE, b"new", start=cache.start_read())
    assert cache.get(ONE) == b"new"
    cache.forget({ONE})
    assert cache.get(ONE) is None


@pytest.mark.parametrize("length", [250, 960, 10_000])
@pytest.mark.parametrize("form", ["", "orders-value"])
def test_an_answer_takes_at_most_a_quarter_more_than_its_length_and_200_bytes(length: int, form: str) -> None:
    count = 8_000_000 // length // 10
    cache = ByteCache(10 * count * (length + 500), seconds=60)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for number in range(count):
            text = bytes(length)
            cache.put((".", 1_000 + number), text, start=cache.start_read(), requested_subject="".join(form))
        taken = (tracemalloc.get_traced_memory()[0] - before) / count
    finally:
        tracemalloc.stop()
    assert len(cache) == count
    assert taken <= 1.25 * length + 200, taken


def test_watchers_receive_the_size_and_the_number_of_ids() -> None:
    told: list[tuple[int, int]] = []
    cache = ByteCache(10_000, seconds=5, watch=lambda size, entries: told.append((size, entries)))
    cache.put((".", 1), b"x" * 100, start=cache.start_read())
    cache.put((".eu", 1), b"x", start=cache.start_read())
    assert told[-1] == (cache.size, 2)
    cache.forget({(".", 1)})
    assert told[-1] == (cache.size, 1)
    cache.forget_all()
    assert told[-1] == (0, 0)
