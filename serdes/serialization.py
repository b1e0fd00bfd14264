"""Serializer protocols and string serializers, with the names of ``confluent_kafka.serialization``."""

from __future__ import annotations

import codecs
from typing import Any, Protocol

from contractlog.serdes.context import Context
from contractlog.serdes.errors import SerializationError

__all__ = ["Deserializer", "SerializationError", "Serializer", "StringDeserializer", "StringSerializer"]


class Serializer(Protocol):
    """Interface of serializers; user-defined ones may extend it."""

    def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the bytes of a value; None stays None."""


class Deserializer(Protocol):
    """Interface of deserializers; user-defined ones may extend it."""

    def __call__(self, value: bytes | None, ctx: Context | None = None) -> Any:
        """Return the value of bytes; None stays None."""


class StringSerializer:
    """Serializer of texts.

    Args:
        codec: the text encoding.

    Raises:
        LookupError: the codec is unknown.
    """

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codecs.lookup(codec).name

    def __call__(self, value: str | None, ctx: Context | None = None) -> bytes | None:
        """Return the bytes of a string; None stays None.

        Raises:
            SerializationError: the value is not a string, or the codec cannot encode it.
        """
        if value is None:
            return None
        try:
            return value.encode(self.codec)
        except (UnicodeError, AttributeError) as error:
            raise SerializationError(reason=str(error), topic=getattr(ctx, "topic", None)) from error


class StringDeserializer:
    """Deserializer of texts; see ``StringSerializer``."""

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codecs.lookup(codec).name

    def __call__(self, value: bytes | None, ctx: Context | None = None) -> str | None:
        """Return the text of bytes; None stays None.

        Raises:
            SerializationError: the codec cannot decode the bytes.
        """
        if value is None:
            return None
        try:
            return value.decode(self.codec)
        except (UnicodeError, AttributeError) as error:
            raise SerializationError(reason=str(error), topic=getattr(ctx, "topic", None)) from error
