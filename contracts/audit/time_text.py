"""Times of records as text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = ["format_timestamp"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def format_timestamp(milliseconds: int) -> str:
    """Format milliseconds since 1970 as ISO 8601 in UTC; empty if out of range."""
    try:
        at = _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return ""
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")
