"""Builders of the Avro serializers and deserializers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from contractlog.serdes.avro.serializer import (
    AsyncAvroDeserializer,
    AsyncAvroSerializer,
    AvroDeserializer,
    AvroSerializer,
)
from contractlog.serdes.builders import AsyncBuilder, DeserializerBuilder, SerializerBuilder, SyncBuilder
from contractlog.serdes.deserializer import FromDict
from contractlog.serdes.serializer import ToDict

__all__ = [
    "AsyncAvroDeserializerBuilder",
    "AsyncAvroSerializerBuilder",
    "AvroDeserializerBuilder",
    "AvroSerializerBuilder",
]


class _AvroSerializerBuilder(SerializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        to_dict: ToDict | None = None,
        serializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
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
        )


class _AvroDeserializerBuilder(DeserializerBuilder):
    def __init__(  # noqa: PLR0917 -- other clients' order of arguments
        self,
        schema_registry_config: Mapping[str, Any] | None = None,
        schema_registry_client: Any = None,
        schema: Any = None,
        from_dict: FromDict | None = None,
        return_record_name: bool = False,  # noqa: FBT001, FBT002 -- other clients' order of arguments
        deserializer_config: Mapping[str, Any] | None = None,
        rule_config: Mapping[str, Any] | None = None,
        rule_registry: Any = None,
        deserializer_init: Any = None,
    ) -> None:
        super().__init__(
            schema_registry_config,
            schema_registry_client,
            deserializer_init,
            schema_str=schema,
            from_dict=from_dict,
            return_record_name=return_record_name,
            conf=deserializer_config,
            rule_conf=rule_config,
            rule_registry=rule_registry,
        )

    def set_return_record_name(self, return_record_name: bool) -> Self:  # noqa: FBT001 -- as other clients have it
        """Set whether records inside unions are returned as ``(name, record)``."""
        return self._set("return_record_name", return_record_name)


class AvroSerializerBuilder(_AvroSerializerBuilder, SyncBuilder[AvroSerializer]):
    """Builder of an ``AvroSerializer``."""

    serde = AvroSerializer


class AsyncAvroSerializerBuilder(_AvroSerializerBuilder, AsyncBuilder[AsyncAvroSerializer]):
    """Builder of an ``AsyncAvroSerializer``; ``build`` is awaited."""

    serde = AsyncAvroSerializer


class AvroDeserializerBuilder(_AvroDeserializerBuilder, SyncBuilder[AvroDeserializer]):
    """Builder of an ``AvroDeserializer``."""

    serde = AvroDeserializer


class AsyncAvroDeserializerBuilder(_AvroDeserializerBuilder, AsyncBuilder[AsyncAvroDeserializer]):
    """Builder of an ``AsyncAvroDeserializer``; ``build`` is awaited."""

    serde = AsyncAvroDeserializer
