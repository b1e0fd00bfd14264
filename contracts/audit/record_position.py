"""The position of a record in its topic."""

from __future__ import annotations

from typing import TypedDict

__all__ = ["RecordPosition"]


class RecordPosition(TypedDict):
    """Position of a record."""

    partition: int
    offset: int
