"""Times of records as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["format_timestamp", "parse_timestamp"]

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
