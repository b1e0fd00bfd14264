"""A small memory that forgets: by number, and by time where that is asked."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Final, Generic, TypeVar

__all__ = ["Clock", "Generation", "Kept", "Memory", "lasting"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
Clock = Callable[[], float]

DEFAULT_CAPACITY: Final = 1_000


def lasting(seconds: float | None, clock: Clock) -> float:
    """Return when what lasts so long has ended; None is for ever."""
    return math.inf if seconds is None else clock() + seconds


class Generation:
    """Tells how often a source has forgotten which versions are the newest; 0 for sources that do not say."""

    def __init__(self, source: Any) -> None:
        told = isinstance(getattr(source, "latest_generation", None), int)
        self._source = source if told else self
        self.latest_generation = 0

    def __call__(self) -> int:
        """Return how often."""
        now: int = self._source.latest_generation
        return now


class Kept(dict[K, V]):
    """A dict that holds a number of values; the oldest goes first. Reading is a dict's own, and takes no lock.

    Args:
        capacity: how many values are kept.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        super().__init__()
        self._capacity = capacity
        self._writing = threading.Lock()

    def keep(self, key: K, value: V) -> V:
        """Keep a value, and return it."""
        with self._writing:
            self.pop(key, None)
            self[key] = value
            while len(self) > self._capacity:
                del self[next(iter(self))]
        return value


class Memory(Generic[K, V]):
    """Values by key, up to a number of them; the oldest goes first. Reading takes no lock.

    Args:
        capacity: how many values are kept.
        seconds: how long one is kept; None means until there is no room.
        clock: tells the seconds; it never goes back.
    """

    def __init__(
        self, capacity: int = DEFAULT_CAPACITY, *, seconds: float | None = None, clock: Clock = time.monotonic
    ) -> None:
        self._capacity = capacity
        self._seconds = seconds
        self._clock = clock
        self._entries: dict[K, tuple[V, float | None]] = {}
        self._writing = threading.Lock()

    def get(self, key: K) -> V | None:
        """Return the value, or None where it is not known or too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        value, until = entry
        return value if until is None or self._clock() < until else None

    def put(self, key: K, value: V) -> V:
        """Keep a value, and return it."""
        until = None if self._seconds is None else self._clock() + self._seconds
        with self._writing:
            self._entries.pop(key, None)
            self._entries[key] = (value, until)
            while len(self._entries) > self._capacity:
                self._entries.pop(next(iter(self._entries)))
        return value
