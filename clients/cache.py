"""Client caches: schemas by id or guid never expire, as their content is fixed; other responses do."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from sys import getsizeof
from typing import Any, Final, Generic, TypeVar

from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["Caching", "SchemaCache", "TtlCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
DEFAULT_CAPACITY: Final = 64 * 1024 * 1024  #: bytes of schemas: texts, references, metadata and rules
_OBJECT_BYTES: Final = 128  # approximate bytes of a reference, rule or metadata object, without its strings
_ENTRY_BYTES: Final = 1_024  # approximate bytes of an entry, without its text


@dataclass(frozen=True, slots=True, kw_only=True)
class Caching:
    """Sizes and lifetimes of a client's caches."""

    capacity: int = DEFAULT_CAPACITY  #: bytes of the cache by id, and again of the cache by guid
    latest_seconds: float = 60.0  #: lifetime of a subject's latest version; 0: not cached
    absent_seconds: float = 2.0  #: lifetime of a not-found response to an id or guid
    entries: int = 10_000  #: most latest versions, and most not-found responses, that are cached


class SchemaCache:
    """Byte-bounded cache of schemas by a key with fixed content; the oldest entry is evicted first.

    Reads take no lock. The content of an entry is always valid; its subject, version and ``deleted`` are as of the time
    of the response.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._capacity = capacity
        self._bytes = 0
        self._entries: dict[Hashable, RegisteredSchema] = {}
        self._write_lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> RegisteredSchema | None:
        """Return the cached schema, or None."""
        return self._entries.get(key)

    def put(self, key: Hashable, schema: RegisteredSchema) -> None:
        """Cache a schema, and evict the oldest ones while the cache is over its capacity."""
        with self._write_lock:
            if key in self._entries:
                return
            self._entries[key] = schema
            self._bytes += _entry_size(schema)
            while self._bytes > self._capacity:
                self._bytes -= _entry_size(self._entries.pop(next(iter(self._entries))))

    def clear(self) -> None:
        """Evict all entries."""
        with self._write_lock:
            self._entries.clear()
            self._bytes = 0


class TtlCache(Generic[K, V]):
    """Cache of values that expire; the oldest is evicted first when there are too many.

    A value is put with the ``generation`` that was current before its request was sent: if entries were invalidated in
    the meantime, the response may be stale and is not cached.
    """

    def __init__(self, seconds: float, entries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._max_entries = entries
        self._clock = clock
        self._entries: dict[K, tuple[float, V]] = {}
        self._write_lock = threading.Lock()
        self.generation = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the cached value, or None if there is none or it has expired."""
        expires_at, value = self._entries.get(key, (0.0, None))
        return value if value is not None and self._clock() < expires_at else None

    def put(self, key: K, value: V, *, generation: int) -> None:
        """Cache a value, unless entries were invalidated since ``generation``."""
        with self._write_lock:
            if generation != self.generation or self._seconds <= 0:
                return
            self._entries.pop(key, None)
            self._entries[key] = (self._clock() + self._seconds, value)
            while len(self._entries) > self._max_entries:
                del self._entries[next(iter(self._entries))]

    def invalidate(self, matches: Callable[[K], bool] = lambda _key: True) -> None:
        """Invalidate the matching entries, and the responses to all requests in flight."""
        with self._write_lock:
            self.generation += 1
            for key in list(filter(matches, self._entries)):
                del self._entries[key]


def _entry_size(schema: RegisteredSchema) -> int:
    parts = schema.references, schema.metadata, schema.rule_set
    return getsizeof(schema.text) + _ENTRY_BYTES + _object_size(parts)


def _object_size(value: Any) -> int:
    """Return the approximate size in bytes of references, metadata and rules."""
    if isinstance(value, str):
        return getsizeof(value)
    if isinstance(value, Mapping):
        return sum(_object_size(key) + _object_size(value) for key, value in value.items())
    if isinstance(value, tuple | list):
        return sum(map(_object_size, value))
    if is_dataclass(value):
        return _OBJECT_BYTES + sum(_object_size(getattr(value, item_field.name)) for item_field in fields(value))
    return 0
