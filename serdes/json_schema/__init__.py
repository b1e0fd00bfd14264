"""JSON records in Kafka frames: serializers, deserializers and their builders, imported on first use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contractlog.serdes.json_schema.serde import AsyncJSONDeserializer as AsyncJSONDeserializer
    from contractlog.serdes.json_schema.serde import AsyncJSONDeserializerBuilder as AsyncJSONDeserializerBuilder
    from contractlog.serdes.json_schema.serde import AsyncJSONSerializer as AsyncJSONSerializer
    from contractlog.serdes.json_schema.serde import AsyncJSONSerializerBuilder as AsyncJSONSerializerBuilder
    from contractlog.serdes.json_schema.serde import JSONDeserializer as JSONDeserializer
    from contractlog.serdes.json_schema.serde import JSONDeserializerBuilder as JSONDeserializerBuilder
    from contractlog.serdes.json_schema.serde import JSONSerializer as JSONSerializer
    from contractlog.serdes.json_schema.serde import JSONSerializerBuilder as JSONSerializerBuilder

__all__ = [
    "AsyncJSONDeserializer",
    "AsyncJSONDeserializerBuilder",
    "AsyncJSONSerializer",
    "AsyncJSONSerializerBuilder",
    "JSONDeserializer",
    "JSONDeserializerBuilder",
    "JSONSerializer",
    "JSONSerializerBuilder",
]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.serde"), name)
