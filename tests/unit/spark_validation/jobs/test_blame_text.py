"""``--blame`` prints when each kind of violation began, and who wrote the first record."""

from __future__ import annotations

from contractlog.spark_validation.jobs.blame_text import MAX_KINDS, format_blame

from support.reports import part, report, violation


def test_each_kind_has_its_first_record_and_the_earliest_comes_first() -> None:
    late = violation("TRUNCATED", 168)
    early = violation("NOT_FRAMED", 20, schema_id=None, path="", field="")
    early["first_seen"] = "2013-05-01T00:00:07Z"
    assert late["first"] is not None
    late["first"]["producer"] = "boarding-2"
    lines = list(format_blame(report(part("quiet"), part("flights", violations=[late, early]))))
    assert lines == [
        "flights: 2 kinds of violation",
        "  NOT_FRAMED: 20 records since 1 May 2013 00:00:07 UTC",
        "    first at partition 0, offset 42, no schema id, no producer header",
        "  TRUNCATED in legs[].carrier: 168 records since 1 July 2013 04:12:00 UTC",
        "    first at partition 0, offset 42, version 2 of flights-value (id 7), producer boarding-2",
    ]


def test_an_unknown_first_record_is_reported_as_unknown_and_all_producers_are_named() -> None:
    line = violation("TRUNCATED", 168, schema_id=404)
    line.update(first=None, first_seen="", producers=[{"producer": "gate", "kind": "named", "records": 168}])
    lines = list(format_blame(report(part("flights", name="key", violations=[line]))))
    assert lines == [
        "flights (key): 1 kind of violation",
        "  TRUNCATED in legs[].carrier: 168 records since an unknown time",
        "    first record unknown: an earlier release of contractlog counted it, schema id 404, producers of all: gate",
    ]


def test_names_are_escaped_and_the_number_of_kinds_is_limited() -> None:
    kinds = [violation("TRUNCATED", 1, field=f"\x1b{number}") for number in range(MAX_KINDS + 3)]
    lines = list(format_blame(report(part("t\n", violations=kinds))))
    assert len(lines) == 2 * MAX_KINDS + 2
    assert lines[-1] == "  3 more kinds in report.json"
    assert all(line.isprintable() for line in lines)


def test_nothing_to_blame_is_one_line() -> None:
    assert list(format_blame(report(part("t")))) == ["No record violates its schema."]
