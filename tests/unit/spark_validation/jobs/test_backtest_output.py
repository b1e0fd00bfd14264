"""The result of a back-test: which records cannot be read, why, where, and what was not tested."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from contractlog.clients.cli.main import main
from contractlog.clients.cli.report_formats.report_output import render
from contractlog.compatibility.identifiers import SchemaId, Subject, Version
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.contracts.audit.backtest_state import (
    ReadabilityState,
    ReadCounts,
    ReadKey,
    ReadOutcome,
    UnreadableCounts,
    UnreadableExample,
    UnreadableKey,
)
from contractlog.contracts.audit.mergeable_state import Coverage
from contractlog.spark_validation.jobs.backtest_output import backtest_report, print_backtest
from contractlog.spark_validation.jobs.backtest_result import summarize_backtest

START = 1_700_000_000_000
REASON = "null was written, and cannot be read as string"


def create_result() -> dict[str, Any]:
    """Return the result for one topic with unreadable records, and one without."""
    versions = [
        RegisteredSchema(SchemaId(number + 10), "", subject=Subject.parse("orders-value"), version=Version(number))
        for number in (1, 2)
    ]
    outcomes = [
        (11, ReadOutcome.READABLE, 1_800),
        (11, ReadOutcome.UNREADABLE, 1_200),
        (12, ReadOutcome.READABLE, 5),
        (12, ReadOutcome.VIOLATING, 2),
        (0, ReadOutcome.NOT_FRAMED, 1),
        (98, ReadOutcome.OTHER_ID, 3),
        (99, ReadOutcome.OTHER_ID, 4),
    ]
    counts = {
        ReadKey("orders", schema_id, outcome): ReadCounts(records, START, START + 86_400_000)
        for schema_id, outcome, records in outcomes
    }
    counts[ReadKey("returns", 12, ReadOutcome.READABLE)] = ReadCounts(1, START, START)
    examples = tuple(UnreadableExample(0, at, f"lines[{at}].note") for at in range(5))
    cause = UnreadableKey("orders", 11, "READER_MISMATCH", "", "lines[].note", REASON)
    state = ReadabilityState(
        frozenset(
            {
                Coverage("orders", 0, 0, 2_000, 2_000),
                Coverage("orders", 0, 2_000, 4_000, 1_015),
                Coverage("returns", 0, 0, 1, 1),
            }
        ),
        counts,
        {cause: UnreadableCounts(1_200, START, START, examples, REASON)},
    )
    others = {98: ("audits-value",), 99: None}
    body = summarize_backtest(state, versions, others, part="value")
    return {"format": "contractlog.backtest/1", "subject": "orders-value", "file": "schemas/orders-value.avsc", **body}


def test_text_names_the_records_the_cause_and_what_was_not_tested(capsys: pytest.CaptureFixture[str]) -> None:
    print_backtest(create_result())
    assert capsys.readouterr().out == (
        "✗ schemas/orders-value.avsc: cannot read 1,200 of 3,005 (39.9 %) records of topic `orders`\n"
        "    version 1 (id 11): cannot read 1,200 of 3,000 (40 %) records, 2023-11-14T22:13:20Z to "
        "2023-11-15T22:13:20Z\n"
        f"        1,200 records: `lines[].note`: {REASON}\n"
        "            first: partition 0 offset 0 (`lines[0].note`), partition 0 offset 1 (`lines[1].note`), "
        "partition 0 offset 2 (`lines[2].note`), …\n"
        "    version 2 (id 12): reads 5 records, 2023-11-14T22:13:20Z to 2023-11-15T22:13:20Z\n"
        "    not tested: 2 records violating their own schema, 1 record without schema id, 4 records with an id that "
        "the registry does not have, 3 records of other subjects\n"
        "✓ schemas/orders-value.avsc: reads 1 of 1 (100 %) record of topic `returns`\n"
        "    version 2 (id 12): reads 1 record, 2023-11-14T22:13:20Z to 2023-11-14T22:13:20Z\n"
    )


def test_the_json_object_accounts_for_every_record() -> None:
    result = create_result()
    assert (result["readable"], result["records"], result["unreadable"]) == (False, 3_016, 1_200)
    orders = result["topics"][0]
    assert orders["partitions"] == [{"partition": 0, "from_offset": 0, "to_offset": 4_000, "records": 3_015}]
    names = ("readable", "unreadable", "violating", "not_usable", "tombstones", "not_framed")
    assert sum(orders[name] for name in (*names, "other_subjects", "unknown_ids")) == orders["records"] == 3_015
    assert orders["others"] == [
        {"schema_id": 98, "subjects": ("audits-value",), "records": 3},
        {"schema_id": 99, "subjects": None, "records": 4},
    ]


def test_reports_have_a_test_case_for_each_topic() -> None:
    report = backtest_report(create_result(), Path.cwd(), "0", command="contractlog backtest")
    junit = render(report, "junit")
    assert 'tests="2" failures="1"' in junit
    assert 'name="schemas/orders-value.avsc (orders)"' in junit
    assert "schemas/orders-value.avsc: DATA_UNREADABLE" in junit
    markdown = render(report, "markdown")
    assert markdown.startswith("### contractlog backtest: 3,006 records tested, 1,200 unreadable\n")
    assert "`partition 0 offset 0" not in markdown


def test_a_subject_that_names_no_topic_needs_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "order.avsc").write_text('"string"')
    assert main(["backtest", "com.acme.Order", str(tmp_path / "order.avsc"), "--archive", str(tmp_path)]) == 2
    assert "not named after a topic: name one, as in `contractlog backtest --topic=TOPIC" in capsys.readouterr().err
