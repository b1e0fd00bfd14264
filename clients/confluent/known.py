"""What a client of this package remembers: contents as long as there is room, the newest version for a while."""

from __future__ import annotations

import math
from collections.abc import Generator
from typing import Any, Final

from contractlog.clients.cache import Aging
from contractlog.clients.confluent.schemas import RegisteredSchema, Schema

__all__ = ["DONE", "Known"]


class _Done:
    """A result that is there already: it may be awaited any number of times, or not at all."""

    def __await__(self) -> Generator[None, None, None]:
        yield from ()


DONE: Final = _Done()


class Known:
    """Answers by what was asked; a write to a subject makes the client forget what it may have changed."""

    def __init__(self, capacity: int, latest_seconds: float) -> None:
        self.schemas: Aging[tuple[Any, ...], Schema] = Aging(math.inf, capacity)
        self.placed: Aging[tuple[Any, ...], RegisteredSchema] = Aging(math.inf, capacity)  #: keys begin with a subject
        self.latest: Aging[tuple[Any, ...], RegisteredSchema] = Aging(latest_seconds, capacity)  #: as these do

    def wrote(self, subject: str, *, permanent: bool = False) -> None:
        """Forget what a write to a subject may have changed."""
        for memory in (self.placed, self.latest):
            memory.forget(lambda key: key[0] == subject)
        if permanent:
            self.schemas.forget()

    def clear_latest(self) -> None:
        """Forget which versions are the newest."""
        self.latest.forget()

    def clear(self) -> None:
        """Forget everything."""
        for memory in (self.schemas, self.placed, self.latest):
            memory.forget()
