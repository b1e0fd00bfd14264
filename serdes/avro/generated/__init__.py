"""Functions written for one schema, or for a pair of them: what the interpreter's codecs are turned into."""

from __future__ import annotations

__all__ = ["Otherwise"]


class Otherwise(Exception):
    """Generated code does not go on here."""
