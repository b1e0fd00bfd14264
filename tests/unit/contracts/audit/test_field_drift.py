"""Drift is zero for equal distributions, within chance for samples of one, and found when they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contractlog.contracts.audit.field_drift import SHIFT, find_drifts, measure_drift
from contractlog.contracts.audit.field_profiles import MAX_LISTED_VALUES, FieldProfile, ValueRange
from contractlog.contracts.audit.number_histograms import NumberHistogram
from contractlog.spark_validation.profiles.field_profiler import make_histogram

COUNTS = st.dictionaries(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), st.integers(1, 10_000), min_size=2)


def profile_texts(counts: dict[str, int], nulls: int = 0) -> FieldProfile:
    values = sum(counts.values())
    return FieldProfile(values + nulls, nulls, {"text": values}, tuple(range(len(counts))), counts)


def profile_numbers(numbers: Sequence[float]) -> FieldProfile:
    counts = Counter(numbers)
    distinct = np.array(sorted(counts), np.float64)
    histogram = make_histogram(distinct, np.array([counts[number] for number in distinct.tolist()], np.int64))
    return FieldProfile(
        len(numbers),
        kinds={"number": len(numbers)},
        distinct=tuple(range(min(len(counts), 511))),
        listed=None if len(counts) > MAX_LISTED_VALUES else {str(number): count for number, count in counts.items()},
        ranges={"number": ValueRange(distinct[0].item(), distinct[-1].item())},
        numbers=histogram,
    )


@given(COUNTS, st.integers(0, 1_000))
def test_equal_distributions_have_no_drift(counts: dict[str, int], nulls: int) -> None:
    drift = measure_drift(profile_texts(counts, nulls), profile_texts(counts, nulls))
    assert drift is not None
    assert (drift.index, drift.lowest) == (0, 0)
    assert drift.before == drift.after == sum(counts.values()) + nulls


@given(COUNTS, COUNTS)
def test_drift_is_never_negative_and_chance_is_part_of_it(before: dict[str, int], after: dict[str, int]) -> None:
    drift = measure_drift(profile_texts(before), profile_texts(after))
    assert drift is not None
    assert 0 <= drift.lowest <= drift.index + 1e-12


@pytest.mark.parametrize("size", [30, 300, 3_000])
@pytest.mark.parametrize("seed", range(20))
def test_samples_of_one_population_have_not_surely_drifted(size: int, seed: int) -> None:
    values = np.random.default_rng(seed)
    before, after = (np.round(values.lognormal(3, 1, count), 2).tolist() for count in (20_000, size))
    drift = measure_drift(profile_numbers(before), profile_numbers(after))
    assert drift is not None
    assert drift.lowest < SHIFT


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (profile_texts({"web": 700, "app": 300}), profile_texts({"web": 100, "app": 900})),
        (profile_texts({"web": 700, "app": 300}), profile_texts({"web": 700, "kiosk": 300})),
        (profile_texts({"web": 700, "app": 300}), profile_texts({"web": 350, "app": 150}, nulls=500)),
        (
            profile_numbers([n * 1.25 for n in range(4_000)]),
            profile_numbers([n * 125 for n in range(4_000)]),  # cents in place of euros
        ),
    ],
)
def test_a_shift_is_found(before: FieldProfile, after: FieldProfile) -> None:
    drift = measure_drift(before, after)
    assert drift is not None
    assert drift.lowest > SHIFT


def test_texts_with_many_values_are_compared_by_their_lengths() -> None:
    def profile(lengths: dict[int, int]) -> FieldProfile:
        histogram = make_histogram(np.array(list(lengths), np.float64), np.array(list(lengths.values()), np.int64))
        return FieldProfile(1_000, kinds={"text": 1_000}, distinct=(1,), listed=None, lengths=histogram)

    drift = measure_drift(profile({8: 500, 9: 500}), profile({8: 500, 40: 500}))
    assert drift is not None
    assert drift.lowest > SHIFT


def test_ids_and_times_have_no_distribution_to_compare() -> None:
    ids = [
        FieldProfile(
            500,
            kinds={"number": 500},
            distinct=tuple(range(500)),
            listed=None,
            ranges={"number": ValueRange(float(start), float(start + 499))},
            numbers=make_histogram(np.arange(start, start + 500, dtype=np.float64), np.ones(500, np.int64)),
        )
        for start in (0, 500)
    ]
    assert measure_drift(*ids) is None
    times = FieldProfile(500, kinds={"time": 500}, listed=None)
    assert measure_drift(times, times) is None
    assert measure_drift(FieldProfile(0), times) is None


def test_histograms_of_other_precision_are_compared() -> None:
    fine = NumberHistogram({64: 500, 65: 500})
    coarse = NumberHistogram({32: 1_000}, dropped_bits=1)
    profiles = [
        FieldProfile(1_000, kinds={"number": 1_000}, distinct=(1, 2), listed=None, numbers=histogram)
        for histogram in (fine, coarse)
    ]
    assert measure_drift(*profiles) is None  # all numbers are in one range
    halves = FieldProfile(1_000, kinds={"number": 1_000}, listed=None, numbers=NumberHistogram({64: 500, 80: 500}))
    drift = measure_drift(halves, profiles[1])
    assert drift is not None
    assert drift.lowest > SHIFT


def test_fields_are_compared_that_are_in_both() -> None:
    key, other = ("orders", "value", "channel"), ("orders", "value", "new")
    texts = profile_texts({"web": 700, "app": 300})
    assert set(find_drifts({key: texts}, {key: texts, other: texts})) == {key}
