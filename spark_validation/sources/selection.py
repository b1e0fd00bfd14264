"""Selection of the records to read: topics by name or glob, partitions, and times."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.contracts.audit.report import SelectionBody
from contractlog.contracts.audit.time_text import format_timestamp
from contractlog.spark_validation.sources.records import OffsetRange
from contractlog.spark_validation.sources.source import RecordSource
from contractlog.spark_validation.sources.topic_patterns import describe_nearest, is_glob, match_topics

__all__ = [
    "Selection",
    "parse_duration",
    "parse_partitions",
    "parse_time",
    "plan_selection",
    "read_topics_file",
]

MAX_TOPICS_FILE_BYTES: Final = 4 * 2**20
MAX_PARTITION: Final = 2**31 - 1
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MAX_DURATION: Final = timedelta(days=366 * 1000)


@dataclass(frozen=True, slots=True)
class Selection:
    """Records to read; by default, those of all topics that do not start with ``_``."""

    topics: tuple[str, ...] = ()  #: names or globs
    excluded: tuple[str, ...] = ()  #: names or globs
    partitions: tuple[tuple[int, int], ...] = ()  #: first and last of each interval; empty: all
    since: int | None = None  #: milliseconds; from the first offset with this timestamp or a later one
    until: int | None = None  #: milliseconds; to the offset before the first with this timestamp or a later one

    def body(self) -> SelectionBody:
        """Return what is selected, for the report; empty if everything is."""
        body: SelectionBody = {}
        if self.topics:
            body["topics"] = list(self.topics)
        if self.excluded:
            body["excluded"] = list(self.excluded)
        if self.partitions:
            body["partitions"] = ",".join(
                str(first) if first == last else f"{first}-{last}" for first, last in self.partitions
            )
        if self.since is not None:
            body["since"] = format_timestamp(self.since)
        if self.until is not None:
            body["until"] = format_timestamp(self.until)
        return body


def plan_selection(source: RecordSource, selection: Selection, *, span: int) -> list[OffsetRange]:
    """Return the ranges with all selected records; topics without a selected partition have none.

    Args:
        source: source of the records.
        selection: the selected records.
        span: maximum number of offsets per range, before the selection by time.

    Raises:
        UsageError: nothing is selected, or a topic or glob matches nothing.
        Unreachable: the source does not respond.
    """
    ranges = source.plan(_choose_topics(source, selection), span=span)
    if selection.partitions:
        ranges = [
            offsets
            for offsets in ranges
            if any(first <= offsets.partition <= last for first, last in selection.partitions)
        ]
        if not ranges:
            raise UsageError(f"no selected topic has a partition {selection.body()['partitions']}")
    if selection.since is not None:
        starts = source.find_offsets(ranges, selection.since)
        ranges = [
            replace(each, start=min(max(starts.get(each.key, each.end), each.start), each.end)) for each in ranges
        ]
    if selection.until is not None:
        ends = source.find_offsets(ranges, selection.until)
        ranges = [replace(each, end=max(min(ends.get(each.key, each.end), each.end), each.start)) for each in ranges]
    return ranges


def parse_partitions(text: str) -> tuple[tuple[int, int], ...]:
    """Parse numbers and intervals of partitions, such as ``0,2-4``.

    Raises:
        UsageError: the text has another form.
    """
    intervals = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,10})(?:-(\d{1,10}))?", part.strip())
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last <= MAX_PARTITION:
            raise UsageError(f"--partitions: `{text}` is not a list of partitions, such as 0,2-4")
        intervals.append((first, last))
    return tuple(intervals)


def parse_time(text: str, option: str) -> int:
    """Parse an ISO 8601 date or time, in UTC unless it has an offset; return milliseconds since 1970.

    Raises:
        UsageError: the text has another form.
    """
    try:
        at = datetime.fromisoformat(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return int(at.timestamp() * 1000)
    except (ValueError, OverflowError):
        example = "2026-11-01 or 2026-11-01T08:30:00Z"
        raise UsageError(f"{option}: `{text}` is not a date or time as in ISO 8601, such as {example}") from None


def parse_duration(text: str, option: str) -> timedelta:
    """Parse a duration such as ``30s``, ``90m``, ``12h``, ``7d`` or ``4w``.

    Raises:
        UsageError: the text has another form.
    """
    match = re.fullmatch(r"(\d{1,9})([smhdw])", text.strip())
    duration = timedelta(**{_UNITS[match[2]]: int(match[1])}) if match else timedelta(0)
    if not timedelta(0) < duration <= _MAX_DURATION:
        raise UsageError(f"{option}: `{text}` is not a duration, such as 30s, 90m, 12h, 7d or 4w")
    return duration


def read_topics_file(file: Path) -> tuple[str, ...]:
    """Read names and globs of topics, one per line; ``#`` begins a comment line.

    Raises:
        UsageError: the file cannot be read, is too large, or names no topic.
    """
    try:
        lines = read_bounded_file(file, MAX_TOPICS_FILE_BYTES).decode().splitlines()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise UsageError(f"--topics-file: `{file}` cannot be read: {reason}") from error
    names = tuple(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#"))
    if not names:
        raise UsageError(f"--topics-file: `{file}` names no topic")
    return names


def _choose_topics(source: RecordSource, selection: Selection) -> Sequence[str]:
    """Return the names of the selected topics, in the order of their patterns."""
    if not selection.topics and not selection.excluded:
        return ()
    names = source.list_topics()
    chosen: dict[str, None] = {}
    for pattern in selection.topics or ("*",):
        matching = match_topics(pattern, names)
        if not matching and is_glob(pattern) and selection.topics:
            raise UsageError(f"no topic matches `{escape_line(pattern)}`{describe_nearest(pattern, names)}")
        if not matching and pattern not in names and selection.topics:
            raise UsageError(
                f"the topic `{escape_line(pattern)}` does not exist {source.where()}{describe_nearest(pattern, names)}",
                topic=pattern,
            )
        chosen.update(dict.fromkeys(matching))
    excluded = {name for pattern in selection.excluded for name in match_topics(pattern, names)}
    remaining = [name for name in chosen if name not in excluded]
    if not remaining:
        raise UsageError("no topic is selected: --exclude leaves none of them")
    return remaining
