"""Lists of names in sentences, cut after a number of them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["list_first"]


def list_first(names: Sequence[str], maximum: int) -> str:
    """Return the first names separated by commas, and the number of the others.

    >>> list_first(["a", "b"], 2), list_first(["a", "b", "c"], 2)
    ('a, b', 'a, b and 1 more')
    """
    listed = ", ".join(names[:maximum])
    return listed if len(names) <= maximum else f"{listed} and {len(names) - maximum:,} more"
