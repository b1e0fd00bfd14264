"""Generated functions of this process: a bounded cache, and counts of their failures."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from typing import Any, Final, Protocol
from weakref import WeakSet

__all__ = ["FUNCTION_CACHE", "GENERATED_CODE_FAILURES", "FailureCounts", "FunctionCache", "FunctionUser"]

CAPACITY: Final = 256  #: functions; one of 15 fields takes 30 kB, one of 150 takes 60 kB
MAX_COUNTED: Final = 1_000  #: schemas; failures of further ones are neither counted nor logged
_LOG: Final = logging.getLogger("contractlog.serdes")


class FunctionUser(Protocol):
    """A user of a function in the cache."""

    def release(self) -> None:
        """Drop the function, which was evicted; it may be taken again."""


class FunctionCache:
    """Cache of generated functions; the oldest is evicted when there are too many."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._entries: dict[Hashable, tuple[Callable[..., Any], WeakSet[Any]]] = {}
        self._in_progress: set[Hashable] = set()  # functions that are being written
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get_or_generate(
        self, key: Hashable, user: FunctionUser, write: Callable[[], Callable[..., Any]]
    ) -> Callable[..., Any] | None:
        """Return the function of a key, written if it is missing; None while another thread writes it."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None:
                entry[1].add(user)
                return entry[0]
            if key in self._in_progress:
                return None
            self._in_progress.add(key)
        try:
            return self._store(key, user, write())
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


class FailureCounts:
    """Number of failures of generated code by schema."""

    def __init__(self, capacity: int = MAX_COUNTED) -> None:
        self._capacity = capacity
        self._counts: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    def count(self, key: Hashable) -> int:
        """Return the number of failures of the code with this key."""
        return self._counts.get(key, 0)

    def add(self, key: Hashable, schema_name: str, error: Exception) -> None:
        """Count a failure, and log the first one of a key."""
        with self._lock:
            count = self._counts.get(key, 0)
            if not count and len(self._counts) >= self._capacity:
                return
            self._counts[key] = count + 1
        if not count:
            _LOG.warning(
                "the code generated for the Avro schema %s raised %s; such records are handled by the interpreter, "
                "at lower speed",
                schema_name,
                type(error).__name__,
            )


GENERATED_CODE_FAILURES: Final = FailureCounts()
