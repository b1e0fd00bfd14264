"""Serializers and deserializers: values to bytes and back, one record at a time.

``avro/`` and ``json_schema/`` have the serializers of a format, ``serializer.py`` and ``deserializer.py`` their shared
code, ``wire.py`` the frame, ``cli/`` the commands ``produce`` and ``consume``. May import ``clients``, ``contracts``
and ``compatibility``. To add an option, edit ``settings.py``. This module imports nothing that is slow to load.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from contractlog.serdes.context import MessageField, SerializationContext

if TYPE_CHECKING:
    from contractlog.serdes.serialization import Deserializer as Deserializer
    from contractlog.serdes.serialization import SerializationError as SerializationError
    from contractlog.serdes.serialization import Serializer as Serializer
    from contractlog.serdes.serialization import StringDeserializer as StringDeserializer
    from contractlog.serdes.serialization import StringSerializer as StringSerializer

__all__ = [
    "Deserializer",
    "MessageField",
    "SerializationContext",
    "SerializationError",
    "Serializer",
    "StringDeserializer",
    "StringSerializer",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.serialization"), name)
