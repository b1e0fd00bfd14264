"""Caches bounded by the number of entries and, optionally, by age."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar

__all__ = ["BoundedDict", "Clock", "ExpiringCache", "GenerationCounter", "expiry_time"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Clock = Callable[[], float]

DEFAULT_CAPACITY: Final = 1_000


def expiry_time(seconds: float | None, clock: Clock) -> float:
    """Return the time at which a duration ends; infinity for None."""
    return math.inf if seconds is None else clock() + seconds


class GenerationCounter:
    """Counter of how often a source dropped its newest versions; always 0 for sources that do not count."""

    def __init__(self, source: Any) -> None:
        is_counting = isinstance(getattr(source, "latest_generation", None), int)
        self._source = source if is_counting else self
        self.latest_generation = 0

    def __call__(self) -> int:
        """Return the current count."""
        generation: int = self._source.latest_generation
        return generation


class BoundedDict(dict[K, V]):
    """A bounded dict that evicts its oldest values. Reads are plain dict reads, without a lock.

    Args:
        capacity: most values.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        super().__init__()
        self._capacity = capacity
        self._lock = threading.Lock()

    def store(self, key: K, value: V) -> V:
        """Store a value, and return it."""
        with self._lock:
            self.pop(key, None)
            self[key] = value
            while len(self) > self._capacity:
                del self[next(iter(self))]
        return value


class ExpiringCache(Generic[K, V]):
    """Cache of values by key that evicts the oldest ones. Reads take no lock.

    Args:
        capacity: most values.
        seconds: time until a value expires; None: never.
        clock: returns seconds; monotonic.
    """

    def __init__(
        self, capacity: int = DEFAULT_CAPACITY, *, seconds: float | None = None, clock: Clock = time.monotonic
    ) -> None:
        self._capacity = capacity
        self._seconds = seconds
        self._clock = clock
        self._entries: dict[K, tuple[V, float | None]] = {}
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value, or None if it is missing or expired."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        value, until = entry
        return value if until is None or self._clock() < until else None

    def put(self, key: K, value: V) -> V:
        """Store a value, and return it."""
        until = None if self._seconds is None else self._clock() + self._seconds
        with self._lock:
            self._entries.pop(key, None)
            self._entries[key] = (value, until)
            while len(self._entries) > self._capacity:
                self._entries.pop(next(iter(self._entries)))
        return value
