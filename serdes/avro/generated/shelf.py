"""Bounded cache of the generated functions of this process, shared by all serializers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol
from weakref import WeakSet

__all__ = ["SHELF", "Shelf", "User"]

CAPACITY: Final = 256  #: functions; one of 15 fields takes 30 kB, one of 150 takes 60 kB


class User(Protocol):
    """A user of a function in the cache."""

    def release(self) -> None:
        """Drop the function, which was evicted; it may be taken again."""


class Shelf:
    """Cache of generated functions; the oldest is evicted when there are too many."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._kept: dict[Hashable, tuple[Callable[..., Any], WeakSet[Any]]] = {}
        self._open: set[Hashable] = set()  # functions that are being written
        self._changing = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def take(self, key: Hashable, user: User, write: Callable[[], Callable[..., Any]]) -> Callable[..., Any] | None:
        """Return the function of a key, written if it is missing; None while another thread writes it."""
        with self._changing:
            known = self._kept.get(key)
            if known is not None:
                known[1].add(user)
                return known[0]
            if key in self._open:
                return None
            self._open.add(key)
        try:
            return self._keep(key, user, write())
        finally:
            with self._changing:
                self._open.discard(key)

    def _keep(self, key: Hashable, user: User, function: Callable[..., Any]) -> Callable[..., Any]:
        with self._changing:
            self._kept[key] = (function, WeakSet([user]))
            gone = [self._kept.pop(first) for first in list(self._kept)[: max(0, len(self._kept) - self._capacity)]]
        for _, holders in gone:
            for holder in list(holders):
                holder.release()
        return function


SHELF: Final = Shelf()
