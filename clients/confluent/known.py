"""Caches of ``SchemaRegistryClient``: schemas without expiry, latest versions with one."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, Final

from contractlog.clients.cache import Aging
from contractlog.clients.confluent.schemas import RegisteredSchema, Schema

__all__ = ["DONE", "Known"]


class _Done:
    """Completed awaitable: may be awaited any number of times, or not at all."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


DONE: Final = _Done()


class Known:
    """Responses by request; a write to a subject invalidates what it may have changed."""

    def __init__(self, capacity: int, latest_seconds: float) -> None:
        self.schemas: Aging[tuple[Any, ...], Schema] = Aging(math.inf, capacity)
        self.placed: Aging[tuple[Any, ...], RegisteredSchema] = Aging(math.inf, capacity)  #: by (subject, …)
        self.latest: Aging[tuple[Any, ...], RegisteredSchema] = Aging(latest_seconds, capacity)  #: by (subject, …)

    def wrote(self, subject: str, *, permanent: bool = False) -> None:
        """Invalidate what a write to a subject may have changed."""
        for memory in (self.placed, self.latest):
            memory.forget(lambda key: key[0] == subject)
        if permanent:
            self.schemas.forget()

    def clear_latest(self) -> None:
        """Clear the cache of latest versions."""
        self.latest.forget()

    def clear(self) -> None:
        """Clear all caches."""
        for memory in (self.schemas, self.placed, self.latest):
            memory.forget()
