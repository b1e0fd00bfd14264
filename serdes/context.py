"""Serialization context: the topic and part of a record, and its headers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias

__all__ = ["Context", "Headers", "MessageField", "SerializationContext", "header"]

Headers: TypeAlias = "Mapping[str, bytes | str | None] | Sequence[tuple[str, bytes | str | None]]"


class MessageField(StrEnum):
    """The part of a record; equal to the plain strings and to the members of confluent-kafka's enum."""

    NONE = "none"
    KEY = "key"
    VALUE = "value"


class Context(Protocol):
    """Context that a serializer needs; confluent-kafka's ``SerializationContext`` is one."""

    @property
    def topic(self) -> str | None:
        """The topic's name."""

    @property
    def field(self) -> str | None:
        """``key`` or ``value``."""


@dataclass(slots=True)
class SerializationContext:
    """The topic and the part that a value belongs to, and the record's headers if available."""

    topic: str
    field: str = MessageField.VALUE
    headers: Headers | None = None


def header(context: Context | None, name: str) -> bytes | str | None:
    """Return the last header of this name, or None if there is none."""
    headers: Headers | None = getattr(context, "headers", None)
    if not headers:
        return None
    if type(headers) is not list and isinstance(headers, Mapping):
        return headers.get(name)
    latest = None
    for key, value in headers:
        if key == name:
            latest = value
    return latest
