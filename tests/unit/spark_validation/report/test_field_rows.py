"""The table of a part's fields says in words what the profiles say in numbers."""

from __future__ import annotations

from contractlog.contracts.audit.report import FieldEntry
from contractlog.spark_validation.report.field_rows import FieldRow, describe_fields, list_field_rows

from support.reports import part


def make_field(name: str, **members: object) -> FieldEntry:
    """Return the entry of a field with 90 values in 100 records."""
    entry: FieldEntry = {
        "field": name,
        "records": 95,
        "absent": 5,
        "nulls": 5,
        "values": 90,
        "kinds": {"text": 90},
        "distinct": 2,
        "distinct_error": 0.0,
        "listed": [],
        "ranges": [],
        "quantiles": {},
        "bins": None,
        "lengths": {},
        "sizes": {},
        "personal_data": [],
    }
    return {**entry, **members}  # type: ignore[typeddict-item]


def rows_of(*fields: FieldEntry) -> list[FieldRow]:
    entry = part("orders", records=100)
    entry["fields"], entry["conforming"] = list(fields), 100
    return list_field_rows(entry, 10, pictured=True)


def test_values_are_listed_with_their_shares() -> None:
    listed = [{"value": "web", "records": 60}, {"value": None, "records": 30}]
    (row,) = rows_of(make_field("channel", listed=listed, ranges=[{"kind": "text", "lowest": "app", "highest": "web"}]))
    assert row.values == "web 60 of 90 (66.7 %)"
    assert (row.empty, row.distinct, row.ends) == ("10 of 100 (10 %)", "2", "app to web")
    assert row.picture is None


def test_hidden_texts_have_the_share_of_the_most_frequent_one() -> None:
    listed = [{"value": None, "records": 60}, {"value": None, "records": 30}]
    (row,) = rows_of(make_field("channel", listed=listed))
    assert row.values == "most frequent 60 of 90 (66.7 %)"


def test_times_are_written_for_people() -> None:
    ends = [
        {"kind": "time", "lowest": "2013-01-01T10:17:00Z", "highest": "300000000000000000 µs"},
        {"kind": "date", "lowest": "2013-01-01", "highest": "2013-07-04"},
    ]
    (row,) = rows_of(make_field("at", ranges=ends))
    assert row.ends == "1 January 2013 10:17 UTC to 300000000000000000 µs; 1 January 2013 to 4 July 2013"


def test_numbers_have_a_median_a_range_and_a_picture() -> None:
    numbers = make_field(
        "total",
        kinds={"number": 90},
        distinct=41_234,
        distinct_error=0.0443,
        quantiles={"p50": 12.5},
        bins={"from": 1.0, "to": 99.0, "counts": [0, 80, 10]},
        ranges=[{"kind": "number", "lowest": 1.0, "highest": 99.0}],
    )
    (row,) = rows_of(numbers)
    assert (row.values, row.ends) == ("median 12.5", "1 to 99")
    assert row.distinct == "about 41,000 (± 9 %)"
    assert row.picture is not None
    assert row.picture.count("<rect") == 2
    assert "Distribution from 1 to 99" in row.picture


def test_personal_data_comes_first_and_is_named() -> None:
    mail = make_field("z_contact", personal_data=[{"pattern": "e-mail address", "values": 45}])
    first, second = rows_of(make_field("a"), mail)
    assert (first.field, second.field) == ("z_contact", "a")
    assert first.values == "45 of 90 (50 %) look like an e-mail address"
    entry = part("orders", records=100)
    entry["fields"] = [mail]
    assert describe_fields(entry) == "1 field; texts that look like personal data (e-mail address): `z_contact`."
    entry["fields"] = [make_field("a")]
    assert describe_fields(entry) == "1 field; no text looks like personal data."


def test_a_field_of_arrays_counts_no_nulls_as_records_without_a_value() -> None:
    (row,) = rows_of(make_field("tags[]", sizes={"p50": 3.0}, lengths={"p50": 4.0}))
    assert (row.empty, row.values) == ("5 of 100 (5 %)", "median length 4")


def test_a_shift_that_is_not_by_chance_is_named_and_comes_first() -> None:
    by_chance = {"index": 0.4, "lowest": 0.1, "before": 900, "after": 9}
    shifted = {"index": 0.4, "lowest": 0.3, "before": 900, "after": 900}
    rows = rows_of(make_field("a", drift=by_chance), make_field("b", drift=shifted))
    assert [(row.field, row.values) for row in rows] == [("b", "shifted, index 0.40"), ("a", "")]
