"""Changes between two audits of the same topics, and the trend over several."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from contractlog.contracts.audit.report import AuditChanges, AuditReport, PartChange, TopicPart, TrendPoint
from contractlog.contracts.audit.time_text import parse_timestamp

__all__ = ["MAX_TREND", "compare_reports", "extend_trends", "verdict_changes"]

MAX_TREND: Final = 30  #: audits of a trend
MIN_TREND_MS: Final = 3_600_000  #: between them, except before the last two: repeated audits would fill it
MAX_NAMES: Final = 20  #: causes, producers or versions of a change
_BAD: Final = ("failing", "degraded")


def compare_reports(former: AuditReport, report: AuditReport) -> AuditChanges:
    """Return the parts that differ from a former audit, those with another verdict first.

    A part that the former audit does not have is not a change, unless it is failing or degraded.
    """
    before = {(part["topic"], part["part"]): part for part in former["topics"]}
    changes = [
        change for part in report["topics"] for change in _compare_part(before.get((part["topic"], part["part"])), part)
    ]
    changes.sort(key=lambda change: (change["before"] == change["after"], change["topic"], change["part"]))
    return {"since": former["audited_at"], "parts": changes}


def verdict_changes(changes: AuditChanges) -> list[PartChange]:
    """Return the changes that somebody should be told: to failing or degraded, and back to passing."""
    return [
        change
        for change in changes["parts"]
        if change["before"] != change["after"]
        and (change["after"] in _BAD or (change["after"] == "passing" and change["before"] in _BAD))
    ]


def extend_trends(former: AuditReport | None, report: AuditReport) -> None:
    """Add to each part of a report the trend of the former one, and its own result."""
    trends = (
        {} if former is None else {(part["topic"], part["part"]): part.get("trend", []) for part in former["topics"]}
    )
    for part in report["topics"]:
        point: TrendPoint = {
            "audited_at": report["audited_at"],
            "verdict": part["verdict"],
            "conformance": part["conformance"],
            "records": part["records"],
            "violating": part["violating"],
        }
        part["trend"] = _add_point(trends.get((part["topic"], part["part"]), []), point)


def _add_point(trend: list[TrendPoint], point: TrendPoint) -> list[TrendPoint]:
    """Add a point to a trend; it replaces the last one if that is within an hour of the one before."""
    if len(trend) > 1 and _measure_gap(trend[-2], trend[-1]) < MIN_TREND_MS:
        trend = trend[:-1]
    return [*trend, point][-MAX_TREND:]


def _measure_gap(former: TrendPoint, point: TrendPoint) -> int:
    """Return the milliseconds between two audits."""
    return (parse_timestamp(point["audited_at"]) or 0) - (parse_timestamp(former["audited_at"]) or 0)


def _compare_part(former: TopicPart | None, part: TopicPart) -> Iterator[PartChange]:
    """Yield the change of a part, if there is any."""
    if former is None and part["verdict"] not in _BAD:
        return
    change: PartChange = {
        "topic": part["topic"],
        "part": part["part"],
        "before": None if former is None else former["verdict"],
        "after": part["verdict"],
        "violating_before": 0 if former is None else former["violating"],
        "violating": part["violating"],
        "codes": _find_new(former, part, _list_codes),
        "producers": _find_new(former, part, _list_producers),
        "versions": [] if former is None else _find_new(former, part, _list_versions),
    }
    if change["before"] != change["after"] or change["codes"] or change["producers"] or change["versions"]:
        yield change


def _find_new(former: TopicPart | None, part: TopicPart, names_of: Callable[[TopicPart], Iterable[str]]) -> list[str]:
    before = set() if former is None else set(names_of(former))
    return sorted(set(names_of(part)) - before)[:MAX_NAMES]


def _list_codes(part: TopicPart) -> Iterable[str]:
    return (line["code"] for line in part["violations"])


def _list_producers(part: TopicPart) -> Iterable[str]:
    """Return the named producers of violating records."""
    return (use["producer"] for use in part["producers"] if use["producer"] and use["violating"])


def _list_versions(part: TopicPart) -> Iterable[str]:
    return (
        f"{use['subject']} version {use['version']}" for use in part["schemas"] if use["subject"] and use["records"]
    )
