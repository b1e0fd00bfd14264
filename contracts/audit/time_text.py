"""Times as text: ISO 8601 for programs, and texts for people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

__all__ = ["describe_moment", "describe_time", "format_time", "format_timestamp", "parse_timestamp"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def format_timestamp(milliseconds: int) -> str:
    """Format milliseconds since 1970 as ISO 8601 in UTC; empty if out of range."""
    try:
        at = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")


def parse_timestamp(text: object) -> int | None:
    """Return the milliseconds since 1970 of an ISO 8601 time; None if the text is none.

    A time without an offset is in UTC.

    >>> parse_timestamp("1970-01-01T00:00:01.500Z"), parse_timestamp("soon")
    (1500, None)
    """
    try:
        at = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return None if at is None else ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1)


def describe_moment(at: datetime, *, seconds: bool = False) -> str:
    """Return a moment in UTC as text for people."""
    return f"{at.day} {at:%B %Y %H:%M:%S} UTC" if seconds else f"{at.day} {at:%B %Y %H:%M} UTC"


def format_time(milliseconds: int | None) -> str | None:
    """Format milliseconds since 1970 as ISO 8601 without fractions of a second; None if they are no time.

    >>> format_time(1372651920000)
    '2013-07-01T04:12:00Z'
    """
    moment = _parse_time(milliseconds)
    return None if moment is None else moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def describe_time(milliseconds: int | None) -> str | None:
    """Return milliseconds since 1970 as text for people; None if they are no time.

    >>> describe_time(1372651920000)
    '1 July 2013 04:12 UTC'
    """
    moment = _parse_time(milliseconds)
    return None if moment is None else describe_moment(moment)


def _parse_time(milliseconds: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC)
    except (TypeError, ValueError, OverflowError, OSError):  # a server may send anything, or nothing
        return None
