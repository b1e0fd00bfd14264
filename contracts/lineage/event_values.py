"""Values inside an event, read with errors that name their location."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from contractlog.compatibility.errors import InvalidLineage

__all__ = ["MAX_NAME", "EventValue"]

MAX_NAME: Final = 1_024  #: characters of a namespace, a name or a field
_SHOWN: Final = 100  #: characters of a location in messages


@dataclass(frozen=True, slots=True)
class EventValue:
    """A JSON value of an event, with its location."""

    value: object
    location: str = ""

    def error(self, problem: str) -> InvalidLineage:
        """Return the error of this value."""
        location = self.location if len(self.location) <= _SHOWN else f"{self.location[:_SHOWN]}…"
        return InvalidLineage(detail=f"`{location}` {problem}" if location else f"it {problem}")

    def has(self, name: str) -> bool:
        """Return whether the object has a member, which is not null."""
        return self._object().get(name) is not None

    def get(self, name: str) -> EventValue:
        """Return a member of the object.

        Raises:
            InvalidLineage: there is none.
        """
        value = self._object().get(name)
        member = EventValue(value, f"{self.location}.{name}" if self.location else name)
        if value is None:
            raise member.error("is missing")
        return member

    def items(self, name: str) -> Iterator[EventValue]:
        """Yield the items of a list, which may be absent."""
        if not self.has(name):
            return
        member = self.get(name)
        if not isinstance(member.value, list):
            raise member.error("is not a list")
        for index, item in enumerate(member.value):
            yield EventValue(item, f"{member.location}[{index}]")

    def members(self, name: str) -> list[tuple[str, EventValue]]:
        """Return the members of an object, which may be absent, by names of fields."""
        if not self.has(name):
            return []
        member = self.get(name)
        if not isinstance(member.value, dict):
            raise member.error("is not an object")
        keys = [EventValue(key, f"{member.location}.{key}") for key in member.value]
        return [(key.name(), EventValue(member.value[key.name()], key.location)) for key in keys]

    def text(self) -> str:
        """Return the text."""
        if not isinstance(self.value, str):
            raise self.error("is not a text")
        return self.value

    def name(self) -> str:
        """Return the text as a name, of limited length and without characters that cannot be stored."""
        text = self.text()
        if not 0 < len(text) <= MAX_NAME:
            raise self.error(f"must have 1 to {MAX_NAME:,} characters")
        if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise self.error("has a character that is not allowed: NUL, or half of a surrogate pair")
        return text

    def optional_name(self, name: str) -> str:
        """Return a member that is a name; empty if it is absent."""
        return self.get(name).name() if self.has(name) else ""

    def flag(self, name: str) -> bool:
        """Return a member that is true or false; False if it is absent."""
        if not self.has(name):
            return False
        member = self.get(name)
        if not isinstance(member.value, bool):
            raise member.error("is neither true nor false")
        return member.value

    def number(self) -> float:
        """Return the number."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self.error("is not a number")
        return value

    def count(self, maximum: int) -> int:
        """Return the number, which is an integer from 0 to a maximum."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= maximum:
            raise self.error(f"must be an integer from 0 to {maximum}")
        return value

    def _object(self) -> Mapping[str, Any]:
        if not isinstance(self.value, dict):
            raise self.error("is not an object")
        return self.value
