"""Work counted in steps, not in seconds, so that results repeat."""

from __future__ import annotations

__all__ = ["Steps", "StepsExceeded"]


class StepsExceeded(Exception):
    """There was more to do than anyone waits for."""


class Steps:
    """How much work may still be done.

    Args:
        limit: of this work.
        within: the steps of a larger piece of work, of which this is a part. What is spent counts there as well; single
            steps that are taken do not, and whoever takes them spends them there in the end.
    """

    __slots__ = ("_limit", "_stopped", "_within", "left")

    def __init__(self, limit: int, within: Steps | None = None) -> None:
        self._limit = self.left = limit
        self._within = within
        self._stopped = False

    @property
    def limit(self) -> int:
        """The limit that ends the work: that of the larger piece, once it has used up all of its own."""
        return self._within.limit if self._within is not None and self._within.allow(1) < 1 else self._limit

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
        if self._stopped:
            return 0
        allowed = max(0, min(limit, self.left))
        return allowed if self._within is None else self._within.allow(allowed)

    def spend(self, steps: int) -> None:
        """Count work that a part has done."""
        self.left -= steps
        if self._within is not None:
            self._within.spend(steps)

    def stop(self) -> None:
        """Allow nothing any more; from any thread. What is under way ends with the comparison that it is at."""
        self._stopped = True
