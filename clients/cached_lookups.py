"""Cached lookups of schemas and latest versions, shared by both clients."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from contractlog.clients import calls
from contractlog.clients.cache import Caching, SchemaCache, TtlCache
from contractlog.clients.calls import Call, CallSequence, SubjectLike
from contractlog.clients.hooks import Watch
from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.names import DEFAULT_CONTEXT, Subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["CachedLookups", "ClientCaches"]

LatestKey = tuple[str, tuple[tuple[str, str], ...] | None, bool]
AbsentKey = tuple[str, str | None, int | str]
_SUBJECT_ROUTE: Final = "/subjects/{}"  #: writes below it change one subject; a POST to itself is a lookup
_SHARED_RESOURCES: Final = ("/config", "/contexts", "/associations")  #: writes to them may change several subjects
_ANY_CONTEXT: Final = ""  #: replaces the context in keys: a guid is the same in all contexts


class ClientCaches:
    """Caches of one client, for all contexts."""

    def __init__(
        self, caching: Caching | None = None, watch: Watch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        caching = caching or Caching()
        self.ids = SchemaCache(caching.capacity)
        self.guids = SchemaCache(caching.capacity)
        self.latest: TtlCache[LatestKey, RegisteredSchema] = TtlCache(caching.latest_seconds, caching.entries, clock)
        self.absent: TtlCache[AbsentKey, NotFound] = TtlCache(caching.absent_seconds, caching.entries, clock)
        self.watch = watch

    def clear(self) -> None:
        """Clear all caches."""
        self.ids.clear()
        self.guids.clear()
        self.clear_latest()

    def clear_latest(self) -> None:
        """Clear the caches of what may change: latest versions and not-found responses."""
        self.latest.invalidate()
        self.absent.invalidate()

    def looked_up(self, cache: str, *, hit: bool) -> None:
        """Report a cache lookup to the watch, if there is one."""
        if self.watch is not None:
            self.watch.looked_up(cache, hit=hit)


class CachedLookups:
    """Cached lookups in one context."""

    def __init__(self, caches: ClientCaches, context: str | None = None) -> None:
        self.caches = caches
        self._context = context or DEFAULT_CONTEXT

    def schema_by_id(self, schema_id: int, *, subject: SubjectLike | None = None) -> CallSequence[RegisteredSchema]:
        """Return the schema with this id; cached without expiry.

        Raises:
            SchemaNotFound: no schema has this id.
        """
        key = (self._context, None if subject is None else str(subject), int(schema_id))
        return self._cached_schema("id", self.caches.ids, key, calls.by_id(schema_id, subject=subject))

    def schema_by_guid(self, guid: str) -> CallSequence[RegisteredSchema]:
        """Return the schema with this guid; cached without expiry. Its id is 0 if the registry sends none.

        Raises:
            SchemaNotFound: no schema has this guid.
        """
        return self._cached_schema("guid", self.caches.guids, (_ANY_CONTEXT, None, guid), calls.by_guid(guid))

    def latest(self, subject: SubjectLike) -> CallSequence[RegisteredSchema]:
        """Return the latest version of a subject.

        Cached for ``Caching.latest_seconds``, or until this client writes to the subject.

        Raises:
            SubjectNotFound: the subject has no versions.
        """
        return self._cached_latest((self._qualify(subject), None, False), calls.version(subject, "latest"))

    def latest_with_metadata(
        self, subject: SubjectLike, metadata: Mapping[str, str], *, deleted: bool = False
    ) -> CallSequence[RegisteredSchema]:
        """Return the latest version with all these metadata properties; cached for ``Caching.latest_seconds``.

        Raises:
            SubjectNotFound: the subject has no versions.
            SchemaNotFound: none of its versions has these properties.
        """
        key = (self._qualify(subject), tuple(sorted(metadata.items())), deleted)
        return self._cached_latest(key, calls.latest_with_metadata(subject, metadata, deleted=deleted))

    def referenced(self, draft: SchemaDraft, *, subject: SubjectLike | None = None) -> CallSequence[Mapping[str, str]]:
        """Return the texts of all dependencies of a draft by name, each after its own dependencies."""
        return calls.referenced(draft, subject=subject)

    def invalidate_after(self, call: Call[Any]) -> None:
        """Invalidate what a sent call may have changed, whether it succeeded or not."""
        if call.method == "GET" or (call.method == "POST" and call.route == _SUBJECT_ROUTE):
            return
        if call.route.startswith(_SUBJECT_ROUTE):
            subject = self._qualify(call.segments[1])
            self.caches.latest.invalidate(lambda key: key[0] == subject)
            self.caches.absent.invalidate()
            if call.method == "DELETE" and ("permanent", "true") in call.query:
                self.caches.ids.clear()  # the deletion may have removed an id
                self.caches.guids.clear()
        elif call.route.startswith(_SHARED_RESOURCES):
            self.caches.clear_latest()

    def _cached_schema(
        self, name: str, cache: SchemaCache, key: AbsentKey, call: Call[RegisteredSchema]
    ) -> CallSequence[RegisteredSchema]:
        cached = cache.get(key)
        absent = self.caches.absent.get(key) if cached is None else None
        self.caches.looked_up(name, hit=cached is not None or absent is not None)
        if cached is not None:
            return cached
        if absent is not None:
            raise type(absent)(absent.message, **absent.facts)
        generation = self.caches.absent.generation
        try:
            schema: RegisteredSchema = yield call
        except NotFound as error:
            self.caches.absent.put(key, error, generation=generation)
            raise
        cache.put(key, schema)
        return schema

    def _cached_latest(self, key: LatestKey, call: Call[RegisteredSchema]) -> CallSequence[RegisteredSchema]:
        cached = self.caches.latest.get(key)
        self.caches.looked_up("latest", hit=cached is not None)
        if cached is not None:
            return cached
        generation = self.caches.latest.generation
        schema: RegisteredSchema = yield call
        self.caches.latest.put(key, schema, generation=generation)
        return schema

    def _qualify(self, subject: SubjectLike) -> str:
        parsed = Subject.parse(str(subject))
        return str(parsed if str(subject).startswith(":.") else Subject(self._context, parsed.name))
