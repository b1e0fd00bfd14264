"""Byte-bounded cache of responses by schema id.

Gain (``benchmarks/registry/fastpath.py --only cache_by_schema_id``):
55 µs of processor time per read instead of 1,160.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from msgspec import Struct

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT

__all__ = ["ByteCache", "ReadStart"]

Key = tuple[str, int]  #: context and schema id
_EntryKey = (
    int | Key
)  #: ids of the default context are plain integers: most are, and a tuple costs more than a response's head
_OVERHEAD: Final = 200  #: bytes that an entry costs in addition to its body and twice its requested subject
_MAX_RESPONSES: Final = 8  #: responses per id; the one stored longest ago is evicted first
_EXPIRY_GRANULARITY: Final = 0.05  #: seconds; responses read within this time share one expiry time


class _Entry(Struct, gc=False):
    """One cached response, linked to the next one of the same id."""

    requested_subject: str
    until: float
    body: bytes
    next_entry: _Entry | None


class ReadStart(NamedTuple):
    """The state of a cache just before a response is read from the database."""

    generation: int  #: the number of invalidations so far
    at: float  #: seconds on the clock of the cache


class ByteCache:
    """Byte-bounded cache of response bodies; entries expire after ``seconds``.

    They expire because other nodes may delete what is cached here. One that is in use is then stored again, which makes
    it the newest, so that the oldest, which are evicted first, are those that are not in use.
    One response is stored for each subject that was requested with an id, and one for requests without a subject.
    A response is stored with the ``ReadStart`` from before it was read from the database. Its age counts from there,
    because a slow read may return what was deleted while it ran; and if anything was invalidated in between, the
    response is not stored, because it may be what had to be invalidated.
    """

    def __init__(
        self,
        limit: int,
        *,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        watch: Callable[[int, int], None] = lambda _size, _entries: None,
    ) -> None:
        self._seconds = seconds
        self._clock = clock
        self._watch = watch  #: called with the memory in bytes and the number of ids after each change
        self._entries: BoundedCache[_EntryKey, _Entry] = BoundedCache(limit, _chain_bytes)
        self._until = 0.0
        self._lock = threading.Lock()  #: of changes
        self._generation = 0

    def start_read(self) -> ReadStart:
        """Return the state that ``put`` needs from the moment before a response is read."""
        return ReadStart(self._generation, self._clock())

    def get(self, key: Key, requested_subject: str = "") -> bytes | None:
        """Return the cached response, or None if it is missing or expired.

        Expired entries are not removed: ``stale`` returns them while the database is unavailable.
        """
        entry = self._find(key, requested_subject)
        return None if entry is None or entry.until < self._clock() else entry.body

    def stale(self, key: Key, requested_subject: str = "") -> bytes | None:
        """Return the cached response however old it is, for when the database is unavailable."""
        entry = self._find(key, requested_subject)
        return None if entry is None else entry.body

    def __len__(self) -> int:
        """Return the number of ids with cached responses."""
        return len(self._entries)

    @property
    def size(self) -> int:
        """The memory that the responses take, in bytes."""
        return self._entries.weight

    def put(self, key: Key, body: bytes, *, start: ReadStart, requested_subject: str = "") -> None:
        """Store a response whose read began at ``start``."""
        entry_key = _entry_key(key)
        with self._lock:
            if start.generation == self._generation:
                others = _copy_without(self._entries.get(entry_key), requested_subject)
                self._entries.put(entry_key, _Entry(requested_subject, self._tick(start.at), body, others))
                self._watch(self.size, len(self))

    def forget(self, keys: Collection[Key]) -> None:
        """Invalidate the responses about these ids, for every requested subject."""
        if not keys:
            return
        with self._lock:
            self._generation += 1
            for key in keys:
                self._entries.drop(_entry_key(key))
            self._watch(self.size, len(self))

    def forget_all(self) -> None:
        """Invalidate every response, for when some changed and it is unknown which."""
        with self._lock:
            self._generation += 1
            self._entries.clear()
            self._watch(0, 0)

    def _find(self, key: Key, requested_subject: str) -> _Entry | None:
        entry = self._entries.get(_entry_key(key))
        while entry is not None and entry.requested_subject != requested_subject:
            entry = entry.next_entry
        return entry

    def _tick(self, read_at: float) -> float:
        """Return when a response expires; responses that were read at almost the same time share one number."""
        until = read_at + self._seconds
        if not self._until <= until < self._until + _EXPIRY_GRANULARITY:
            self._until = until
        return self._until


def _entry_key(key: Key) -> _EntryKey:
    return key[1] if key[0] == DEFAULT_CONTEXT else key


def _chain_bytes(entry: _Entry | None) -> int:
    size = 0
    while entry is not None:
        size += len(entry.body) + 2 * len(entry.requested_subject) + _OVERHEAD
        entry = entry.next_entry
    return size


def _copy_without(entry: _Entry | None, requested_subject: str) -> _Entry | None:
    """Copy a chain without the response of one requested subject."""
    chain: list[_Entry] = []
    while entry is not None and len(chain) < _MAX_RESPONSES - 1:
        if entry.requested_subject != requested_subject:
            chain.append(entry)
        entry = entry.next_entry
    following: _Entry | None = None
    for link in reversed(chain):
        following = _Entry(link.requested_subject, link.until, link.body, following)
    return following
