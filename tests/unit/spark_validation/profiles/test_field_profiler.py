"""A profile says what a plain count of the values says, and is the same however the values are split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from contractlog.contracts.audit.field_entries import describe_field
from contractlog.contracts.audit.field_profiles import (
    MAX_DISTINCT_HASHES,
    MAX_FIELDS_PER_PART,
    MAX_LISTED_VALUES,
    FieldProfile,
    ValueRange,
    estimate_distinct,
)
from contractlog.contracts.audit.mergeable_state import AuditState
from contractlog.spark_validation.columnar.validator_results import SYMBOL_TYPE
from contractlog.spark_validation.profiles.field_profiler import profile_fields
from contractlog.spark_validation.profiles.value_hashes import hash_values
from contractlog.spark_validation.state.state_files import read_values, write_values

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "truth": (pa.bool_(), st.booleans()),
    "whole": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "real": (pa.float64(), st.floats()),
    "price": (pa.decimal128(20, 4), st.decimals(-(10**12), 10**12, places=4)),
    "name[]": (pa.string(), st.text("ab é", max_size=5)),
    "state": (SYMBOL_TYPE, st.sampled_from(["OPEN", "SHUT"])),
    "raw": (pa.binary(), st.binary(max_size=4)),
    "at": (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
    "day": (pa.date32(), st.dates()),
    "none": (pa.null(), st.none()),
}


@dataclass(frozen=True)
class Column:
    """A column of a batch."""

    field: str
    rows: NDArray[np.int64]
    values: pa.Array[Any]


def make_columns(rows: Mapping[int, tuple[str, list[Any]]]) -> list[Column]:
    """Return the values of rows, each of which has values of one field."""
    by_field: dict[str, tuple[list[int], list[Any]]] = {}
    for row, (field, values) in sorted(rows.items()):
        places, all_values = by_field.setdefault(field, ([], []))
        places += [row] * len(values)
        all_values += values
    return [
        Column(field, np.array(places, np.int64), pa.array(values, TYPES[field][0]))
        for field, (places, values) in by_field.items()
    ]


ROW = st.sampled_from(sorted(TYPES)).flatmap(
    lambda field: st.tuples(
        st.just(field), st.lists(TYPES[field][1], min_size=1, max_size=3 if field.endswith("[]") else 1)
    )
)


def merge_profiles(parts: list[Mapping[str, FieldProfile]]) -> dict[str, FieldProfile]:
    return reduce(
        AuditState.merge,
        (AuditState(profiles={("t", "value", name): profile for name, profile in part.items()}) for part in parts),
    ).profiles  # type: ignore[return-value]


@given(st.lists(ROW, min_size=1, max_size=30), st.lists(st.integers(0, 2), min_size=30, max_size=30), st.booleans())
def test_any_split_of_the_records_gives_the_same_profile(
    rows: list[tuple[str, list[Any]]],
    parts: list[int],
    show_values: bool,  # noqa: FBT001 - of a strategy
) -> None:
    whole = profile_fields(make_columns(dict(enumerate(rows))), show_values=show_values)
    split = [
        profile_fields(
            make_columns({number: row for number, row in enumerate(rows) if parts[number] == part}),
            show_values=show_values,
        )
        for part in range(3)
    ]
    assert merge_profiles(split) == merge_profiles([whole])


def profile_values(kind: str, values: list[Any], *, show_values: bool = True) -> FieldProfile:
    columns = make_columns({row: (kind, [value]) for row, value in enumerate(values)})
    return profile_fields(columns, show_values=show_values)[kind]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=50))
def test_numbers_have_their_range_and_quantiles(numbers: list[float]) -> None:
    profile = profile_values("real", numbers)
    assert profile.ranges["number"] == ValueRange(min(numbers), max(numbers))
    assert estimate_distinct(profile) == (len({number + 0.0 for number in numbers}), 0.0)
    for share in (0.0, 0.5, 0.99):
        exact = sorted(numbers)[min(int(share * len(numbers)), len(numbers) - 1)]
        assert profile.numbers.quantile(share) == pytest.approx(exact, rel=0.016, abs=1e-300)


def test_equal_numbers_are_one_value_whatever_their_type() -> None:
    values = [pa.array([5], pa.int64()), pa.array([5.0]), pa.array([5], pa.int32())]
    assert len({hash_values(array)[0] for array in values}) == 1
    assert profile_values("whole", [5]).listed == profile_values("real", [5.0]).listed == {"5": 1}


@given(st.lists(st.text(max_size=6), unique=True, min_size=2, max_size=20))
def test_distinct_texts_have_distinct_hashes(texts: list[str]) -> None:
    assert len(set(hash_values(pa.array(texts, pa.string())).tolist())) == len(texts)


def test_a_long_text_and_a_slice_of_an_array_are_hashed_as_a_whole() -> None:
    texts = ["x" * 10_000, "x" * 9_999 + "y", "", "x"]
    whole = hash_values(pa.array(texts)).tolist()
    assert len(set(whole)) == len(texts)
    assert hash_values(pa.array(["a", *texts, "b"])[1:5]).tolist() == whole


def test_many_distinct_values_are_estimated() -> None:
    profile = profile_values("whole", list(range(40_000)))
    distinct, error = estimate_distinct(profile)
    assert abs(distinct - 40_000) < 4 * error * 40_000
    assert len(profile.distinct) == MAX_DISTINCT_HASHES
    assert profile.listed is None


def test_values_are_listed_while_they_are_few() -> None:
    names = [f"value {number}" for number in range(MAX_LISTED_VALUES + 1)]
    assert profile_values("name[]", names[:-1]).listed == dict.fromkeys(names[:-1], 1)
    assert profile_values("name[]", names).listed is None


def test_texts_and_bytes_are_masked_unless_the_schema_names_them() -> None:
    address = "anna@example.org"
    entries = [
        describe_field(kind, profile_values(kind, values, show_values=False), 3)
        for kind, values in {"name[]": [address, address, "b"], "raw": [address.encode()], "state": ["OPEN"]}.items()
    ]
    assert address not in str(entries)
    assert address.encode().hex() not in str(entries)
    assert [entry["listed"] for entry in entries] == [
        [{"value": None, "records": 2}, {"value": None, "records": 1}],
        [{"value": None, "records": 1}],
        [{"value": "OPEN", "records": 1}],
    ]
    assert entries[0]["personal_data"] == [{"pattern": "e-mail address", "values": 2}]
    assert [entry["ranges"] for entry in entries[:2]] == [[], []]
    shown = describe_field("name[]", profile_values("name[]", [address, address, "b"]), 3)
    assert shown["listed"] == [{"value": address, "records": 2}, {"value": "b", "records": 1}]
    assert shown["ranges"] == [{"kind": "text", "lowest": address, "highest": "b"}]


def test_nulls_absent_records_and_array_sizes_are_counted() -> None:
    rows: dict[int, tuple[str, list[Any]]] = {0: ("name[]", ["a", "b", "b"]), 2: ("name[]", ["a"]), 3: ("none", [None])}
    profiles = profile_fields(make_columns(rows), show_values=True)
    entry = describe_field("name[]", profiles["name[]"], 5)
    assert (entry["records"], entry["absent"], entry["values"], entry["distinct"]) == (2, 3, 4, 2)
    assert (entry["sizes"]["p1"], entry["sizes"]["p99"]) == (1, 3)
    nulls = describe_field("none", profiles["none"], 5)
    assert (nulls["records"], nulls["nulls"], nulls["values"]) == (1, 1, 0)


def test_times_dates_and_numbers_are_described() -> None:
    times = [EPOCH, EPOCH + timedelta(days=1, microseconds=5)]
    assert describe_field("at", profile_values("at", times), 2)["ranges"] == [
        {"kind": "time", "lowest": "1970-01-01T00:00:00Z", "highest": "1970-01-02T00:00:00.000005Z"}
    ]
    assert describe_field("day", profile_values("day", [times[1].date()]), 1)["ranges"] == [
        {"kind": "date", "lowest": "1970-01-02", "highest": "1970-01-02"}
    ]
    prices = describe_field("price", profile_values("price", [Decimal("1.5"), Decimal("2.5")] * 50), 100)
    assert prices["quantiles"]["p50"] == pytest.approx(2.5, rel=0.016)
    assert prices["bins"] == {"from": 1.5, "to": 2.5, "counts": [50, *[0] * 22, 50]}
    assert prices["listed"] == [{"value": "1.5", "records": 50}, {"value": "2.5", "records": 50}]


def test_the_fields_of_a_part_are_bounded() -> None:
    columns = [
        Column(f"f{number:05}", np.zeros(1, np.int64), pa.array([1])) for number in range(MAX_FIELDS_PER_PART + 5)
    ]
    profiles = profile_fields(reversed(columns), show_values=False)
    assert list(profiles) == [column.field for column in columns[:MAX_FIELDS_PER_PART]]


def test_profiles_are_read_as_they_were_written(tmp_path: Path) -> None:
    random = Random(4)  # noqa: S311 - not for secrets
    rows: dict[int, tuple[str, list[Any]]] = {}
    for row in range(400):
        rows[row] = random.choice(
            [("whole", [row * row]), ("name[]", [f"n{row}", "x"]), ("at", [EPOCH]), ("none", [None])]
        )
    profiles = profile_fields(make_columns(rows), show_values=True)
    state = AuditState(profiles={("t", "value", name): profile for name, profile in profiles.items()})
    write_values(state, tmp_path)
    assert read_values(tmp_path) == state
    assert Counter(profiles["name[]"].kinds) == {"text": 2 * sum(field == "name[]" for field, _ in rows.values())}
