"""Samples keep the same values, however a topic is divided."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.value_samples import (
    MILLISECONDS_PER_DAY,
    FieldSample,
    SampleDesign,
    SampledValue,
    compute_sampling_rank,
    merge_samples,
    parse_row,
    select_sample,
)

SMALL = SampleDesign(key="test", breadth=4, depth=6, repeats=3)

OCCURRENCES = st.lists(
    st.builds(
        lambda value, day, offset: SampledValue(
            value, compute_sampling_rank(value, day * MILLISECONDS_PER_DAY), day, 0, offset, b""
        ),
        st.integers(0, 8),
        st.integers(0, 3),
        st.integers(0, 30),
    ),
    max_size=40,
    unique=True,
)


def sampled(values: list[SampledValue]) -> FieldSample:
    return FieldSample(SMALL, select_sample(sorted(values), SMALL))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(OCCURRENCES, OCCURRENCES, OCCURRENCES)
def test_merging_does_not_depend_on_order_or_grouping(
    a: list[SampledValue], b: list[SampledValue], c: list[SampledValue]
) -> None:
    first, second, third = sampled(a), sampled(b), sampled(c)
    merged = merge_samples(merge_samples(first, second), third)
    assert merged == merge_samples(third, merge_samples(second, first))
    assert merged == sampled(list({*a, *b, *c}))
    assert merge_samples(merged, merged) == merged


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(OCCURRENCES)
def test_a_sample_holds_the_lowest_values_in_breadth_and_the_very_lowest_in_depth(values: list[SampledValue]) -> None:
    sample = sampled(values).values
    distinct = sorted({value.value_hash for value in values})
    firsts = [min(value for value in values if value.value_hash == found) for found in distinct[: SMALL.breadth]]
    assert set(firsts) <= set(sample)
    deep = [
        value for found in distinct for value in sorted(v for v in values if v.value_hash == found)[: SMALL.repeats]
    ]
    assert set(deep[: SMALL.depth]) <= set(sample)
    assert set(sample) == {*firsts, *deep[: SMALL.depth]}


def test_samples_of_different_designs_are_not_merged() -> None:
    with pytest.raises(ValueError, match="different designs"):
        merge_samples(FieldSample(SMALL, ()), FieldSample(SampleDesign(key="other"), ()))


def test_a_days_turn_is_the_same_all_day_and_another_the_next() -> None:
    noon = 15_000 * MILLISECONDS_PER_DAY
    assert compute_sampling_rank(7, noon) == compute_sampling_rank(7, noon + MILLISECONDS_PER_DAY - 1)
    assert compute_sampling_rank(7, noon) != compute_sampling_rank(7, noon + MILLISECONDS_PER_DAY)
    assert 0 <= compute_sampling_rank(2**64 - 1, -1) < 2**32


def test_cells_are_read_back_by_field() -> None:
    assert parse_row(bytes.fromhex("01000000 02000000 ff000000 00000080")) == {1: 2, 255: 2**31}
