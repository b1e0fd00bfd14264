"""What a client remembers: contents by id for ever, since an id stands for one content; the rest for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from sys import getsizeof
from typing import Any, Final, Generic, TypeVar

from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["Aging", "Caching", "IdCache"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
DEFAULT_CAPACITY: Final = 64 * 1024 * 1024  #: bytes of schemas, with what stands beside their texts
_MEMBER: Final = 128  # what each reference, rule and metadata cost beside their texts, roughly
_OVERHEAD: Final = 1_024  # what an entry costs beside its text, roughly


@dataclass(frozen=True, slots=True, kw_only=True)
class Caching:
    """How much a client remembers, and for how long."""

    capacity: int = DEFAULT_CAPACITY  #: bytes of schemas that are kept by id and by guid, each
    latest_seconds: float = 60.0  #: how long the newest version of a subject is believed; 0 asks always
    absent_seconds: float = 2.0  #: how long an id that nobody knows is not asked for again
    entries: int = 10_000  #: newest versions, and unknown ids, that are kept


class IdCache:
    """Schemas by a key that stands for one content, up to a number of bytes; the oldest entry goes first.

    Reading takes no lock. Of an entry, the content holds for ever; subject, version and ``deleted`` are as they were
    when it was read.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._capacity = capacity
        self._used = 0
        self._entries: dict[Hashable, RegisteredSchema] = {}
        self._writing = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: Hashable) -> RegisteredSchema | None:
        """Return the schema, or None where it is not known."""
        return self._entries.get(key)

    def put(self, key: Hashable, schema: RegisteredSchema) -> None:
        """Keep a schema, and let go of the oldest ones if it gets too much."""
        with self._writing:
            if key in self._entries:
                return
            self._entries[key] = schema
            self._used += _cost(schema)
            while self._used > self._capacity:
                self._used -= _cost(self._entries.pop(next(iter(self._entries))))

    def clear(self) -> None:
        """Forget everything."""
        with self._writing:
            self._entries.clear()
            self._used = 0


class Aging(Generic[K, V]):
    """Values that are believed for a while; the oldest goes first when there are too many.

    A value is put with the ``generation`` that was current before it was asked for: what was forgotten meanwhile is not
    remembered by an answer from before.
    """

    def __init__(self, seconds: float, entries: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._most = entries
        self._clock = clock
        self._entries: dict[K, tuple[float, V]] = {}
        self._writing = threading.Lock()
        self.generation = 0

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, key: K) -> V | None:
        """Return the value, or None where it is unknown or too old."""
        until, value = self._entries.get(key, (0.0, None))
        return value if value is not None and self._clock() < until else None

    def put(self, key: K, value: V, *, generation: int) -> None:
        """Believe a value from now on."""
        with self._writing:
            if generation != self.generation or self._seconds <= 0:
                return
            self._entries.pop(key, None)
            self._entries[key] = (self._clock() + self._seconds, value)
            while len(self._entries) > self._most:
                del self._entries[next(iter(self._entries))]

    def forget(self, concerned: Callable[[K], bool] = lambda _key: True) -> None:
        """Believe no more what is concerned, nor what is being asked for now."""
        with self._writing:
            self.generation += 1
            for key in list(filter(concerned, self._entries)):
                del self._entries[key]


def _cost(schema: RegisteredSchema) -> int:
    beside = schema.references, schema.metadata, schema.rule_set
    return getsizeof(schema.text) + _OVERHEAD + _weight(beside)


def _weight(beside: Any) -> int:
    """Return about how many bytes what stands beside a text takes."""
    if isinstance(beside, str):
        return getsizeof(beside)
    if isinstance(beside, Mapping):
        return sum(_weight(key) + _weight(value) for key, value in beside.items())
    if isinstance(beside, tuple | list):
        return sum(map(_weight, beside))
    if is_dataclass(beside):
        return _MEMBER + sum(_weight(getattr(beside, one.name)) for one in fields(beside))
    return 0
