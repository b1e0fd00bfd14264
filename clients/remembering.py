"""Cached lookups of schemas and latest versions, shared by both clients.

A walk is a generator: it yields the calls to send, is sent their results (or their errors are thrown into it), and
returns the result. The blocking and the asynchronous client drive the same walks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, TypeVar

from contractlog.clients import calls
from contractlog.clients.cache import Aging, Caching, IdCache
from contractlog.clients.calls import Call, SubjectLike
from contractlog.clients.watching import Watch
from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["Memory", "Remembering", "Walk"]

T = TypeVar("T")
Walk = Generator[Call[Any], Any, T]
LatestKey = tuple[str, tuple[tuple[str, str], ...] | None, bool]
AbsentKey = tuple[str, str | None, int | str]
_UNDER_SUBJECTS: Final = "/subjects/{}"  #: writes below it change one subject; a POST to itself is a lookup
_WIDE: Final = ("/config", "/contexts", "/associations")  #: writes to them may change several subjects
_BY_GUID: Final = ""  #: replaces the context in keys: a guid is the same in all contexts


class Memory:
    """Caches of one client, for all contexts."""

    def __init__(
        self, caching: Caching | None = None, watch: Watch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        caching = caching or Caching()
        self.ids = IdCache(caching.capacity)
        self.guids = IdCache(caching.capacity)
        self.latest: Aging[LatestKey, RegisteredSchema] = Aging(caching.latest_seconds, caching.entries, clock)
        self.absent: Aging[AbsentKey, NotFound] = Aging(caching.absent_seconds, caching.entries, clock)
        self.watch = watch

    def clear(self) -> None:
        """Clear all caches."""
        self.ids.clear()
        self.guids.clear()
        self.clear_latest()

    def clear_latest(self) -> None:
        """Clear the caches of what may change: latest versions and not-found responses."""
        self.latest.forget()
        self.absent.forget()

    def looked_up(self, cache: str, *, hit: bool) -> None:
        """Report a cache lookup to the watch, if there is one."""
        if self.watch is not None:
            self.watch.looked_up(cache, hit=hit)


class Remembering:
    """Cached lookups in one context."""

    def __init__(self, memory: Memory, context: str | None = None) -> None:
        self.memory = memory
        self._context = context or DEFAULT_CONTEXT

    def schema_by_id(self, schema_id: int, subject: SubjectLike | None) -> Walk[RegisteredSchema]:
        """Return the schema with an id, from the cache if possible."""
        asked = None if subject is None else str(subject)
        key = (self._context, asked, int(schema_id))
        return self._content("id", self.memory.ids, key, calls.by_id(schema_id, subject=subject))

    def schema_by_guid(self, guid: str) -> Walk[RegisteredSchema]:
        """Return the schema with a guid, from the cache if possible."""
        return self._content("guid", self.memory.guids, (_BY_GUID, None, guid), calls.by_guid(guid))

    def latest(self, subject: SubjectLike) -> Walk[RegisteredSchema]:
        """Return the latest version of a subject, from the cache while its entry is valid."""
        return self._newest((self._qualified(subject), None, False), calls.version(subject, "latest"))

    def latest_with_metadata(
        self, subject: SubjectLike, metadata: Mapping[str, str], *, deleted: bool
    ) -> Walk[RegisteredSchema]:
        """Return the latest version with these metadata properties, from the cache while its entry is valid."""
        key = (self._qualified(subject), tuple(sorted(metadata.items())), deleted)
        return self._newest(key, calls.latest_with_metadata(subject, metadata, deleted=deleted))

    def sent(self, call: Call[Any]) -> None:
        """Invalidate what a sent call may have changed, whether it succeeded or not."""
        if call.method == "GET" or (call.method == "POST" and call.route == _UNDER_SUBJECTS):
            return
        if call.route.startswith(_UNDER_SUBJECTS):
            subject = self._qualified(call.segments[1])
            self.memory.latest.forget(lambda key: key[0] == subject)
            self.memory.absent.forget()
            if call.method == "DELETE" and ("permanent", "true") in call.query:
                self.memory.ids.clear()  # the deletion may have removed an id
                self.memory.guids.clear()
        elif call.route.startswith(_WIDE):
            self.memory.clear_latest()

    def _content(
        self, name: str, cache: IdCache, key: AbsentKey, call: Call[RegisteredSchema]
    ) -> Walk[RegisteredSchema]:
        known = cache.get(key)
        absent = self.memory.absent.get(key) if known is None else None
        self.memory.looked_up(name, hit=known is not None or absent is not None)
        if known is not None:
            return known
        if absent is not None:
            raise type(absent)(absent.message, **absent.facts)
        generation = self.memory.absent.generation
        try:
            found: RegisteredSchema = yield call
        except NotFound as error:
            self.memory.absent.put(key, error, generation=generation)
            raise
        cache.put(key, found)
        return found

    def _newest(self, key: LatestKey, call: Call[RegisteredSchema]) -> Walk[RegisteredSchema]:
        known = self.memory.latest.get(key)
        self.memory.looked_up("latest", hit=known is not None)
        if known is not None:
            return known
        generation = self.memory.latest.generation
        found: RegisteredSchema = yield call
        self.memory.latest.put(key, found, generation=generation)
        return found

    def _qualified(self, subject: SubjectLike) -> str:
        named = Subject.parse(str(subject))
        return str(named if str(subject).startswith(":.") else Subject(self._context, named.name))
