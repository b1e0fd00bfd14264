"""Values that another field lacks are counted while they are few, and estimated beyond."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.field_profiles import MAX_DISTINCT_HASHES, FieldProfile
from contractlog.contracts.quality.measurement import NotMeasurable
from contractlog.contracts.quality.orphans import count_orphans, find_target


def profile(values: range | set[int]) -> FieldProfile:
    hashes = sorted(int.from_bytes(blake2b(b"%d" % value, digest_size=8).digest()) for value in values)
    return FieldProfile(
        len(values), kinds={"number": len(values)}, distinct=tuple(hashes[:MAX_DISTINCT_HASHES]), listed=None
    )


@given(st.sets(st.integers(0, 600), min_size=1), st.sets(st.integers(0, 600), min_size=1))
def test_few_values_are_compared_exactly(values: set[int], others: set[int]) -> None:
    measured = count_orphans(profile(values), profile(others))
    assert measured.low <= len(values - others) <= measured.high
    if len(values) < MAX_DISTINCT_HASHES > len(others):
        assert measured.low == measured.high
    assert bool(measured.low) <= bool(values - others)


@pytest.mark.parametrize(("missing", "present"), [(0, 60_000), (30, 60_000), (6_000, 54_000), (60_000, 0)])
def test_the_interval_of_many_values_has_the_true_number(missing: int, present: int) -> None:
    values = profile(range(60_000))
    measured = count_orphans(values, profile(range(60_000 - present, 100_000) if present else range(200_000, 300_000)))
    true = 60_000 - present
    assert measured.low <= true <= measured.high
    assert (measured.low > 0) == (missing > 1_000)  # 30 of 60,000 are not in a sample of 512


def test_one_orphan_among_the_known_hashes_is_certain() -> None:
    lowest = min(range(60_000), key=lambda value: blake2b(b"%d" % value, digest_size=8).digest())
    measured = count_orphans(profile(range(60_000)), profile(set(range(60_000)) - {lowest}))
    assert measured.low >= 1


def test_a_target_is_a_topic_and_a_field_that_may_both_have_dots() -> None:
    short, long, key = (profile({number}) for number in range(3))
    profiles = {
        ("shop", "value", "customers.id"): short,
        ("shop.customers", "value", "id"): long,
        ("shop.customers", "key", ""): key,
    }
    assert find_target("shop.customers.id", "value", profiles) is long
    assert find_target("shop.customers", "key", profiles) is key
    del profiles["shop.customers", "value", "id"]
    assert find_target("shop.customers.id", "value", profiles) is short
    with pytest.raises(NotMeasurable, match="audit its topic"):
        find_target("other.id", "value", profiles)
