"""Sentences about what changed since the former audit, and the trend of a part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from contractlog.compatibility.name_lists import list_first
from contractlog.contracts.audit.report import AuditChanges, PartChange, TrendPoint
from contractlog.spark_validation.report.formatters import format_count, format_plural, format_time

__all__ = ["describe_change", "describe_changes", "describe_trend"]

MAX_NAMED: Final = 3


def describe_changes(changes: AuditChanges) -> str:
    """Return a sentence about all parts."""
    since = f"Since the audit of {format_time(changes['since'])}"
    parts = changes["parts"]
    if not parts:
        return f"{since}, no verdict has changed, and nothing new violates."
    return f"{since}, {format_plural(len(parts), 'part has', 'parts have')} changed."


def describe_change(change: PartChange) -> str:
    """Return the change of a part, as ``failing (was passing): new TRUNCATED, from `gate```."""
    if change["before"] is None:
        words = f"{change['after']} (not audited before)"
    elif change["before"] == change["after"]:
        words = f"still {change['after']}"
    else:
        words = f"{change['after']} (was {change['before']})"
    news = ", ".join(_list_news(change))
    return f"{words}: {news}" if news else words


def _list_news(change: PartChange) -> Iterator[str]:
    more = change["violating"] - change["violating_before"]
    if more:
        yield format_plural(abs(more), f"{'more' if more > 0 else 'fewer'} violating record")
    if change["codes"]:
        yield f"new {list_first(change['codes'], MAX_NAMED)}"
    if change["producers"]:
        yield f"from {list_first([f'`{name}`' for name in change['producers']], MAX_NAMED)}"
    if change["versions"]:
        yield f"first records with {list_first(change['versions'], MAX_NAMED)}"


def describe_trend(trend: Sequence[TrendPoint]) -> str:
    """Return the verdicts of a part over its last audits; empty if there was one only."""
    if len(trend) < 2:  # noqa: PLR2004 - a trend has two points
        return ""
    runs = [(verdict, len(list(points))) for verdict, points in groupby(trend, key=lambda point: point["verdict"])]
    words = ", ".join(f"{verdict} {format_count(times)} times" if times > 1 else verdict for verdict, times in runs)
    return f"The last {format_count(len(trend))} audits, oldest first: {words}."
