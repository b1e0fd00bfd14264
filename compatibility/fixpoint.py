"""Greatest fixpoint: each key holds until its check refutes it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Fixpoint"]

K = TypeVar("K", bound=Hashable)


class Fixpoint(Generic[K]):
    """Keys whose checks rely on each other.

    A check calls ``holds`` for each key that it relies on, and is repeated when one of them is refuted, until no more
    are. It must not refute less because more is refuted. Nothing recurses, so no chain of keys is too long.
    """

    def __init__(self, *, newest_first: bool = False) -> None:
        """Create a fixpoint in which every key holds.

        Args:
            newest_first: check the key that was added last, instead of the one that has waited longest.
        """
        self.refuted: set[K] = set()
        self.current: K | None = None  #: the key that is being checked
        self._dependents: dict[K, dict[K, None]] = {}  #: as ordered sets: steps do not depend on hashes
        self._pending: deque[K] = deque()
        self._take = self._pending.pop if newest_first else self._pending.popleft

    def decide(self, key: K, refutes: Callable[[K], bool]) -> bool:
        """Return True if a key holds, after all checks that this depends on."""
        if key not in self._dependents:
            self._add(key)
            outer = self.current
            while self._pending:
                pending = self._take()
                if pending in self.refuted:
                    continue
                self.current = pending
                if refutes(pending):
                    self.refuted.add(pending)
                    self._pending.extend(key for key in self._dependents[pending] if key not in self.refuted)
            self.current = outer
        return key not in self.refuted

    def holds(self, key: K) -> bool:
        """Return True unless a key is refuted so far; if it is later, the current one is checked again."""
        if self.current is not None:
            if key not in self._dependents:
                self._add(key)
            self._dependents[key][self.current] = None
        return key not in self.refuted

    def _add(self, key: K) -> None:
        self._dependents[key] = {}
        self._pending.append(key)
