"""Avro records in Kafka frames: serializers, deserializers and their builders, imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contractlog.serdes.avro.serde import AsyncAvroDeserializer as AsyncAvroDeserializer
    from contractlog.serdes.avro.serde import AsyncAvroDeserializerBuilder as AsyncAvroDeserializerBuilder
    from contractlog.serdes.avro.serde import AsyncAvroSerializer as AsyncAvroSerializer
    from contractlog.serdes.avro.serde import AsyncAvroSerializerBuilder as AsyncAvroSerializerBuilder
    from contractlog.serdes.avro.serde import AvroDeserializer as AvroDeserializer
    from contractlog.serdes.avro.serde import AvroDeserializerBuilder as AvroDeserializerBuilder
    from contractlog.serdes.avro.serde import AvroSerializer as AvroSerializer
    from contractlog.serdes.avro.serde import AvroSerializerBuilder as AvroSerializerBuilder

__all__ = [
    "AsyncAvroDeserializer",
    "AsyncAvroDeserializerBuilder",
    "AsyncAvroSerializer",
    "AsyncAvroSerializerBuilder",
    "AvroDeserializer",
    "AvroDeserializerBuilder",
    "AvroSerializer",
    "AvroSerializerBuilder",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.serde"), name)
