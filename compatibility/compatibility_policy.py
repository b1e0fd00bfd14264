"""Compatibility policies."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Policy"]


class Policy(StrEnum):
    """Policy that decides which differences break compatibility; the policies differ only for JSON Schema."""

    STRICT = "STRICT"  #: as the reference implementation, by default
    LENIENT = "LENIENT"  #: as the reference implementation: changes of the content model are allowed
    EXACT = "EXACT"  #: contractlog's own: whatever was valid stays valid; an undecidable case is rejected
