"""An audit in the formats of CI and chat: JUnit and Markdown."""

from __future__ import annotations

from pathlib import Path

from contractlog.clients.cli.report_formats.report_output import render
from contractlog.contracts.audit.report import QualityResult
from contractlog.spark_validation.report.ci_report import MAX_KINDS, make_ci_report
from contractlog.spark_validation.report.html_page import render as render_page

from support.ci_formats import read_junit
from support.reports import part, report, violation

ROOT = Path("/work")
TRUNCATED = violation("TRUNCATED", 168)
GOOD, BAD = (
    part("orders"),
    part("flights", violations=[TRUNCATED, violation("NOT_FRAMED", 2, schema_id=None, field="")]),
)


def test_a_part_below_the_limit_is_a_failing_test_case_with_its_violations() -> None:
    audit = report(GOOD, BAD)
    audit["source"]["bootstrap_servers"] = "broker:9092"
    made = make_ci_report(audit, ROOT)
    failed, passed = made.files
    assert (failed.path, failed.outcome, passed.path, passed.outcome) == (
        "flights value",
        "failed",
        "orders value",
        "passed",
    )
    assert failed.verdict == "degraded: 336,606 of 336,776 (99.95 %) records conform, less than --fail-under 100 %"
    (first, second) = failed.findings
    assert (first.rule, first.severity, first.pointer) == ("TRUNCATED", "error", "/fields/3")
    assert first.message == (
        "168 records in `legs[].carrier` with schema id 7, 1 July 2013 04:12 UTC to 31 December 2013 23:59 UTC: "
        "the string of 12 bytes ends after 3"
    )
    assert first.details[1].startswith("`contractlog consume flights --partition 0 --offset 42")
    assert second.message.startswith("2 records, 1 July 2013")
    assert made.summary == "2 parts of topics: 1 degraded, 1 passing"


def test_violations_within_the_limit_are_warnings() -> None:
    audit = report(BAD)
    audit["thresholds"]["fail_under"] = 0.99
    (file,) = make_ci_report(audit, ROOT).files
    assert file.outcome == "passed"
    assert {finding.severity for finding in file.findings} == {"warning"}


def test_junit_and_markdown_can_be_read() -> None:
    made = make_ci_report(report(GOOD, BAD), ROOT, "1.2.3")
    cases = read_junit(render(made, "junit"))
    assert [case.name for case in cases] == ["flights value", "orders value"]
    markdown = render(made, "markdown")
    assert markdown.startswith("### contractlog audit: 2 parts of topics: 1 degraded, 1 passing\n")
    assert "#### ✗ `flights value`" in markdown


def test_the_summary_has_no_name_and_the_kinds_are_bounded() -> None:
    lines = [violation("TRUNCATED", 9, path=f"/fields/{number}") for number in range(MAX_KINDS + 3)]
    made = make_ci_report(report(part("<b>@all</b>", violations=lines)), ROOT)
    assert "@all" not in made.summary
    assert len(made.files[0].findings) == MAX_KINDS
    assert made.files[0].notes[-1] == "3 more kinds of violations in report.json."
    assert make_ci_report(report(), ROOT).summary == "nothing was audited: no topic was found"


def make_result(**members: object) -> QualityResult:
    """Return the result of a rule that failed."""
    result: QualityResult = {
        "rule": "few nulls",
        "field": "total",
        "metric": "nullValues",
        "outcome": "failed",
        "actual": 12.5,
        "expected": "must be less than 5",
        "unit": "percent",
        "severity": "error",
        "owner": "order-team",
        "muted_until": None,
        "reason": "",
        "line": 3,
    }
    return {**result, **members}  # type: ignore[typeddict-item]


def test_quality_rules_fail_their_part_unless_they_are_warnings_or_muted() -> None:
    entry = part("orders")
    entry["quality"] = [make_result(), make_result(outcome="passed"), make_result(outcome="muted")]
    (file,) = make_ci_report(report(entry), ROOT).files
    assert (file.outcome, file.verdict) == ("failed", "passing, 1 quality rule failed")
    (finding,) = file.findings
    assert (finding.rule, finding.severity) == ("QUALITY_RULE", "error")
    assert finding.message == (
        "failed (error) `few nulls`: nullValues of `total` must be less than 5 %, and is 12.5 %; owner order-team"
    )
    entry["quality"] = [make_result(severity="warning"), make_result(outcome="not evaluated", reason="no profile")]
    (file,) = make_ci_report(report(entry), ROOT).files
    assert file.outcome == "passed"
    assert [finding.severity for finding in file.findings] == ["warning", "note"]
    assert file.findings[1].message.startswith("not evaluated `few nulls`: ")


def test_the_page_has_a_row_for_each_quality_rule() -> None:
    entry = part("orders")
    entry["quality"] = [
        make_result(outcome=outcome, rule="<b>", muted_until="2026-12-31")
        for outcome in ("passed", "failed", "muted", "not evaluated")
    ]
    page = render_page(report(entry))
    for word in ("passed", "failed", "muted", "not evaluated"):
        assert f"</svg>{word}</span>" in page
    assert "<b>" not in page
    assert "muted until 2026-12-31" in page
