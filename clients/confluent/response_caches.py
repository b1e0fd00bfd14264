"""Caches of ``SchemaRegistryClient``: schemas without expiry, latest versions with one."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, Final

from contractlog.clients.cache import TtlCache
from contractlog.clients.confluent.schema import RegisteredSchema, Schema

__all__ = ["COMPLETED", "ResponseCaches"]


class _Completed:
    """Completed awaitable: may be awaited any number of times, or not at all."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


COMPLETED: Final = _Completed()


class ResponseCaches:
    """Responses by request; a write to a subject invalidates what it may have changed."""

    def __init__(self, capacity: int, latest_seconds: float) -> None:
        self.schemas: TtlCache[tuple[Any, ...], Schema] = TtlCache(math.inf, capacity)
        self.registered: TtlCache[tuple[Any, ...], RegisteredSchema] = TtlCache(math.inf, capacity)  #: by (subject, …)
        self.latest: TtlCache[tuple[Any, ...], RegisteredSchema] = TtlCache(
            latest_seconds, capacity
        )  #: by (subject, …)

    def invalidate_subject(self, subject: str, *, permanent: bool = False) -> None:
        """Invalidate what a write to a subject may have changed."""
        for cache in (self.registered, self.latest):
            cache.invalidate(lambda key: key[0] == subject)
        if permanent:
            self.schemas.invalidate()

    def clear_latest(self) -> None:
        """Clear the cache of latest versions."""
        self.latest.invalidate()

    def clear(self) -> None:
        """Clear all caches."""
        for cache in (self.schemas, self.registered, self.latest):
            cache.invalidate()
