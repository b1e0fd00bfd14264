"""Answers by id, kept as bytes within a bound."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Final

__all__ = ["ByteCache"]

Key = tuple[str, int]
_OVERHEAD: Final = 200  #: bytes that an entry costs beside its body


class ByteCache:
    """Keeps the answers used last. They are fresh for ``seconds``: other nodes may delete what is kept here.

    An answer is put with the ``generation`` that was current before it was read from the database; if something was
    forgotten in between, it is not kept, because it may be what had to be forgotten.
    """

    def __init__(self, limit: int, *, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._limit = limit
        self._seconds = seconds
        self._clock = clock
        self._entries: OrderedDict[Key, tuple[float, bytes]] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()
        self.generation = 0

    def get(self, key: Key) -> bytes | None:
        """Return the answer, if it is known and young enough."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            until, body = entry
            if until < self._clock():
                return None  # but kept, for when the database is away
            self._entries.move_to_end(key)
            return body

    def stale(self, key: Key) -> bytes | None:
        """Return the answer, however old: for when nobody can be asked for a newer one."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None else entry[1]

    def __len__(self) -> int:
        """Count the answers that are kept."""
        return len(self._entries)

    @property
    def size(self) -> int:
        """The memory that they take, in bytes."""
        return self._size

    def put(self, key: Key, body: bytes, *, generation: int) -> None:
        """Keep an answer that was read while this generation was current."""
        with self._lock:
            if generation != self.generation or len(body) + _OVERHEAD > self._limit:
                return
            self._remove(key)
            self._entries[key] = (self._clock() + self._seconds, body)
            self._size += len(body) + _OVERHEAD
            while self._size > self._limit:
                self._remove(next(iter(self._entries)))

    def forget(self, keys: Collection[Key]) -> None:
        """Drop answers that changed."""
        if not keys:
            return
        with self._lock:
            self.generation += 1
            for key in keys:
                self._remove(key)

    def forget_all(self) -> None:
        """Drop every answer: some changed, and nobody knows which."""
        with self._lock:
            self.generation += 1
            self._entries.clear()
            self._size = 0

    def _remove(self, key: Key) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._size -= len(entry[1]) + _OVERHEAD
