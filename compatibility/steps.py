"""Work counted in steps, not in seconds, so that results repeat."""

from __future__ import annotations

__all__ = ["Steps", "StepsExceeded"]


class StepsExceeded(Exception):
    """There was more to do than anyone waits for."""


class Steps:
    """How much work may still be done."""

    __slots__ = ("left", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = self.left = limit

    def take(self, steps: int = 1) -> None:
        """Count work that is about to be done.

        Raises:
            StepsExceeded: it is more than was left.
        """
        self.left -= steps
        if self.left < 0:
            raise StepsExceeded

    def allow(self, limit: int) -> int:
        """Return how many steps a part of the work may take that counts for itself, and has a limit of its own."""
        return max(0, min(limit, self.left))

    def spend(self, steps: int) -> None:
        """Count work that a part has done."""
        self.left -= steps
