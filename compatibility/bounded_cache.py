"""Cache bounded by the weight of its entries, such as their number or their bytes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Final, Generic, TypeVar

__all__ = ["BoundedCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
_EVICTED_PART: Final = 8


class BoundedCache(Generic[K, V]):
    """Weight-bounded cache that evicts the oldest entries first; those that are touched become the newest.

    Thread-safe. Memory per entry is that of a dict: the weight of an entry is kept only if it is not 1 and no function
    computes it.

    Args:
        limit: most weight of all entries together.
        weigh: computes the weight of a value, always the same; without it, ``put`` is given the weight.
    """

    def __init__(self, limit: int, weigh: Callable[[V], int] | None = None) -> None:
        self._limit = limit
        self._weigh = weigh
        self._entries: dict[K, V] = {}
        self._heavy: dict[K, int] = {}  #: the weights that are not 1 and not computed
        self._lock = threading.Lock()
        self.weight = 0  #: of all entries together
        #: return the value of a key, or None: a plain read of a dict, without a lock
        self.get: Callable[[K], V | None] = self._entries.get

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: object) -> bool:
        return key in self._entries

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys at this moment, the oldest first."""
        with self._lock:
            return iter(list(self._entries))

    def touch(self, key: K) -> V | None:
        """Return the value of a key, which becomes the newest, or None."""
        with self._lock:
            value = self._entries.pop(key, None)
            if value is not None:
                self._entries[key] = value
            return value

    def put(self, key: K, value: V, weight: int = 1) -> V:
        """Cache a value as the newest, and return it; one that weighs more than the limit is not cached."""
        if self._weigh is not None:
            weight = self._weigh(value)
        with self._lock:
            if key in self._entries:
                self._remove(key)
            if weight <= self._limit:
                if self.weight + weight > self._limit:
                    self._evict(weight)
                self._entries[key] = value
                if weight != 1 and self._weigh is None:
                    self._heavy[key] = weight
                self.weight += weight
        return value

    def drop(self, key: K) -> None:
        """Remove a key, if it is cached."""
        with self._lock:
            if key in self._entries:
                self._remove(key)

    def clear(self) -> None:
        """Remove all entries."""
        with self._lock:
            self._entries.clear()
            self._heavy.clear()
            self.weight = 0

    def _remove(self, key: K) -> None:
        self.weight -= self._weight_of(key)
        del self._entries[key]
        self._heavy.pop(key, None)

    def _evict(self, room: int) -> None:
        """Evict the oldest entries until there is room, and an eighth of the limit more.

        A dict finds its first key by passing over each that was removed before it: many at once make that cheap.
        """
        target = max(0, self._limit - self._limit // _EVICTED_PART - room)
        weight, oldest = self.weight, []
        for key in self._entries:
            if weight <= target:
                break
            weight -= self._weight_of(key)
            oldest.append(key)
        for key in oldest:
            self._remove(key)

    def _weight_of(self, key: K) -> int:
        return self._heavy.get(key, 1) if self._weigh is None else self._weigh(self._entries[key])
