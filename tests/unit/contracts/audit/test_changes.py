"""A report is compared with the former one: verdicts, and what is new."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from contractlog.contracts.audit.changes import MAX_TREND, compare_reports, extend_trends, verdict_changes
from contractlog.contracts.audit.report import TopicPart

from support.reports import part, report, violation


def make_failing(topic: str, code: str = "TRUNCATED", producer: str | None = "gate") -> TopicPart:
    entry = part(topic, violations=[violation(code, 9_000)])
    entry["producers"] = [
        {
            "producer": producer,
            "kind": "named" if producer else "none",
            "records": 9_000,
            "violating": 9_000,
            "first_seen": "",
            "last_seen": "",
        }
    ]
    return entry


def test_equal_reports_have_no_change() -> None:
    audit = report(part("a"), make_failing("b"))
    assert compare_reports(audit, audit) == {"since": audit["audited_at"], "parts": []}


def test_a_part_that_begins_to_fail_has_its_cause_and_producer() -> None:
    (change,) = compare_reports(report(part("a"), part("b")), report(make_failing("a"), part("b")))["parts"]
    assert (change["before"], change["after"], change["violating"]) == ("passing", "failing", 9_000)
    assert (change["codes"], change["producers"], change["versions"]) == (["TRUNCATED"], ["gate"], [])


def test_a_new_cause_producer_or_version_is_a_change_of_a_part_that_fails_before_and_after() -> None:
    before = report(make_failing("a"))
    for entry, member, names in (
        (make_failing("a", "BAD_UTF8"), "codes", ["BAD_UTF8"]),
        (make_failing("a", producer="desk"), "producers", ["desk"]),
    ):
        (change,) = compare_reports(before, report(entry))["parts"]
        assert (change["before"], change["after"]) == ("failing", "failing")
        assert change[member] == names  # type: ignore[literal-required]
    newer = make_failing("a")
    newer["schemas"].append({**newer["schemas"][-1], "version": 9, "schema_id": 99})
    (change,) = compare_reports(before, report(newer))["parts"]
    assert change["versions"] == ["a-value version 9"]


def test_a_new_part_is_a_change_only_if_it_needs_attention() -> None:
    changes = compare_reports(report(), report(part("fine"), make_failing("bad")))["parts"]
    assert [(change["topic"], change["before"]) for change in changes] == [("bad", None)]


def test_changed_verdicts_come_first_and_only_bad_and_recovered_ones_are_told() -> None:
    before = report(make_failing("a"), make_failing("b"), part("c"), part("d", records=0))
    after = report(make_failing("a", "BAD_UTF8"), part("b"), part("c", records=0), part("d"))
    changes = compare_reports(before, after)
    assert [change["topic"] for change in changes["parts"]] == ["b", "c", "d", "a"]
    assert [(change["topic"], change["after"]) for change in verdict_changes(changes)] == [("b", "passing")]


def _list_trend(times: Iterable[timedelta]) -> list[int]:
    """Audit at these times, and return the numbers of the audits in the trend."""
    former = None
    for number, time in enumerate(times):
        audit = report(part("a", records=100 + number))
        audit["audited_at"] = (datetime(2026, 11, 21, tzinfo=UTC) + time).isoformat()
        extend_trends(former, audit)
        former = audit
    assert former is not None
    return [point["records"] - 100 for point in former["topics"][0]["trend"]]


def test_a_trend_has_the_last_audits_oldest_first() -> None:
    assert _list_trend(timedelta(days=day) for day in range(MAX_TREND + 2)) == list(range(2, 2 + MAX_TREND))
    assert _list_trend(timedelta(hours=hour) for hour in range(3)) == [0, 1, 2]


def test_audits_within_an_hour_do_not_fill_a_trend() -> None:
    assert _list_trend([timedelta(0), timedelta(minutes=1)]) == [0, 1]
    assert _list_trend(timedelta(minutes=minute) for minute in range(0, 150, 10)) == [0, 6, 12, 14]
