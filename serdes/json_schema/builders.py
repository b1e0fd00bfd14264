"""Builders of the JSON serializers and deserializers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from contractlog.serdes.builders import AsyncBuilder, DeserializerBuilder, SerializerBuilder, SyncBuilder
from contractlog.serdes.deserializer import FromDict
from contractlog.serdes.json_schema.serializer import (
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    JsonDecode,
    JSONDeserializer,
    JsonEncode,
    JSONSerializer,
)
from contractlog.serdes.serializer import ToDict

__all__ = [
    "AsyncJSONDeserializerBuilder",
    "AsyncJSONSerializerBuilder",
    "JSONDeserializerBuilder",
    "JSONSerializerBuilder",
]


class _JSONSerializerBuilder(SerializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        to_dict: ToDict | None = None,
        serializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_encode: JsonEncode | None = None,
        serializer_init: Any = None,
    ) -> None:
        super().__init__(
            schema_registry_config,
            schema_registry_client,
            serializer_init,
            schema_str=schema,
            to_dict=to_dict,
            conf=serializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
            json_encode=json_encode,
        )

    def set_json_encode(self, json_encode: JsonEncode) -> Self:
        """Set the function that encodes a value as JSON text."""
        return self._set("json_encode", json_encode)


class _JSONDeserializerBuilder(DeserializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        from_dict: FromDict | None = None,
        deserializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        json_decode: JsonDecode | None = None,
        deserializer_init: Any = None,
    ) -> None:
        super().__init__(
            schema_registry_config,
            schema_registry_client,
            deserializer_init,
            schema_str=schema,
            from_dict=from_dict,
            conf=deserializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
            json_decode=json_decode,
        )

    def set_json_decode(self, json_decode: JsonDecode) -> Self:
        """Set the function that decodes a JSON text to a value."""
        return self._set("json_decode", json_decode)


class JSONSerializerBuilder(_JSONSerializerBuilder, SyncBuilder[JSONSerializer]):
    """Builder of a ``JSONSerializer``."""

    serde = JSONSerializer


class AsyncJSONSerializerBuilder(_JSONSerializerBuilder, AsyncBuilder[AsyncJSONSerializer]):
    """Builder of an ``AsyncJSONSerializer``; ``build`` is awaited."""

    serde = AsyncJSONSerializer


class JSONDeserializerBuilder(_JSONDeserializerBuilder, SyncBuilder[JSONDeserializer]):
    """Builder of a ``JSONDeserializer``."""

    serde = JSONDeserializer


class AsyncJSONDeserializerBuilder(_JSONDeserializerBuilder, AsyncBuilder[AsyncJSONDeserializer]):
    """Builder of an ``AsyncJSONDeserializer``; ``build`` is awaited."""

    serde = AsyncJSONDeserializer
