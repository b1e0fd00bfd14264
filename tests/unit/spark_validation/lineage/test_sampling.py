"""Samples are coordinated across formats, and independent of batches."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.contracts.audit.value_samples import (
    DESIGN,
    FORMED_VALUES,
    MILLISECONDS_PER_DAY,
    FieldSample,
    SampleDesign,
    SampledValue,
    compute_sampling_rank,
    make_design,
    merge_samples,
    parse_row,
    select_sample,
)
from contractlog.spark_validation.lineage.function_forms import FORM_NAMES, decode_forms
from contractlog.spark_validation.lineage.sampling import canonical_texts, field_id, sample_fields

SMALL = SampleDesign(breadth=4, depth=6, repeats=3)


@dataclass(frozen=True)
class Column:
    field: str
    rows: npt.NDArray[np.int64]
    values: pa.Array


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        (pa.array([5, -7, 2**62]), ["5", "-7", "4611686018427387904"]),
        (pa.array([5.0, -0.0, 2.5, 1e300, float("nan")]), ["5", "0", "2.5", "1e+300", "nan"]),
        (pa.array(["5", "", "EWR", "2013-02-30T00:00:00Z"]), ["5", "", "EWR", "2013-02-30T00:00:00Z"]),
        (
            pa.array(["2013-01-01T10:00:00Z", "2013-01-01T05:00:00.000-05:00"]),
            ["1357034400000000", "1357034400000000"],
        ),
        (pa.array([datetime(2013, 1, 1, 10, tzinfo=UTC)], pa.timestamp("us", "UTC")), ["1357034400000000"]),
        (pa.array([date(2013, 1, 1)]), ["2013-01-01"]),
        (pa.array([Decimal("5.00"), Decimal("2.50"), Decimal("0.00")]), ["5", "2.5", "0"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([b"\x00\xff"]), ["00ff"]),
        (pa.array(["a", None]), ["a", None]),
        (pa.array([], pa.string()), []),
    ],
)
def test_equal_values_have_equal_texts_in_every_type(values: pa.Array, texts: list[str | None]) -> None:
    assert canonical_texts(values).to_pylist() == texts


def columns_of(rows: list[dict[str, list[int]]]) -> list[Column]:
    columns = []
    for field in ("a", "b", "c"):
        places = [index for index, row in enumerate(rows) for _ in row[field]]
        values = [value for row in rows for value in row[field]]
        columns.append(Column(field, np.array(places, np.int64), pa.array(values, pa.int64())))
    return columns


def sampled(
    rows: list[dict[str, list[int]]], days: list[int], start: int, design: SampleDesign
) -> dict[str, FieldSample]:
    stamps = np.array(days, np.int64) * MILLISECONDS_PER_DAY
    return dict(sample_fields(columns_of(rows), stamps, 3, np.arange(start, start + len(rows)), design))


ROW = st.fixed_dictionaries(
    {
        "a": st.lists(st.integers(0, 40), min_size=1, max_size=1),
        "b": st.lists(st.integers(0, 2), max_size=1),
        "c": st.lists(st.integers(0, 5), max_size=3),
    }
)
ROWS = st.lists(st.tuples(ROW, st.integers(-2, 3)), max_size=30)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, ROWS)
def test_a_topic_sampled_in_pieces_has_the_sample_of_the_whole(
    left: list[tuple[dict[str, list[int]], int]], right: list[tuple[dict[str, list[int]], int]]
) -> None:
    def of(records: list[tuple[dict[str, list[int]], int]], start: int) -> dict[str, FieldSample]:
        return sampled([row for row, _ in records], [day for _, day in records], start, SMALL)

    first, second = of(left, 0), of(right, len(left))
    merged = first | second | {field: merge_samples(first[field], second[field]) for field in first.keys() & second}
    assert merged == of(left + right, 0)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS, ROWS)
def test_what_a_previous_sample_makes_needless_is_omitted_without_loss(
    left: list[tuple[dict[str, list[int]], int]], right: list[tuple[dict[str, list[int]], int]]
) -> None:
    first = sampled([row for row, _ in left], [day for _, day in left], 0, SMALL)
    stamps = np.array([day for _, day in right], np.int64) * MILLISECONDS_PER_DAY
    columns, offsets = columns_of([row for row, _ in right]), np.arange(len(left), len(left) + len(right))
    whole = sample_fields(columns, stamps, 3, offsets, SMALL)
    pruned = sample_fields(columns, stamps, 3, offsets, SMALL, previous=first)
    for field in first.keys() & whole:
        assert merge_samples(first[field], pruned[field]) == merge_samples(first[field], whole[field])


def test_values_that_cannot_be_sampled_any_more_have_neither_rows_nor_forms() -> None:
    count = 9000
    texts = [f"text {number}" for number in range(count + 2000)]
    stamps = np.zeros(count, np.int64)
    first = sample_fields([Column("a", np.arange(count), pa.array(texts[:count]))], stamps, 0, np.arange(count))
    later = Column("a", np.arange(2000), pa.array(texts[count:]))
    pruned = sample_fields([later], stamps, 0, np.arange(count, 2 * count), previous=first)
    whole = sample_fields([later], stamps, 0, np.arange(count, 2 * count))
    assert len(pruned["a"].values) < len(whole["a"].values) / 2
    with_forms = [sum(bool(value.forms) for value in each["a"].values) for each in (pruned, whole)]
    assert with_forms[0] < with_forms[1] == FORMED_VALUES


def test_only_the_lowest_values_have_forms_and_only_those_in_depth_have_numbers() -> None:
    count = 3000
    columns = [Column("a", np.arange(count), pa.array(range(count)))]
    values = sample_fields(columns, np.zeros(count, np.int64), 0, np.arange(count))["a"].values
    assert [bool(value.forms) for value in values] == [index < FORMED_VALUES for index in range(len(values))]
    assert [bool(value.numbers) for value in values] == [index < DESIGN.depth for index in range(len(values))]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([4111111111111111]),  # the number of a test card
        pa.array(["+49 170 1234567"]),
        pa.array(["ada@example.org"]),
    ],
)
def test_numbers_and_parts_of_personal_data_are_not_kept(values: pa.Array) -> None:
    zero = np.zeros(1, np.int64)
    columns = [Column("a", zero, values)]
    (value,) = sample_fields(columns, zero, 0, zero, make_design("secret"), secret="secret")["a"].values  # noqa: S106
    assert not value.numbers
    (forms,) = decode_forms(value.forms).values()
    assert {FORM_NAMES[index] for index in forms} == {"case and spaces", "MD5", "SHA-1", "SHA-256"}


def test_without_a_secret_key_no_form_allows_guessing_a_text_step_by_step() -> None:
    zero = np.zeros(1, np.int64)
    columns = [Column("a", zero, pa.array(["a-b-c"]))]
    (public,) = sample_fields(columns, zero, 0, zero)["a"].values
    (secret,) = sample_fields(columns, zero, 0, zero, make_design("secret"), secret="secret")["a"].values  # noqa: S106
    assert len(next(iter(decode_forms(public.forms).values()))) == 4
    assert len(next(iter(decode_forms(secret.forms).values()))) > 10
    assert public.value_hash != secret.value_hash


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ROWS)
def test_a_batch_keeps_what_one_record_after_the_other_would(records: list[tuple[dict[str, list[int]], int]]) -> None:
    whole = sampled([row for row, _ in records], [day for _, day in records], 0, SMALL)
    one_by_one: dict[str, list[SampledValue]] = {}
    for offset, (row, day) in enumerate(records):
        for field, found in sampled([row], [day], offset, SampleDesign(breadth=99, depth=99)).items():
            one_by_one.setdefault(field, []).extend(found.values)
    assert whole == {f: FieldSample(SMALL, select_sample(sorted(values), SMALL)) for f, values in one_by_one.items()}
    for found in whole.values():
        assert all(
            value.sampling_rank == compute_sampling_rank(value.value_hash, value.timestamp) for value in found.values
        )


def test_avro_and_json_keep_the_same_values() -> None:
    moments = [datetime(2013, 1, 1, hour, tzinfo=UTC) for hour in range(20)]
    stamps, offsets = np.zeros(20, np.int64), np.arange(20)
    avro = Column("at", np.arange(20), pa.array(moments, pa.timestamp("us", "UTC")))
    json = Column("at", np.arange(20), pa.array([moment.isoformat() for moment in moments]))
    assert sample_fields([avro], stamps, 0, offsets, SMALL) == sample_fields([json], stamps, 0, offsets, SMALL)


def test_a_kept_value_brings_its_row_without_nulls() -> None:
    a = Column("a", np.array([0, 1]), pa.array([1, 2]))
    b = Column("legs[].b", np.array([1, 1]), pa.array(["x", "y"]))
    stamps = np.array([0, 0])
    samples = sample_fields([a, b], stamps, 0, np.array([10, 11]))
    rows = {value.offset: parse_row(value.row) for value in samples["a"].values}
    assert set(rows[10]) == {field_id("a")}
    assert set(rows[11]) == {field_id("a"), field_id("legs[].b")}
    (first,) = {parse_row(value.row)[field_id("legs[].b")] for value in samples["legs[].b"].values}
    assert (
        first
        == sample_fields([Column("b", np.array([0]), pa.array(["x"]))], stamps, 0, stamps)["b"].values[0].value_hash
        >> 32
    )


def test_a_batch_without_values_has_no_samples() -> None:
    empty = np.empty(0, np.int64)
    assert sample_fields([Column("a", empty, pa.array([], pa.string()))], empty, 0, empty) == {}


def test_values_of_several_types_in_one_field_are_one_sample() -> None:
    """A union of int and string comes as two columns; texts that are equal are one value."""
    stamps, offsets = np.zeros(8, np.int64), np.arange(8)
    texts = Column("code", np.arange(8), pa.array([str(number) for number in range(8)]))
    mixed = [
        Column("code", np.arange(0, 8, 2), pa.array(["0", "2", "4", "6"])),
        Column("code", np.arange(1, 8, 2), pa.array([1, 3, 5, 7])),
    ]
    assert sample_fields(mixed, stamps, 0, offsets, SMALL) == sample_fields([texts], stamps, 0, offsets, SMALL)
