"""Invalid arguments are rejected when they are given, or by the first record."""

from __future__ import annotations

import asyncio
import math
import uuid
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Registry
from contractlog.clients.confluent import AsyncSchemaRegistryClient, SchemaRegistryClient
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import BadFrame
from contractlog.serdes.json_schema import (
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    JSONDeserializer,
    JSONSerializer,
)
from contractlog.serdes.schema_ids import FrameId, dual_schema_id_deserializer

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}'


def made(kind: Any, client: Any, **options: Any) -> Any:
    if "JSON" in kind.__name__:
        return kind("{}", schema_registry_client=client, **options)
    return kind(client, ORDER, **options)


@pytest.mark.parametrize("kind", [AvroSerializer, AvroDeserializer, JSONSerializer, JSONDeserializer])
@pytest.mark.parametrize("shape", ["ours", "theirs"])
def test_a_client_that_is_awaited_is_refused_by_who_waits(registry: Registry, kind: Any, shape: str) -> None:
    client: Any = AsyncRegistry(app=registry._transport.app)
    if shape == "theirs":
        client = AsyncSchemaRegistryClient.over(client)
    with pytest.raises(TypeError, match=f"has to be awaited: use Async{kind.__name__}"):
        made(kind, client)
    asyncio.run(client.close() if shape == "ours" else client.__aexit__(None, None, None))


@pytest.mark.parametrize(
    "kind", [AsyncAvroSerializer, AsyncAvroDeserializer, AsyncJSONSerializer, AsyncJSONDeserializer]
)
@pytest.mark.parametrize("shape", ["ours", "theirs"])
def test_a_client_that_waits_is_refused_by_who_awaits(registry: Registry, kind: Any, shape: str) -> None:
    client = registry if shape == "ours" else SchemaRegistryClient.over(registry)
    with pytest.raises(TypeError, match="would hold up the event loop: use its async twin"):
        made(kind, client)


@pytest.mark.parametrize("timeout", [None, "5", -1, 0, math.nan, math.inf, True])
@pytest.mark.parametrize("kind", [Registry, AsyncRegistry])
def test_a_timeout_is_a_number_of_seconds(kind: Any, timeout: Any) -> None:
    with pytest.raises(UsageError, match="a timeout is a number of seconds"):
        kind("http://registry", timeout=timeout)


@pytest.mark.parametrize("kind", [AvroSerializer, AvroDeserializer])
def test_limits_are_limits(registry: Registry, kind: Any) -> None:
    with pytest.raises(ValueError, match="limits must be Limits"):
        made(kind, registry, limits=5)


@pytest.mark.parametrize("schema_id", [-1, 0, 2**31, 2**40, True, "1"])
def test_an_id_to_write_with_fits_its_four_bytes(registry: Registry, schema_id: Any) -> None:
    with pytest.raises(ValueError, match=r"use\.schema\.id must be a schema id"):
        made(AvroSerializer, registry, conf={"use.schema.id": schema_id, "auto.register.schemas": False})


def test_a_header_holds_a_guid_and_nothing_else(registry: Registry) -> None:
    held = registry.register("orders-value", SchemaDraft(ORDER))
    guid = b"\1" + uuid.UUID(held.guid).bytes
    deserializer = AvroDeserializer(registry)
    for right in (guid, bytearray(guid), memoryview(guid), b"\0\0\0\0\1", "\0\0\0\0\1"):
        context = SerializationContext("orders", headers=[("__value_schema_id", right)])  # type: ignore[list-item]
        assert deserializer(b"\2", context) == {"n": 1}
        assert dual_schema_id_deserializer(b"\2", context, FrameId("AVRO")).read() == b"\2"
    for wrong in (guid + b"\0", guid[:-1], b"", b"\2" + guid[1:], 7, 1.5, ["x"], "\ud800", "\1" + "x" * 15 + "\ud800"):
        context = SerializationContext("orders", headers=[("__value_schema_id", wrong)])  # type: ignore[list-item]
        with pytest.raises(BadFrame):
            deserializer(b"\2", context)
        with pytest.raises(BadFrame):
            dual_schema_id_deserializer(b"\2", context, FrameId("AVRO"))
