"""Formatting of numbers, shares and times for people."""

from __future__ import annotations

from datetime import UTC, datetime

from contractlog.compatibility.text.number_text import (
    format_bytes,
    format_count,
    format_duration,
    format_share,
    format_significant,
)
from contractlog.contracts.audit.time_text import describe_moment

__all__ = [
    "format_bytes",
    "format_count",
    "format_day",
    "format_duration",
    "format_percent",
    "format_plural",
    "format_share",
    "format_significant",
    "format_time",
    "shorten_middle",
]


def format_plural(number: int, noun: str, nouns: str | None = None) -> str:
    """Write a counted noun.

    >>> format_plural(1, "record"), format_plural(2112, "record")
    ('1 record', '2,112 records')
    """
    return f"{format_count(number)} {noun if number == 1 else nouns or noun + 's'}"


def format_percent(part: float) -> str:
    """Write a share alone, with as many digits as it has.

    >>> format_percent(0.999), format_percent(1.0), format_percent(0.99999)
    ('99.9 %', '100 %', '99.999 %')
    """
    return f"{round(100 * part, 9):.10g} %"


def format_time(iso: str, *, seconds: bool = False) -> str:
    """Write a UTC time for people.

    >>> format_time("2013-07-01T04:12:30Z"), format_time("2013-07-01T04:12:30Z", seconds=True)
    ('1 July 2013 04:12 UTC', '1 July 2013 04:12:30 UTC')
    """
    try:
        return describe_moment(datetime.fromisoformat(iso).astimezone(UTC), seconds=seconds)
    except ValueError:
        return iso or "no time"


def format_day(iso: str) -> str:
    """Write a UTC day for people.

    >>> format_day("2013-07-01"), format_day("")
    ('1 July 2013', 'no time')
    """
    try:
        at = datetime.fromisoformat(iso)
    except ValueError:
        return iso or "no time"
    return f"{at.day} {at:%B %Y}"


def shorten_middle(content: str, letters: int) -> str:
    """Cut a name in its middle, so that both ends can be read.

    >>> shorten_middle("flights.departed-value", 12)
    'flight…value'
    """
    if len(content) <= letters:
        return content
    head = letters // 2
    return f"{content[:head]}…{content[len(content) - (letters - head - 1) :]}"
