"""Where a record is going to, or comes from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

__all__ = ["Context", "Headers", "MessageField", "SerializationContext", "header"]

Headers: TypeAlias = "Mapping[str, bytes | str | None] | Sequence[tuple[str, bytes | str | None]]"


class MessageField(StrEnum):
    """The part of a record; equal to the plain words and to the members of confluent-kafka's enum."""

    NONE = "none"
    KEY = "key"
    VALUE = "value"


class Context(Protocol):
    """What a serializer asks of its context; confluent-kafka's ``SerializationContext`` will do."""

    @property
    def topic(self) -> str | None:
        """The topic's name."""

    @property
    def field(self) -> str | None:
        """``key`` or ``value``."""


@dataclass(slots=True)
class SerializationContext:
    """The topic and the part that a value belongs to, and the record's headers where they are known."""

    topic: str
    field: str = MessageField.VALUE
    headers: Headers | None = None


def header(context: Context | None, name: str) -> bytes | str | None:
    """Return the last header of this name, or None; contexts without headers have none."""
    headers: Headers | None = getattr(context, "headers", None)
    if not headers:
        return None
    if type(headers) is not list and isinstance(headers, Mapping):
        return headers.get(name)
    found = None
    for key, value in headers:
        if key == name:
            found = value
    return found
