"""Byte-bounded cache of responses by schema id."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection
from typing import Final, NamedTuple

from msgspec import Struct

from contractlog.compatibility.names import DEFAULT_CONTEXT

__all__ = ["ByteCache", "ReadStart"]

Key = tuple[str, int]  #: context and schema id
_Place = (
    int | Key
)  #: ids of the default context are plain integers: most are, and a tuple costs more than a response's head
_OVERHEAD: Final = 200  #: bytes that an entry costs in addition to its body and twice its form
_MOST_FORMS: Final = 8  #: responses per id; the one stored longest ago is evicted first
_TICK: Final = 0.05  #: seconds; responses read within this time share one expiry time


class _Kept(Struct, gc=False):
    """One cached response, linked to the next one of the same id."""

    form: str
    until: float
    body: bytes
    following: _Kept | None


class ReadStart(NamedTuple):
    """The state of a cache just before a response is read from the database."""

    generation: int  #: the number of invalidations so far
    at: float  #: seconds on the clock of the cache


class ByteCache:
    """Byte-bounded LRU cache of response bodies; entries expire after ``seconds``.

    They expire because other nodes may delete what is cached here.
    An id may have several responses, by form: the empty form, or the name of the subject that was requested with the
    id. A response is stored with the ``ReadStart`` from before it was read from the database. Its age counts from
    there, because a slow read may return what was deleted while it ran; and if anything was invalidated in between, the
    response is not stored, because it may be what had to be invalidated.

    Entries that are used move to the new half; when that is full, it becomes the old half, and the previous old half is
    dropped.
    """

    def __init__(
        self,
        limit: int,
        *,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        watch: Callable[[int, int], None] = lambda _size, _entries: None,
    ) -> None:
        self._half = limit // 2
        self._seconds = seconds
        self._clock = clock
        self._watch = watch  #: called with the memory in bytes and the number of ids after each change
        self._new: dict[_Place, _Kept] = {}
        self._old: dict[_Place, _Kept] = {}
        self._new_size = 0
        self._old_size = 0
        self._until = 0.0
        self._lock = threading.Lock()
        self._generation = 0

    def start_read(self) -> ReadStart:
        """Return the state that ``put`` needs from the moment before a response is read."""
        return ReadStart(self._generation, self._clock())

    def get(self, key: Key, form: str = "") -> bytes | None:
        """Return the cached response, or None if it is missing or expired.

        Expired entries are not removed: ``stale`` returns them while the database is unavailable.
        """
        kept = self._find(key, form)
        return None if kept is None or kept.until < self._clock() else kept.body

    def stale(self, key: Key, form: str = "") -> bytes | None:
        """Return the cached response however old it is, for when the database is unavailable."""
        kept = self._find(key, form)
        return None if kept is None else kept.body

    def __len__(self) -> int:
        """Return the number of ids with cached responses."""
        return len(self._new) + len(self._old)

    @property
    def size(self) -> int:
        """The memory that the responses take, in bytes."""
        return self._new_size + self._old_size

    def put(self, key: Key, body: bytes, *, start: ReadStart, form: str = "") -> None:
        """Store a response whose read began at ``start``."""
        place = _place(key)
        with self._lock:
            if start.generation != self._generation or _cost(form, body) > self._half:
                return
            others = _without(self._renewed(place), form)
            self._remove(place)
            self._add(place, _Kept(form, self._tick(start.at), body, others))
            self._watch(self.size, len(self))

    def forget(self, keys: Collection[Key]) -> None:
        """Invalidate the responses about these ids, in every form."""
        if not keys:
            return
        with self._lock:
            self._generation += 1
            for key in keys:
                self._remove(_place(key))
            self._watch(self.size, len(self))

    def forget_all(self) -> None:
        """Invalidate every response, for when some changed and it is unknown which."""
        with self._lock:
            self._generation += 1
            self._new, self._old = {}, {}
            self._new_size = self._old_size = 0
            self._watch(0, 0)

    def _find(self, key: Key, form: str) -> _Kept | None:
        place = _place(key)
        kept = self._new.get(place)  # without the lock: entries of a half are never modified
        if kept is None and place in self._old:
            with self._lock:
                kept = self._renewed(place)
        while kept is not None and kept.form != form:
            kept = kept.following
        return kept

    def _renewed(self, place: _Place) -> _Kept | None:
        """Return the entry of an id, moved to the new half."""
        kept = self._old.pop(place, None)
        if kept is None:
            return self._new.get(place)
        self._old_size -= _size(kept)
        self._add(place, kept)
        return kept

    def _add(self, place: _Place, kept: _Kept) -> None:
        self._new[place] = kept
        self._new_size += _size(kept)
        if self._new_size > self._half:
            self._old, self._old_size = self._new, self._new_size
            self._new, self._new_size = {}, 0

    def _remove(self, place: _Place) -> None:
        kept = self._new.pop(place, None)
        if kept is not None:
            self._new_size -= _size(kept)
        kept = self._old.pop(place, None)
        if kept is not None:
            self._old_size -= _size(kept)

    def _tick(self, read_at: float) -> float:
        """Return when a response expires; responses that were read at almost the same time share one number."""
        until = read_at + self._seconds
        if not self._until <= until < self._until + _TICK:
            self._until = until
        return self._until


def _place(key: Key) -> _Place:
    return key[1] if key[0] == DEFAULT_CONTEXT else key


def _cost(form: str, body: bytes) -> int:
    return len(body) + 2 * len(form) + _OVERHEAD


def _size(kept: _Kept | None) -> int:
    size = 0
    while kept is not None:
        size += _cost(kept.form, kept.body)
        kept = kept.following
    return size


def _without(kept: _Kept | None, form: str) -> _Kept | None:
    """Copy a chain without one form."""
    chain: list[_Kept] = []
    while kept is not None and len(chain) < _MOST_FORMS - 1:
        if kept.form != form:
            chain.append(kept)
        kept = kept.following
    following: _Kept | None = None
    for one in reversed(chain):
        following = _Kept(one.form, one.until, one.body, following)
    return following
