"""Answers by id, kept as bytes within a bound."""

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
)  #: ids of the default context stand for themselves: most are, and a tuple costs more than a body's head
_OVERHEAD: Final = 200  #: bytes that an answer costs beside its body, and twice its form
_MOST_FORMS: Final = 8  #: answers about one id; what was put longest ago goes first
_TICK: Final = 0.05  #: seconds whose answers share the time at which they grow old


class _Kept(Struct, gc=False):
    """One answer, and the next one about the same id."""

    form: str
    until: float
    body: bytes
    following: _Kept | None


class ReadStart(NamedTuple):
    """The state of a cache just before an answer is read from the database."""

    generation: int  #: the number of times that something was forgotten
    at: float  #: seconds on the clock of the cache


class ByteCache:
    """Keeps the answers used last. They are fresh for ``seconds``: other nodes may delete what is kept here.

    An id may have several answers, by form: the empty one, or the name of the subject that was asked for beside it. An
    answer is put with the ``ReadStart`` from before it was read from the database. Its age counts from there, because a
    slow read may return what was deleted while it ran; and if something was forgotten in between, the answer is not
    kept, because it may be what had to be forgotten.

    What is used moves to the new half; when that is full, it becomes the old half, and the old one is gone.
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
        self._watch = watch  #: told the memory and the ids, after each change
        self._new: dict[_Place, _Kept] = {}
        self._old: dict[_Place, _Kept] = {}
        self._new_size = 0
        self._old_size = 0
        self._until = 0.0
        self._lock = threading.Lock()
        self._generation = 0

    def start_read(self) -> ReadStart:
        """Return what ``put`` needs to know about the moment before an answer is read."""
        return ReadStart(self._generation, self._clock())

    def get(self, key: Key, form: str = "") -> bytes | None:
        """Return the answer, if it is known and young enough; one that is not stays, for when the database is away."""
        kept = self._find(key, form)
        return None if kept is None or kept.until < self._clock() else kept.body

    def stale(self, key: Key, form: str = "") -> bytes | None:
        """Return the answer, however old: for when nobody can be asked for a newer one."""
        kept = self._find(key, form)
        return None if kept is None else kept.body

    def __len__(self) -> int:
        """Count the ids whose answers are kept."""
        return len(self._new) + len(self._old)

    @property
    def size(self) -> int:
        """The memory that the answers take, in bytes."""
        return self._new_size + self._old_size

    def put(self, key: Key, body: bytes, *, start: ReadStart, form: str = "") -> None:
        """Keep an answer whose reading began at ``start``."""
        place = _place(key)
        with self._lock:
            if start.generation != self._generation or _cost(form, body) > self._half:
                return
            others = _without(self._renewed(place), form)
            self._remove(place)
            self._add(place, _Kept(form, self._tick(start.at), body, others))
            self._watch(self.size, len(self))

    def forget(self, keys: Collection[Key]) -> None:
        """Drop the answers about ids that changed, in every form."""
        if not keys:
            return
        with self._lock:
            self._generation += 1
            for key in keys:
                self._remove(_place(key))
            self._watch(self.size, len(self))

    def forget_all(self) -> None:
        """Drop every answer: some changed, and nobody knows which."""
        with self._lock:
            self._generation += 1
            self._new, self._old = {}, {}
            self._new_size = self._old_size = 0
            self._watch(0, 0)

    def _find(self, key: Key, form: str) -> _Kept | None:
        place = _place(key)
        kept = self._new.get(place)  # without the lock: nothing that is in a half changes
        if kept is None and place in self._old:
            with self._lock:
                kept = self._renewed(place)
        while kept is not None and kept.form != form:
            kept = kept.following
        return kept

    def _renewed(self, place: _Place) -> _Kept | None:
        """Return what is kept at a place, moved to the new half."""
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
        """Return when an answer grows old; answers that were read at almost the same time share one number."""
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
    """Copy a chain but for one form."""
    chain: list[_Kept] = []
    while kept is not None and len(chain) < _MOST_FORMS - 1:
        if kept.form != form:
            chain.append(kept)
        kept = kept.following
    following: _Kept | None = None
    for one in reversed(chain):
        following = _Kept(one.form, one.until, one.body, following)
    return following
