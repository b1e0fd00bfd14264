"""Builders of serializers and deserializers, with the call signatures of confluent-kafka 2.16.

A producer or consumer accepts a builder under a key of its configuration, such as ``value.serializer.builder`` or
``key.deserializer.builder``. It builds the serde with it, and closes the serde when it is closed. If the builder made
the registry client, the serde closes the client, too.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, Self, TypeVar

from contractlog.serdes.serde_base import AsyncSerde, SyncSerde

__all__ = ["AsyncBuilder", "DeserializerBuilder", "SerdeBuilder", "SerializerBuilder", "SyncBuilder"]

WS = TypeVar("WS", bound=SyncSerde[Any])
AS = TypeVar("AS", bound=AsyncSerde[Any])


class SerdeBuilder(ABC):
    """Builder that collects the arguments of a serde, by the names of the constructor's parameters."""

    serde: type[Any]  #: the class of the serde

    def __init__(self, config: Mapping[str, Any] | None, client: Any, init: Any, **arguments: Any) -> None:
        self._config = config
        self._client = client
        self._init = init
        self._arguments = arguments

    @abstractmethod
    def build(self, conf: Mapping[str, Any], is_key: bool) -> Any:  # noqa: FBT001 - as in confluent-kafka
        """Return the serde, and the configuration of the producer or consumer, unchanged."""

    def set_schema_registry_config(self, schema_registry_conf: Mapping[str, Any]) -> Self:
        """Set the configuration from which to make a registry client; do not set a client as well."""
        self._config = schema_registry_conf
        return self

    def set_schema_registry_client(self, schema_registry_client: Any) -> Self:
        """Set the registry client to use; the caller remains responsible for closing it."""
        self._client = schema_registry_client
        return self

    def set_schema(self, schema_str: Any) -> Self:
        """Set the schema, as text, a draft, or a ``Schema``."""
        return self._set("schema_str", schema_str)

    def set_rule_config(self, rule_conf: Mapping[str, Any]) -> Self:
        """Set the configuration of rule executors and actions."""
        return self._set("rule_conf", rule_conf)

    def set_rule_registry(self, rule_registry: Any) -> Self:
        """Set the ``RuleRegistry`` to use in place of the global one."""
        return self._set("rule_registry", rule_registry)

    def _set(self, name: str, value: Any) -> Self:
        self._arguments[name] = value
        return self

    def _make_client(self, name: str) -> Any:
        """Make the registry client that the serde will own; return None without a configuration of one.

        Raises:
            ValueError: both a client and a configuration are set.
        """
        if self._config is None:
            return None
        if self._client is not None:
            raise ValueError("Cannot specify both a Schema Registry client and a configuration; use one or the other")
        from contractlog.clients import confluent  # noqa: PLC0415 - imported only if a client is made

        return getattr(confluent, name).new_client(dict(self._config))

    def _construct(self, owned: Any) -> Any:
        serde = self.serde(schema_registry_client=self._client if owned is None else owned, **self._arguments)
        if owned is not None:
            serde.own_schema_registry_client()
        return serde


class SerializerBuilder(SerdeBuilder):
    """Base class of builders of serializers, with the setters that they share."""

    def set_to_dict(self, to_dict: Callable[[Any, Any], Any]) -> Self:
        """Set the function that converts an object to a dict."""
        return self._set("to_dict", to_dict)

    def set_serializer_config(self, serializer_conf: Mapping[str, Any]) -> Self:
        """Set the configuration of the serializer, by dotted keys."""
        return self._set("conf", serializer_conf)

    def set_serializer_init(self, serializer_init: Callable[[Any], Any]) -> Self:
        """Set a function to call with the serializer once it is built."""
        self._init = serializer_init
        return self


class DeserializerBuilder(SerdeBuilder):
    """Base class of builders of deserializers, with the setters that they share."""

    def set_from_dict(self, from_dict: Callable[[Any, Any], Any]) -> Self:
        """Set the function that converts a dict to an object."""
        return self._set("from_dict", from_dict)

    def set_deserializer_config(self, deserializer_conf: Mapping[str, Any]) -> Self:
        """Set the configuration of the deserializer, by dotted keys."""
        return self._set("conf", deserializer_conf)

    def set_deserializer_init(self, deserializer_init: Callable[[Any], Any]) -> Self:
        """Set a function to call with the deserializer once it is built."""
        self._init = deserializer_init
        return self


class SyncBuilder(SerdeBuilder, Generic[WS]):
    """Builder of a synchronous serde."""

    def build(self, conf: Mapping[str, Any], is_key: bool) -> tuple[WS, dict[str, Any]]:  # noqa: ARG002, FBT001
        """Return the serde, and the configuration of the producer or consumer, unchanged.

        Raises:
            ValueError: both a client and its configuration are set, or a setting of the serde is wrong.
        """
        owned = self._make_client("SchemaRegistryClient")
        try:
            serde: WS = self._construct(owned)
        except BaseException:
            if owned is not None:
                owned.close()
            raise
        if self._init is not None:
            try:
                self._init(serde)
            except BaseException:
                with suppress(Exception):  # the error of the init function is more useful
                    serde.close()
                raise
        return serde, dict(conf)


class AsyncBuilder(SerdeBuilder, Generic[AS]):
    """Builder of an asynchronous serde."""

    async def build(self, conf: Mapping[str, Any], is_key: bool) -> tuple[AS, dict[str, Any]]:  # noqa: ARG002, FBT001
        """Return the serde and the unchanged configuration; the init function may be a coroutine function."""
        owned = self._make_client("AsyncSchemaRegistryClient")
        try:
            serde: AS = self._construct(owned)
        except BaseException:
            if owned is not None:
                await owned.aclose()
            raise
        if self._init is not None:
            try:
                result = self._init(serde)
                if inspect.isawaitable(result):
                    await result
            except BaseException:
                with suppress(Exception):  # the error of the init function is more useful
                    await serde.close()
                raise
        return serde, dict(conf)
