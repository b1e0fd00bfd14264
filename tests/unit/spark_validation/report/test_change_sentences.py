"""Changes and trends in words."""

from __future__ import annotations

from contractlog.contracts.audit.report import PartChange, TrendPoint
from contractlog.spark_validation.report.change_sentences import describe_change, describe_changes, describe_trend
from contractlog.spark_validation.report.html_page import render

from support.reports import part, report

CHANGE: PartChange = {
    "topic": "orders",
    "part": "value",
    "before": "passing",
    "after": "failing",
    "violating_before": 0,
    "violating": 168,
    "codes": ["TRUNCATED"],
    "producers": ["gate"],
    "versions": ["orders-value version 3"],
}


def test_a_change_says_what_is_new() -> None:
    assert describe_change(CHANGE) == (
        "failing (was passing): 168 more violating records, new TRUNCATED, from `gate`, "
        "first records with orders-value version 3"
    )
    quiet: PartChange = {**CHANGE, "codes": [], "producers": [], "versions": []}
    assert describe_change({**quiet, "before": None, "violating": 0}) == "failing (not audited before)"
    recovered: PartChange = {**quiet, "before": "degraded", "after": "passing", "violating_before": 1, "violating": 0}
    assert describe_change(recovered) == "passing (was degraded): 1 fewer violating record"
    many: PartChange = {**quiet, "before": "failing", "violating": 0, "codes": ["A", "B", "C", "D", "E"]}
    assert describe_change(many) == "still failing: new A, B, C and 2 more"


def test_changes_are_counted_since_the_former_audit() -> None:
    since = "2026-07-01T04:12:00Z"
    assert describe_changes({"since": since, "parts": []}) == (
        "Since the audit of 1 July 2026 04:12 UTC, no verdict has changed, and nothing new violates."
    )
    assert describe_changes({"since": since, "parts": [CHANGE]}) == (
        "Since the audit of 1 July 2026 04:12 UTC, 1 part has changed."
    )


def test_a_trend_groups_equal_verdicts() -> None:
    def point(verdict: str) -> TrendPoint:
        return {"audited_at": "", "verdict": verdict, "conformance": 1.0, "records": 1, "violating": 0}  # type: ignore[typeddict-item]

    assert describe_trend([point("passing")]) == ""
    assert describe_trend([point("passing"), point("passing"), point("failing")]) == (
        "The last 3 audits, oldest first: passing 2 times, failing."
    )


def test_the_page_shows_changes_and_escapes_them() -> None:
    audit = report(part("orders"))
    audit["changes"] = {"since": "2026-07-01T04:12:00Z", "parts": [{**CHANGE, "producers": ["<img src=x>"]}] * 40}
    page = render(audit)
    assert 'id="changes"' in page
    assert page.count("failing (was passing)") == 30
    assert "10 more parts in <code>report.json</code>" in page
    assert "<img" not in page
