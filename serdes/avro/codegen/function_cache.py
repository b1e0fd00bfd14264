"""Bounded cache of the generated functions of this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol
from weakref import WeakSet

__all__ = ["FUNCTION_CACHE", "FunctionCache", "FunctionUser"]

CAPACITY: Final = 256  #: functions; one of 15 fields takes 30 kB, one of 150 takes 60 kB


class FunctionUser(Protocol):
    """A user of a function in the cache."""

    def release(self) -> None:
        """Drop the function, which was evicted; the user may get it from the cache again."""


class FunctionCache:
    """Cache of generated functions; the oldest is evicted when there are too many."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._entries: dict[Hashable, tuple[Callable[..., Any], WeakSet[Any]]] = {}
        self._in_progress: set[Hashable] = set()  # keys of functions that are being generated
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get_or_generate(
        self, key: Hashable, user: FunctionUser, generate: Callable[[], Callable[..., Any]]
    ) -> Callable[..., Any] | None:
        """Return the function of a key; generate it if it is missing; None while another thread does so."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                entry[1].add(user)
                return entry[0]
            if key in self._in_progress:
                return None
            self._in_progress.add(key)
        try:
            return self._store(key, user, generate())
        finally:
            with self._lock:
                self._in_progress.discard(key)

    def _store(self, key: Hashable, user: FunctionUser, function: Callable[..., Any]) -> Callable[..., Any]:
        with self._lock:
            self._entries[key] = (function, WeakSet([user]))
            evicted = [
                self._entries.pop(first) for first in list(self._entries)[: max(0, len(self._entries) - self._capacity)]
            ]
        for _, users in evicted:
            for former_user in list(users):
                former_user.release()
        return function


FUNCTION_CACHE: Final = FunctionCache()
