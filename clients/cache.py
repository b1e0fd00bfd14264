"""A bounded memory of schemas by id: an id stands for one content for ever, so nothing in it grows old."""

from __future__ import annotations

import threading
from typing import Final

from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["IdCache"]

DEFAULT_CAPACITY: Final = 64 * 1024 * 1024  #: characters of schema text
_OVERHEAD: Final = 1_024  # what an entry costs beside its text, roughly

Key = tuple[str | None, int]


class IdCache:
    """Schemas by (subject asked with, id), up to a number of characters; the oldest entry goes first.

    Reading takes no lock. Of an entry, the content holds for ever; subject, version and ``deleted`` are as they were
    when it was read.
    """

    def __init__(self, capacity: int = DEFAULT_CAPACITY) -> None:
        self._capacity = capacity
        self._used = 0
        self._entries: dict[Key, RegisteredSchema] = {}
        self._writing = threading.Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, subject: str | None, schema_id: int) -> RegisteredSchema | None:
        """Return the schema, or None where it is not known."""
        return self._entries.get((subject, schema_id))

    def put(self, subject: str | None, schema: RegisteredSchema) -> None:
        """Keep a schema, and let go of the oldest ones if it gets too much."""
        key = (subject, int(schema.schema_id))
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


def _cost(schema: RegisteredSchema) -> int:
    return len(schema.text) + _OVERHEAD
