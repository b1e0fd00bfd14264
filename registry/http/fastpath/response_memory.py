"""Byte-bounded memory of responses, each valid until a change of what it depends on."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable
from typing import Final

from msgspec import Struct

from contractlog.compatibility.bounded_cache import BoundedCache

__all__ = ["ResponseMemory", "StoredResponse"]

_OVERHEAD: Final = 600  #: bytes that a response costs in addition to its body and the length of its request
_MAX_CHANGED_NAMES: Final = 10_000


class StoredResponse(Struct, frozen=True, gc=False):
    """A response as a route sent it, and the facts of it that are logged and counted."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes
    template: str | None  #: of the route, for metrics
    error_code: int | None


class _Entry(Struct, gc=False):
    response: StoredResponse
    name: str | None
    revision: int


class ResponseMemory:
    """Memory of responses, which are valid until something that they depend on changes.

    The revision is the number of changes noted so far. A response is stored with the revision from before it was read
    from the database; if what it depends on changed while it was read, it is never returned. It depends on the versions
    of the subjects with one name, in all contexts, or (None) on everything. Thread-safe.
    """

    def __init__(self, limit: int) -> None:
        self._entries: BoundedCache[Hashable, _Entry] = BoundedCache(limit)
        self._changed: dict[str, int] = {}  #: revision of the newest change of the subjects with a name
        self._last_change = 0  #: revision of the newest change of anything
        self._forgotten = 0  #: no response from before this revision is valid
        self._lock = threading.Lock()
        self.revision = 1

    def __len__(self) -> int:
        """Return the number of responses, valid or not."""
        return len(self._entries)

    @property
    def size(self) -> int:
        """The memory that the responses take, in bytes."""
        return self._entries.weight

    def get(self, key: Hashable) -> StoredResponse | None:
        """Return the response of a request, or None if there is no valid one."""
        entry = self._entries.get(key)
        if entry is None or entry.revision < self._forgotten:
            return None
        changed = self._last_change if entry.name is None else self._changed.get(entry.name, 0)
        return entry.response if entry.revision >= changed else None

    def put(
        self, key: Hashable, response: StoredResponse, *, name: str | None, revision: int, key_bytes: int = 0
    ) -> None:
        """Store a response that was read from the database.

        Args:
            key: identifies the request.
            response: the response.
            name: it depends only on the versions of subjects with this name; None if it depends on anything else.
            revision: the revision before it was read.
            key_bytes: size of the key.
        """
        self._entries.put(key, _Entry(response, name, revision), len(response.body) + key_bytes + _OVERHEAD)

    def note_changes(self, names: Iterable[str]) -> None:
        """Invalidate what depends on subjects with these names, and what depends on everything."""
        with self._lock:
            self.revision += 1
            for name in names:
                self._changed[name] = self.revision
            self._last_change = self.revision
            if len(self._changed) > _MAX_CHANGED_NAMES:
                self._forget()

    def forget_all(self) -> None:
        """Invalidate every response."""
        with self._lock:
            self.revision += 1
            self._forget()

    def _forget(self) -> None:
        self._forgotten = self._last_change = self.revision
        self._changed.clear()
        self._entries.clear()
