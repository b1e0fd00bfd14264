"""Budget of work, counted in steps instead of seconds, so that results are reproducible."""

from __future__ import annotations

__all__ = ["StepBudget", "StepBudgetExceeded"]


class StepBudgetExceeded(Exception):
    """The step budget is exhausted."""


class StepBudget:
    """A step budget, optionally part of the budget of an enclosing operation.

    Args:
        limit: the number of steps of this budget.
        within: the budget of the enclosing operation. ``spend`` is charged to it as well; ``take`` is not, so the
            caller must charge those steps to it afterwards.
    """

    __slots__ = ("_limit", "_stopped", "_within", "left")

    def __init__(self, limit: int, within: StepBudget | None = None) -> None:
        self._limit = self.left = limit
        self._within = within
        self._stopped = False

    @property
    def limit(self) -> int:
        """The limit that ends the work: that of the enclosing budget if it is exhausted, else its own."""
        return self._within.limit if self._within is not None and self._within.allow(1) < 1 else self._limit

    def take(self, steps: int = 1) -> None:
        """Charge steps before the work is done.

        Raises:
            StepBudgetExceeded: more steps than are left.
        """
        self.left -= steps
        if self.left < 0:
            raise StepBudgetExceeded

    def allow(self, limit: int) -> int:
        """Return the part of ``limit`` that is available to a sub-task with its own budget."""
        if self._stopped:
            return 0
        allowed = max(0, min(limit, self.left))
        return allowed if self._within is None else self._within.allow(allowed)

    def spend(self, steps: int) -> None:
        """Charge the steps of a finished sub-task."""
        self.left -= steps
        if self._within is not None:
            self._within.spend(steps)

    def stop(self) -> None:
        """Allow no further work; callable from any thread. A running comparison is finished first."""
        self._stopped = True
