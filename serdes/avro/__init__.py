"""Avro records in Kafka frames: serializers and deserializers, loaded when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contractlog.serdes.avro.serializer import AsyncAvroDeserializer as AsyncAvroDeserializer
    from contractlog.serdes.avro.serializer import AsyncAvroSerializer as AsyncAvroSerializer
    from contractlog.serdes.avro.serializer import AvroDeserializer as AvroDeserializer
    from contractlog.serdes.avro.serializer import AvroSerializer as AvroSerializer

__all__ = ["AsyncAvroDeserializer", "AsyncAvroSerializer", "AvroDeserializer", "AvroSerializer"]


def __getattr__(name: str) -> Any:
    """Load a public name from its module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.serializer"), name)
