"""What every serializer is, and those of plain texts: the names of ``confluent_kafka.serialization``."""

from __future__ import annotations

import codecs
from typing import Any, Protocol

from contractlog.serdes.context import Context
from contractlog.serdes.errors import SerializationError

__all__ = ["Deserializer", "SerializationError", "Serializer", "StringDeserializer", "StringSerializer"]


class Serializer(Protocol):
    """Makes bytes of values; own ones may extend it."""

    def __call__(self, value: Any, ctx: Context | None = None) -> bytes | None:
        """Return the bytes of a value; None stays None."""


class Deserializer(Protocol):
    """Makes values of bytes; own ones may extend it."""

    def __call__(self, value: bytes | None, ctx: Context | None = None) -> Any:
        """Return the value of bytes; None stays None."""


class StringSerializer:
    """Makes bytes of texts.

    Args:
        codec: how texts are written.

    Raises:
        LookupError: nobody knows the codec.
    """

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codecs.lookup(codec).name

    def __call__(self, value: str | None, ctx: Context | None = None) -> bytes | None:
        """Return the bytes of a text; None stays None.

        Raises:
            SerializationError: it is no text, or the codec cannot write it.
        """
        if value is None:
            return None
        try:
            return value.encode(self.codec)
        except (UnicodeError, AttributeError) as error:
            raise SerializationError(reason=str(error), topic=getattr(ctx, "topic", None)) from error


class StringDeserializer:
    """Makes texts of bytes; see ``StringSerializer``."""

    def __init__(self, codec: str = "utf_8") -> None:
        self.codec = codecs.lookup(codec).name

    def __call__(self, value: bytes | None, ctx: Context | None = None) -> str | None:
        """Return the text of bytes; None stays None.

        Raises:
            SerializationError: the bytes are no text.
        """
        if value is None:
            return None
        try:
            return value.decode(self.codec)
        except (UnicodeError, AttributeError) as error:
            raise SerializationError(reason=str(error), topic=getattr(ctx, "topic", None)) from error
