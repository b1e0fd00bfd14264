"""Numbers of rows are read as they were written."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from contractlog.spark_validation.lineage.row_numbers import decode_numbers, encode_numbers, parse_numbers


def test_texts_of_numbers_are_numbers_and_others_are_not() -> None:
    numbers = parse_numbers(pa.array(["5", "-2.5", "1e+30", "nan", "", "EWR", "12e4", "1357034400000000"]))
    assert numbers is not None
    np.testing.assert_array_equal(numbers, [5, -2.5, 1e30, np.nan, np.nan, np.nan, np.nan, 1357034400000000])
    assert parse_numbers(pa.array(["a", "b"])) is None


def test_numbers_at_the_ends_of_the_range_of_floats_are_none() -> None:
    numbers = parse_numbers(pa.array(["1e+300", "-1.7976931348623157e+308", "5e-324", "1e-200", "0", "-0.0"]))
    np.testing.assert_array_equal(numbers, [np.nan, np.nan, np.nan, np.nan, 0, 0])


def test_rows_have_the_first_number_of_each_field() -> None:
    rows = np.array([0, 1, 3])
    columns = [
        (7, np.array([0, 1, 1, 2, 3]), np.array([1.5, 2.0, 9.0, 3.0, np.nan])),
        (2**32 - 1, np.array([3]), np.array([-4.0])),
    ]
    encoded = encode_numbers(columns, rows)
    expected = [[1.5, np.nan, np.nan], [2.0, np.nan, np.nan], [np.nan, -4.0, np.nan]]
    np.testing.assert_array_equal(decode_numbers(encoded, [7, 2**32 - 1, 12]), expected)


def test_rows_without_numbers_are_empty() -> None:
    assert encode_numbers([], np.array([0, 1])) == [b"", b""]
    assert np.isnan(decode_numbers([b"", b""], [1])).all()
