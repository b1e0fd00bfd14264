"""Serializers of both packages read each other's bytes through a real broker and registry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from contractlog.clients import Registry
from contractlog.serdes.avro import AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer

from support.deadlines import WAIT_SECONDS

if TYPE_CHECKING:
    from support.kafka import Kafka

pytestmark = pytest.mark.integration

FLIGHT = json.dumps(
    {
        "type": "record",
        "name": "Flight",
        "namespace": "flights",
        "fields": [
            {"name": "number", "type": "int"},
            {"name": "tail", "type": ["null", "string"], "default": None},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 8, "scale": 2}},
            {"name": "legs", "type": {"type": "array", "items": "string"}},
        ],
    }
)
FLIGHTS: list[dict[str, Any]] = [
    {
        "number": number,
        "tail": None if number % 2 else "N14228",
        "day": date(2013, 7, 1),
        "at": datetime(2013, 7, 1, 5, 15, tzinfo=UTC),
        "price": Decimal("199.99"),
        "legs": ["EWR", "IAH"][:number],
    }
    for number in range(3)
]
WEATHER = json.dumps({"title": "Weather", "type": "object", "properties": {"wind": {"type": "number"}}})
READINGS: list[dict[str, Any]] = [{"wind": 1.5}, {"wind": 2, "gust": None}, {}]


@pytest.fixture
def ours(registry_url: str) -> Iterator[Registry]:
    with Registry(registry_url) as client:
        yield client


@pytest.fixture
def theirs(registry_url: str) -> Iterator[Any]:
    from confluent_kafka.schema_registry import SchemaRegistryClient

    with SchemaRegistryClient({"url": registry_url}) as client:
        yield client


def pairs(form: str, ours: Registry, theirs: Any) -> dict[str, tuple[Any, Any]]:
    """Serializer and deserializer of each side."""
    from confluent_kafka.schema_registry import avro, json_schema

    if form == "avro":
        return {
            "ours": (AvroSerializer(ours, FLIGHT), AvroDeserializer(ours)),
            "theirs": (avro.AvroSerializer(theirs, FLIGHT), avro.AvroDeserializer(theirs)),
        }
    return {
        "ours": (JSONSerializer(WEATHER, ours), JSONDeserializer(None, schema_registry_client=ours)),
        "theirs": (
            json_schema.JSONSerializer(WEATHER, theirs),
            json_schema.JSONDeserializer(WEATHER, schema_registry_client=theirs),
        ),
    }


@pytest.mark.parametrize("form", ["avro", "json"])
@pytest.mark.parametrize("writer", ["ours", "theirs"])
@pytest.mark.parametrize("reader", ["ours", "theirs"])
def test_records_cross_through_a_broker(  # noqa: PLR0917 -- fixtures and three choices
    kafka: Kafka, ours: Registry, theirs: Any, form: str, writer: str, reader: str
) -> None:
    from confluent_kafka import DeserializingConsumer, SerializingProducer

    sides = pairs(form, ours, theirs)
    values = FLIGHTS if form == "avro" else READINGS
    topic = kafka.create_topic()
    settings = {"bootstrap.servers": kafka.bootstrap_servers}
    producer = SerializingProducer({**settings, "value.serializer": sides[writer][0]})
    for value in values:
        producer.produce(topic, key=None, value=value)
    assert producer.flush(120) == 0

    consumer = DeserializingConsumer(
        {**settings, "group.id": topic, "auto.offset.reset": "earliest", "value.deserializer": sides[reader][1]}
    )
    consumer.subscribe([topic])
    try:
        messages = [consumer.poll(WAIT_SECONDS) for _ in values]
        read = [None if message is None else message.value() for message in messages]
    finally:
        consumer.close()
    assert read == values


@pytest.mark.parametrize("form", ["avro", "json"])
def test_bytes_are_the_same_to_the_last_one(ours: Registry, theirs: Any, form: str) -> None:
    from confluent_kafka.serialization import MessageField, SerializationContext

    sides = pairs(form, ours, theirs)
    context = SerializationContext(f"same-{form}", MessageField.VALUE)
    for value in FLIGHTS if form == "avro" else READINGS:
        written = sides["ours"][0](value, context)
        assert written is not None
        if form == "avro":
            assert written == sides["theirs"][0](value, context)
        else:
            assert json.loads(written[5:]) == json.loads(sides["theirs"][0](value, context)[5:])


def test_their_schema_objects_with_references_are_taken(ours: Registry, theirs: Any) -> None:
    from confluent_kafka.schema_registry import Schema, SchemaReference
    from confluent_kafka.serialization import MessageField, SerializationContext

    theirs.register_schema("money", Schema('{"type": "fixed", "name": "shop.Money", "size": 2}', "AVRO"))
    text = '{"type": "record", "name": "Bill", "fields": [{"name": "sum", "type": "shop.Money"}]}'
    schema = Schema(text, "AVRO", [SchemaReference("shop.Money", "money", 1)])
    context = SerializationContext("bills", MessageField.VALUE)
    written = AvroSerializer(ours, schema)({"sum": b"ab"}, context)
    assert AvroDeserializer(ours)(written, context) == {"sum": b"ab"}
