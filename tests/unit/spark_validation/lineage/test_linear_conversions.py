"""Linear conversions are found, and sequences that merely grow together are not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contractlog.spark_validation.lineage.linear_conversions import LinearConversion, find_linear_conversion
from contractlog.spark_validation.lineage.row_numbers import MAX_NUMBER, MIN_NUMBER

RANDOM = np.random.default_rng(5)
MINUTES = RANDOM.integers(-20, 400, 300).astype(float)
TIMES = np.arange(300)


def find(values: object, results: object) -> LinearConversion | None:
    return find_linear_conversion(np.array(values, float), np.array(results, float), TIMES)


@pytest.mark.parametrize(
    ("results", "words"),
    [
        (MINUTES / 60, "minutes / 60"),
        (np.round(MINUTES / 60, 2), "minutes / 60"),
        (MINUTES * 1.609344, "minutes * 1.60934"),
        (MINUTES * 1.8 + 32, "minutes * 1.8 + 32"),
        (1000 - MINUTES, "minutes * -1 + 1000"),
        (MINUTES * 60_000, "minutes * 60000"),
        (np.round(MINUTES * 0.45359237, 4), "minutes * 0.453592"),
    ],
)
def test_a_conversion_is_named_in_words(results: object, words: str) -> None:
    conversion = find(MINUTES, results)
    assert conversion is not None
    assert conversion.describe("minutes") == words
    assert conversion.score > 0.99


def test_a_few_other_rows_are_allowed_and_not_support() -> None:
    results = MINUTES / 60
    results[:9] = 77
    conversion = find(MINUTES, results)
    assert conversion is not None
    assert conversion.rows.tolist() == list(range(9, 300))
    assert conversion.score == pytest.approx(0.97)


@pytest.mark.parametrize(
    "results",
    [
        RANDOM.integers(0, 400, 300),
        MINUTES + RANDOM.normal(0, 20, 300),
        np.full(300, 3.0),
        np.where(MINUTES > 100, 1, 0),
        MINUTES**2,
        np.full(300, np.nan),
    ],
)
def test_others_are_no_conversion(results: object) -> None:
    assert find(MINUTES, results) is None


NUMBERS = st.just(0.0) | st.floats(MIN_NUMBER, MAX_NUMBER) | st.floats(-MAX_NUMBER, -MIN_NUMBER) | st.just(np.nan)


@pytest.mark.filterwarnings("error")
@settings(deadline=None)
@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=6, max_size=30))
def test_no_numbers_of_a_sample_are_too_large_or_small(rows: list[tuple[float, float]]) -> None:
    values, results = np.array(rows).T
    conversion = find_linear_conversion(values, results, np.arange(len(rows)))
    assert conversion is None or conversion.describe("x")


def test_sequences_that_grow_together_are_no_conversion_but_units_of_time_are() -> None:
    sequence = np.arange(300.0) * 3 + 100_000
    clock = 1.7e12 + np.cumsum(RANDOM.integers(1, 9000, 300)).astype(float)
    assert find(sequence, np.arange(300)) is None
    assert find(clock, np.floor(clock / 1000)) is not None
