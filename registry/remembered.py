"""Answers that hold until the next commit: for a database that nobody else writes to."""

from __future__ import annotations

import threading
from typing import Final

__all__ = ["Remembered"]

_OVERHEAD: Final = 300  #: bytes that an answer costs beside its path and its body


class Remembered:
    """Keeps answers by path. The law: what is got was true at the moment of asking.

    Before a commit everything is dropped, and until it is done nothing is kept: meanwhile the database alone knows what
    is seen. An answer is put with the ``generation`` that was current before it was read; one that was read while
    something was committed is not kept. A commit that fails leaves it closed until the next one: that costs time, and
    no truth.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._answers: dict[str, bytes] = {}
        self._size = 0
        self._closed = False
        self._lock = threading.Lock()
        self.generation = 0

    def __len__(self) -> int:
        """Count the answers."""
        return len(self._answers)

    @property
    def size(self) -> int:
        """The memory that the answers take, in bytes."""
        return self._size

    def get(self, path: str) -> bytes | None:
        """Return the answer, if it is known."""
        return self._answers.get(path)  # without the lock: what is closed is another dictionary

    def put(self, path: str, body: bytes, *, generation: int) -> None:
        """Keep an answer that was read while this generation was current."""
        size = len(path) + len(body) + _OVERHEAD
        with self._lock:
            if self._closed or generation != self.generation or path in self._answers:
                return
            if self._size + size > self._limit:
                self._drop()
            if size <= self._limit:
                self._answers[path] = body
                self._size += size

    def close(self) -> None:
        """Drop everything: something is about to be committed."""
        with self._lock:
            self._closed = True
            self.generation += 1
            self._drop()

    def open(self) -> None:
        """Keep answers again: it is committed."""
        with self._lock:
            self.generation += 1
            self._closed = False

    def _drop(self) -> None:
        self._answers = {}
        self._size = 0
