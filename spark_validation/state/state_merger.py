"""Merge of many states at a cost that grows with their size, not with its square."""

from __future__ import annotations

from typing import Final

from contractlog.contracts.audit.mergeable_state import MAX_SAMPLED_VALUES, AuditState, limit_samples, limit_state

__all__ = ["StateMerger"]

_MIN_SIZE: Final = 64  #: smaller states count as this large


class StateMerger:
    """States that are merged when they have about the same size, and all at the end.

    It holds a state of each magnitude, so its memory is at most about twice that of the result.

    Args:
        maximum_samples: maximum number of sampled values of the result.
    """

    def __init__(self, maximum_samples: int = MAX_SAMPLED_VALUES) -> None:
        self._maximum_samples = maximum_samples
        self._states: list[tuple[int, AuditState]] = []  #: each more than twice as large as the next

    def add(self, state: AuditState) -> None:
        """Add a state, whose ranges must not overlap those of others."""
        self._states.append((_measure(state), state))
        while len(self._states) > 1 and self._states[-2][0] <= 2 * self._states[-1][0]:
            self._merge_last()

    def result(self) -> AuditState:
        """Return all states combined, within the limits of a state."""
        while len(self._states) > 1:
            self._merge_last()
        return self._states[0][1] if self._states else AuditState()

    def _merge_last(self) -> None:
        (_, right), (_, left) = self._states.pop(), self._states.pop()
        state = limit_samples(limit_state(left.merge(right)), self._maximum_samples)
        self._states.append((_measure(state), state))


def _measure(state: AuditState) -> int:
    sampled = sum(len(sample.values) for sample in state.samples.values())
    counted = len(state.coverage) + len(state.cells) + len(state.violations) + len(state.producers)
    return max(counted + sampled, _MIN_SIZE)
