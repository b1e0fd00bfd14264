"""Client caches, and lookups of schemas and latest versions in them, shared by both clients."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from sys import getsizeof
from typing import Any, Final, Generic, TypeVar

from contractlog.clients import calls
from contractlog.clients.calls import Call, CallSequence, SubjectLike
from contractlog.clients.hooks import Watch
from contractlog.clients.step_drivers import check_between_steps
from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.errors import NotFound, Unreachable
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject, qualify_subject
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["CachedLookups", "Caching", "ClientCaches", "TtlCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
DEFAULT_CAPACITY: Final = 64 * 1024 * 1024  #: bytes of schemas: texts, references, metadata and rules
_OBJECT_BYTES: Final = 128  # approximate bytes of a reference, rule or metadata object, without its strings
_ENTRY_BYTES: Final = 1_024  # approximate bytes of an entry, without its text
LatestKey = tuple[str, tuple[tuple[str, str], ...] | None, bool]
AbsentKey = tuple[str, str | None, int | str]
SchemaCache = BoundedCache[AbsentKey, RegisteredSchema]
_SUBJECT_ROUTE: Final = "/subjects/{}"  #: writes below it change one subject; a POST to itself is a lookup
_SHARED_RESOURCES: Final = ("/config", "/contexts", "/associations")  #: writes to them may change several subjects
_ANY_CONTEXT: Final = ""  #: replaces the context in keys: a guid is the same in all contexts


@dataclass(frozen=True, slots=True, kw_only=True)
class Caching:
    """Sizes and lifetimes of a client's caches."""

    capacity: int = DEFAULT_CAPACITY  #: bytes of the cache by id, and again of the cache by guid
    latest_seconds: float = 60.0  #: lifetime of a subject's latest version; 0: not cached
    absent_seconds: float = 2.0  #: lifetime of a not-found response to an id or guid
    entries: int = 10_000  #: most latest versions, and most not-found responses, that are cached


class TtlCache(Generic[K, V]):
    """Cache of values that expire; the oldest are evicted first when there are too many.

    A value may be put with the ``generation`` that was current before its request was sent: if entries were invalidated
    in the meantime, the response may be stale and is not cached.
    """

    def __init__(self, seconds: float, entries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._entries: BoundedCache[K, tuple[float, V]] = BoundedCache(entries)
        self._write_lock = threading.Lock()
        self.generation = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the cached value, or None if there is none or it has expired."""
        expires_at, value = self._entries.get(key) or (0.0, None)
        return value if value is not None and self._clock() < expires_at else None

    def put(self, key: K, value: V, *, generation: int | None = None) -> V:
        """Cache a value, unless entries were invalidated since ``generation``, and return it."""
        with self._write_lock:
            if generation in {None, self.generation} and self._seconds > 0:
                self._entries.put(key, (self._clock() + self._seconds, value))
        return value

    def invalidate(self, matches: Callable[[K], bool] = lambda _key: True) -> None:
        """Invalidate the matching entries, and the responses to all requests in flight."""
        with self._write_lock:
            self.generation += 1
            for key in filter(matches, self._entries):
                self._entries.drop(key)


def schema_size(schema: RegisteredSchema) -> int:
    """Return the approximate memory of a cached schema in bytes."""
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


class ClientCaches:
    """Caches of one client, for all contexts."""

    def __init__(
        self, caching: Caching | None = None, watch: Watch | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        caching = caching or Caching()
        #: by a key with fixed content; subject, version and ``deleted`` are as of the time of the response
        self.ids: SchemaCache = BoundedCache(caching.capacity, schema_size)
        self.guids: SchemaCache = BoundedCache(caching.capacity, schema_size)
        self.latest: TtlCache[LatestKey, RegisteredSchema] = TtlCache(caching.latest_seconds, caching.entries, clock)
        self.absent: TtlCache[AbsentKey, NotFound] = TtlCache(caching.absent_seconds, caching.entries, clock)
        self.watch = watch
        self.clock = clock

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

    def __init__(self, caches: ClientCaches, context: str | None = None, seconds: float = math.inf) -> None:
        self.caches = caches
        self.seconds = seconds  #: after which no further dependency is requested
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
        """Return the texts of all dependencies of a draft by name, each after its own dependencies.

        Raises:
            InvalidSchema: the references form a cycle, or there are too many.
            Unreachable: the registry has not returned all of them within the timeout of a call.
        """
        deadline = self.caches.clock() + self.seconds

        def check_time() -> None:
            if self.caches.clock() >= deadline:
                seconds = f"{self.seconds:g} seconds"
                raise Unreachable(f"the registry has not returned all dependencies of a schema within {seconds}")

        return check_between_steps(calls.referenced(draft, subject=subject), check_time)

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
        return str(Subject.parse(qualify_subject(str(subject), self._context)))
