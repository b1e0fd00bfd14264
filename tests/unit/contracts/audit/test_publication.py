"""Entries are published whole if they fit, else with fewer examples, and always with their counts."""

from __future__ import annotations

import json

from contractlog.contracts.audit.publication import MAX_LINES, shorten_entry

from support.reports import part, violation


def test_an_entry_that_fits_is_published_as_it_is() -> None:
    entry = part("t", violations=[violation("TRUNCATED", 5)])
    assert shorten_entry(entry) is entry


def test_an_entry_loses_examples_then_their_evidence_then_kinds_and_never_a_count() -> None:
    entry = part("t", violations=[violation("TRUNCATED", 5, field=f"f{number}") for number in range(300)])
    whole = len(json.dumps(entry))
    with_one = shorten_entry(entry, whole - 1)
    assert [len(line["examples"]) for line in with_one["violations"]] == [1] * 300
    assert with_one["violations"][0]["examples"][0]["decoded"]
    without = shorten_entry(entry, len(json.dumps(with_one)) - 1)
    assert len(without["violations"]) == 300
    assert not without["violations"][0]["examples"][0]["decoded"]
    assert without["violations"][0]["examples"][0]["offset"] == 42
    entry["series"] = [
        {"window": f"2013-07-0{day}T{hour:02}", "schema_id": 7, "records": 5, "violating": 1}
        for day in (1, 2)
        for hour in range(24)
    ]
    shortest = shorten_entry(entry, 10)
    assert len(shortest["violations"]) == MAX_LINES
    assert shortest["series"] == [
        {"window": f"2013-07-0{day}", "schema_id": 7, "records": 120, "violating": 24} for day in (1, 2)
    ]
    changed = {"violations": [], "series": []}
    assert {**shortest, **changed} == {**entry, **changed}
