"""Serializers of one package work with clients and schemas of the other."""

from __future__ import annotations

import asyncio
from typing import Any

import confluent_kafka.schema_registry as theirs
import pytest
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.schema_registry.json_schema import JSONDeserializer as TheirJSONDeserializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer as TheirJSONSerializer
from confluent_kafka.serialization import MessageField, SerializationContext

import contractlog.clients.confluent as ours
from contractlog.clients import AsyncRegistry
from contractlog.serdes.avro import AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer

pytestmark = pytest.mark.integration

TEXT = '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
JSON = '{"type":"object","properties":{"id":{"type":"integer"}},"title":"Order"}'
VALUE = {"id": 7}
CTX = SerializationContext("orders", MessageField.VALUE)


@pytest.mark.parametrize("schema", [TEXT, theirs.Schema(TEXT, "AVRO")], ids=["text", "their Schema"])
def test_their_serializers_work_with_our_client(schema: Any, schema_registry_client: ours.SchemaRegistryClient) -> None:
    their: Any = schema_registry_client
    record = TheirSerializer(their, schema)(VALUE, CTX)
    assert TheirDeserializer(their)(record, CTX) == VALUE
    assert AvroDeserializer(schema_registry_client)(record, CTX) == VALUE
    assert schema_registry_client.get_versions("orders-value") == [1]


def test_their_json_serializers_work_with_our_client(schema_registry_client: ours.SchemaRegistryClient) -> None:
    their: Any = schema_registry_client
    record = TheirJSONSerializer(JSON, their)(VALUE, CTX)
    assert TheirJSONDeserializer(JSON, schema_registry_client=their)(record, CTX) == VALUE
    assert JSONDeserializer(None, schema_registry_client=schema_registry_client)(record, CTX) == VALUE


@pytest.mark.parametrize(
    "schema", [TEXT, ours.Schema(TEXT), theirs.Schema(TEXT, "AVRO")], ids=["text", "our Schema", "their Schema"]
)
def test_our_serializers_work_with_our_client_of_their_shape(
    schema: Any, schema_registry_client: ours.SchemaRegistryClient
) -> None:
    record = AvroSerializer(schema_registry_client, schema)(VALUE, CTX)
    their: Any = schema_registry_client
    assert TheirDeserializer(their)(record, CTX) == VALUE
    assert AvroDeserializer(schema_registry_client)(record, CTX) == VALUE


def test_our_json_serializers_work_with_our_client_of_their_shape(
    schema_registry_client: ours.SchemaRegistryClient,
) -> None:
    record = JSONSerializer(ours.Schema(JSON, "JSON"), schema_registry_client)(VALUE, CTX)
    assert JSONDeserializer(None, schema_registry_client=schema_registry_client)(record, CTX) == VALUE


def test_our_asynchronous_serializer_works_with_our_asynchronous_client_of_their_shape(
    async_schema_registry: AsyncRegistry,
) -> None:
    async def journey() -> bytes | None:
        client = ours.AsyncSchemaRegistryClient.over(async_schema_registry)
        serializer = await AsyncAvroSerializer(client, ours.Schema(TEXT))
        return await serializer(VALUE, CTX)

    assert asyncio.run(journey()) == b"\x00\x00\x00\x00\x01\x0e"


def test_an_error_is_caught_by_whatever_name_it_is_known_there(
    schema_registry_client: ours.SchemaRegistryClient,
) -> None:
    for known in (theirs.SchemaRegistryError, ours.SchemaRegistryError):
        with pytest.raises(known) as caught:
            AvroSerializer(schema_registry_client, TEXT, None, {"auto.register.schemas": False})(VALUE, CTX)
        error: Any = caught.value
        assert (error.http_status_code, error.error_code) == (404, 40401)
