"""Histograms add up exactly, and their quantiles have a bounded error."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.number_histograms import MAX_BUCKETS, NumberHistogram

COUNTS = st.dictionaries(st.integers(-(1 << 17), 1 << 17), st.integers(1, 9), max_size=40)


def make_histogram(counts: dict[int, int]) -> NumberHistogram:
    return NumberHistogram(counts).limit()


@given(COUNTS, COUNTS, COUNTS)
def test_merge_is_associative_and_commutative(
    first: dict[int, int], second: dict[int, int], third: dict[int, int]
) -> None:
    one, two, three = map(make_histogram, (first, second, third))
    assert one.merge(two) == two.merge(one)
    assert one.merge(two).merge(three) == one.merge(two.merge(three))
    assert one.merge(two).total == one.total + two.total


def test_parts_that_are_limited_add_up_to_the_whole_that_is_limited() -> None:
    parts = [dict.fromkeys(range(start, start + 400), 1) for start in (-5_000, 0, 90_000)]
    whole: Counter[int] = Counter()
    for part in parts:
        whole.update(part)
    merged = NumberHistogram()
    for part in parts:
        merged = merged.merge(make_histogram(part))
    assert merged == make_histogram(dict(whole))
    assert len(merged.counts) <= MAX_BUCKETS
    assert merged.total == 1_200


def test_an_empty_histogram_has_no_quantiles() -> None:
    with pytest.raises(ValueError, match="empty"):
        NumberHistogram().quantile(0.5)


@given(st.integers(-131_007, 131_007))
def test_a_bucket_is_at_most_a_64th_of_its_numbers_wide(bucket: int) -> None:
    low, high = NumberHistogram().bounds(bucket)
    assert abs(low) < abs(high)
    assert abs(high - low) <= max(abs(low) / 64, 1e-300)
    assert min(low, high) <= NumberHistogram().middle(bucket) <= max(low, high)
