"""Partial migrations: contractlog's serializers with confluent-kafka's other parts."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest
from confluent_kafka import DeserializingConsumer, KafkaError, Producer, SerializingProducer
from confluent_kafka.aio import AsyncDeserializingConsumer, AsyncSerializingProducer
from confluent_kafka.error import ValueDeserializationError, ValueSerializationError
from confluent_kafka.schema_registry import (
    AsyncSchemaRegistryClient,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    header_schema_id_serializer,
)
from confluent_kafka.schema_registry.avro import AvroDeserializer as TheirDeserializer
from confluent_kafka.schema_registry.avro import AvroSerializer as TheirSerializer
from confluent_kafka.schema_registry.error import SchemaRegistryError
from confluent_kafka.serialization import MessageField, SerializationContext, SerializationError

from contractlog.clients import AssociationDraft, AsyncRegistry, Registry, Resource
from contractlog.clients.confluent import SchemaRegistryClient as OurClient
from contractlog.compatibility.schema import SchemaDraft
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.integration

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}'
WIDER = (
    '{"type": "record", "name": "Order", "fields": '
    '[{"name": "n", "type": "int"}, {"name": "note", "type": "string", "default": ""}]}'
)
LATEST = {"auto.register.schemas": False, "use.latest.version": True}


@pytest.fixture
def topic() -> str:
    return f"t-{uuid.uuid4().hex[:8]}"


@pytest.fixture(params=[SchemaRegistryClient, OurClient, "mock"])
def client(request: pytest.FixtureRequest, registry_url: str) -> Iterator[Any]:
    kind = request.param
    made = SchemaRegistryClient.new_client({"url": "mock://x"}) if kind == "mock" else kind({"url": registry_url})
    with made:
        yield made


def test_records_go_both_ways_with_one_client(client: Any, topic: str) -> None:
    context = SerializationContext(topic, MessageField.VALUE)
    ours, theirs = AvroSerializer(client, ORDER), TheirSerializer(client, ORDER)
    if isinstance(client, OurClient):
        written = ours({"n": 1}, context)
    else:
        written = theirs({"n": 1}, context)
        assert ours({"n": 1}, context) == written
        assert TheirDeserializer(client)(written, context) == {"n": 1}
    assert AvroDeserializer(client)(written, context) == {"n": 1}
    assert ours.prepare(topic).subject is not None


@pytest.mark.parametrize("client", [SchemaRegistryClient, OurClient], indirect=True)  # a mock knows no guids
def test_latest_metadata_guids_and_references_are_asked_for(client: Any, topic: str) -> None:
    client.register_schema(f"{topic}-money", Schema('{"type": "fixed", "name": "Money", "size": 2}', "AVRO"))
    reference = SchemaReference("Money", f"{topic}-money", 1)
    bill = '{"type": "record", "name": "Bill", "fields": [{"name": "sum", "type": "Money"}]}'
    context = SerializationContext(topic, MessageField.VALUE, [])
    schema = Schema(bill, "AVRO", [reference])
    conf = {"schema.id.serializer": header_schema_id_serializer}
    written = AvroSerializer(client, schema, conf=conf)({"sum": b"ab"}, context)
    assert written == b"ab"
    assert AvroDeserializer(client)(written, context) == {"sum": b"ab"}
    plain = SerializationContext(topic, MessageField.VALUE)
    latest = AvroSerializer(client, conf=LATEST)
    framed = latest({"sum": b"ab"}, plain)
    assert framed is not None
    assert framed[5:] == b"ab"
    deserializer = AvroDeserializer(client, conf={"use.latest.version": True})
    assert deserializer(framed, plain) == {"sum": b"ab"}
    assert [found.version for found in deserializer.prepare(topic, versions="all")] == [1]


def test_json_goes_both_ways(registry_url: str, topic: str) -> None:
    schema = json.dumps({"title": "Order", "type": "object", "properties": {"n": {"type": "integer"}}})
    context = SerializationContext(topic, MessageField.VALUE)
    with SchemaRegistryClient({"url": registry_url}) as client:
        written = JSONSerializer(schema, client)({"n": 1}, context)
        assert JSONDeserializer(None, schema_registry_client=client)(written, context) == {"n": 1}


def test_async_clients_are_awaited(registry_url: str, topic: str) -> None:
    context = SerializationContext(topic, MessageField.VALUE)

    async def run() -> None:
        async with AsyncSchemaRegistryClient({"url": registry_url}) as client:
            serializer = await AsyncAvroSerializer(client, Schema(ORDER, "AVRO"))
            deserializer = await AsyncAvroDeserializer(client)
            records = await asyncio.gather(*(serializer({"n": n}, context) for n in range(50)))
            read = await asyncio.gather(*(deserializer(record, context) for record in records))
            assert read == [{"n": n} for n in range(50)]

    asyncio.run(run())


def test_their_except_clauses_catch_our_errors(client: Any, topic: str) -> None:
    context = SerializationContext(topic, MessageField.VALUE)
    with pytest.raises(SchemaRegistryError) as refused:
        AvroSerializer(client, conf=LATEST)({"n": 1}, context)
    assert (refused.value.http_status_code, refused.value.error_code // 100) in {(404, 404), (404, 4)}
    serializer = AvroSerializer(client, ORDER)
    with pytest.raises(SerializationError, match="n"):
        serializer({"n": "no int"}, context)
    with pytest.raises(SerializationError):
        AvroDeserializer(client)(b"\0\0\0\0\0\2", context)


def test_producers_and_consumers_of_theirs_take_our_serializers(registry_url: str, topic: str) -> None:
    broker = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored"})
    metadata = broker.list_topics(topic, timeout=60)
    [address] = [f"{one.host}:{one.port}" for one in metadata.brokers.values()]
    with SchemaRegistryClient({"url": registry_url}) as client:
        producer = SerializingProducer(
            {"bootstrap.servers": address, "value.serializer": AvroSerializer(client, ORDER), "log_level": 0}
        )
        for n in range(3):
            producer.produce(topic, value={"n": n}, partition=0)
        with pytest.raises(ValueSerializationError, match="n"):
            producer.produce(topic, value={"n": "no int"}, partition=0)
        assert producer.flush(120) == 0
        AvroSerializer(client, WIDER).prepare(topic)
        consumer = DeserializingConsumer(
            {
                "bootstrap.servers": address,
                "group.id": topic,
                "auto.offset.reset": "earliest",
                "log_level": 0,
                "value.deserializer": AvroDeserializer(client, conf={"use.latest.version": True}),
            }
        )
        broker.produce(topic, b"not framed", partition=0)
        assert broker.flush(120) == 0
        consumer.subscribe([topic])
        read = [consumer.poll(60).value() for _ in range(3)]
        with pytest.raises(ValueDeserializationError) as caught:
            consumer.poll(60)
        consumer.close()
        producer.close()
    assert read == [{"n": n, "note": ""} for n in range(3)]
    assert caught.value.code == KafkaError._VALUE_DESERIALIZATION
    assert "NOT_FRAMED" in str(caught.value)


def test_asyncio_producers_and_consumers_of_theirs_tell_our_serializers_their_cluster(
    registry_url: str, topic: str
) -> None:
    broker = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored", "log_level": 0})
    metadata = broker.list_topics(topic, timeout=60)
    [address] = [f"{one.host}:{one.port}" for one in metadata.brokers.values()]
    with Registry(registry_url) as registry:
        for cluster, name in ((str(metadata.cluster_id), "bound"), ("another", "elsewhere")):
            registry.register(f"{topic}-{name}", SchemaDraft(ORDER))
            draft = AssociationDraft(subject=f"{topic}-{name}", lifecycle="WEAK")
            registry.bind(Resource(topic, cluster, f"{topic}-{name}"), [draft])

    async def run() -> Any:
        async with AsyncRegistry(registry_url) as client:
            serializer, deserializer = AsyncAvroSerializer(client, ORDER), AsyncAvroDeserializer(client)
            producer = await AsyncSerializingProducer(
                {"bootstrap.servers": address, "value.serializer": serializer, "log_level": 0}
            )
            consumer = await AsyncDeserializingConsumer(
                {
                    "bootstrap.servers": address,
                    "group.id": topic,
                    "auto.offset.reset": "earliest",
                    "log_level": 0,
                    "value.deserializer": deserializer,
                }
            )
            delivery = await producer.produce(topic, value={"n": 1}, partition=0)
            await producer.flush()
            await delivery
            await consumer.subscribe([topic])
            read = await consumer.poll(60)
            await consumer.close()
            await producer.close()
            subjects = (
                serializer._plans.get((topic, "value")).subject,
                deserializer._plans.get(next(iter(deserializer._plans))).subject,
            )
            await serializer.aclose()
            await deserializer.aclose()
            return read.value(), subjects

    assert asyncio.run(run()) == ({"n": 1}, (f"{topic}-bound", f"{topic}-bound"))
