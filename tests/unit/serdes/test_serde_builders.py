"""Builders have confluent-kafka's signatures, and own the clients that they create."""

from __future__ import annotations

import asyncio
import inspect
import json
from typing import Any
from uuid import uuid4

import confluent_kafka.schema_registry.avro as their_avro
import confluent_kafka.schema_registry.json_schema as their_json
import pytest
from confluent_kafka import DeserializingConsumer, SerializingProducer
from confluent_kafka.aio import AsyncSerializingProducer

from contractlog.clients.confluent import AsyncSchemaRegistryClient, Schema, SchemaRegistryClient
from contractlog.serdes import MessageField, SerializationContext, avro, json_schema

ORDER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]})
JSON_ORDER = json.dumps({"title": "Order", "type": "object", "properties": {"n": {"type": "integer"}}})
VALUE = SerializationContext("orders", MessageField.VALUE)
PAIRS = [
    (ours, theirs, name)
    for ours, theirs in ((avro, their_avro), (json_schema, their_json))
    for name in ours.__all__
    if name.endswith("Builder")
]
KAFKA = {"bootstrap.servers": "127.0.0.1:9", "log_level": 0}


@pytest.fixture
def conf() -> dict[str, Any]:
    """Configure a registry that no other test has."""
    return {"url": f"mock://{uuid4()}"}


@pytest.fixture
def closed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect the clients that are closed."""
    seen: list[Any] = []
    wait, awaited = SchemaRegistryClient.close, AsyncSchemaRegistryClient.aclose

    def close(self: SchemaRegistryClient) -> None:
        seen.append(self)
        wait(self)

    async def aclose(self: AsyncSchemaRegistryClient) -> None:
        seen.append(self)
        await awaited(self)

    monkeypatch.setattr(SchemaRegistryClient, "close", close)
    monkeypatch.setattr(AsyncSchemaRegistryClient, "aclose", aclose)
    return seen


def arguments(function: Any) -> list[tuple[str, Any]]:
    return [(one.name, one.default) for one in inspect.signature(function).parameters.values()]


def test_there_are_eight() -> None:
    assert len(PAIRS) == 8


@pytest.mark.parametrize(("ours", "theirs", "name"), PAIRS, ids=lambda value: value if isinstance(value, str) else "")
def test_arguments_and_setters_are_theirs(ours: Any, theirs: Any, name: str) -> None:
    our, their = getattr(ours, name), getattr(theirs, name)
    methods = {method for method in dir(their) if not method.startswith("_")}
    assert methods == {method for method in dir(our) if not method.startswith("_")} - {"serde"}
    for method in {*methods, "__init__"}:
        assert arguments(getattr(our, method)) == arguments(getattr(their, method)), method
    builder = our()
    for method in methods - {"build"}:
        assert getattr(builder, method)(None) is builder


@pytest.mark.parametrize(("package", "prefix", "text"), [(avro, "Avro", ORDER), (json_schema, "JSON", JSON_ORDER)])
def test_built_serdes_write_and_read(
    package: Any, prefix: str, text: str, conf: dict[str, Any], closed: list[Any]
) -> None:
    schema = Schema(text, prefix.upper())
    writing = getattr(package, f"{prefix}SerializerBuilder")(conf, schema=schema, to_dict=lambda n, _: {"n": n})
    reading = getattr(package, f"{prefix}DeserializerBuilder")(conf, from_dict=lambda value, _: value["n"])
    serializer, rest = writing.build(KAFKA, is_key=False)
    deserializer, _ = reading.build(KAFKA, is_key=False)
    assert rest == KAFKA
    assert rest is not KAFKA
    assert type(serializer) is getattr(package, f"{prefix}Serializer")
    assert deserializer(serializer(7, VALUE), VALUE) == 7
    assert not closed
    for serde in (serializer, deserializer):
        serde.close()
        serde.close()
    assert len(closed) == 2


@pytest.mark.parametrize(("package", "prefix", "text"), [(avro, "Avro", ORDER), (json_schema, "JSON", JSON_ORDER)])
def test_built_asynchronous_serdes_write_and_read(
    package: Any, prefix: str, text: str, conf: dict[str, Any], closed: list[Any]
) -> None:
    started: list[Any] = []

    async def init(serde: Any) -> None:
        await asyncio.sleep(0)
        started.append(serde)

    async def go() -> Any:
        writing = getattr(package, f"Async{prefix}SerializerBuilder")(conf, schema=text, serializer_init=init)
        reading = getattr(package, f"Async{prefix}DeserializerBuilder")(conf, deserializer_init=started.append)
        serializer, rest = await writing.build(KAFKA, is_key=False)
        deserializer, _ = await reading.build(KAFKA, is_key=False)
        assert rest == KAFKA
        assert started == [serializer, deserializer]
        value = await deserializer(await serializer({"n": 7}, VALUE), VALUE)
        for serde in (serializer, deserializer):
            await serde.aclose()
            await serde.close()
        return value

    assert asyncio.run(go()) == {"n": 7}
    assert len(closed) == 2


def test_arguments_of_one_format_arrive(conf: dict[str, Any]) -> None:
    union = json.dumps(["null", {"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}])
    serializer, _ = avro.AvroSerializerBuilder(conf).set_schema(union).build({}, is_key=False)
    reading = avro.AvroDeserializerBuilder(conf).set_return_record_name(True)
    deserializer, _ = reading.build({}, is_key=False)
    assert deserializer(serializer({"n": 1}, VALUE), VALUE) == ("Order", {"n": 1})
    encoding = json_schema.JSONSerializerBuilder(conf, schema=JSON_ORDER).set_json_encode(lambda _: '{"n":2}')
    encoder, _ = encoding.set_serializer_config({"subject.name.strategy.type": "RECORD"}).build({}, is_key=False)
    assert encoder({"n": 1}, VALUE).endswith(b'{"n":2}')
    decoder, _ = json_schema.JSONDeserializerBuilder(conf).set_json_decode(lambda _: {"n": 3}).build({}, is_key=False)
    assert decoder(encoder({"n": 1}, VALUE), VALUE) == {"n": 3}
    for serde in (serializer, deserializer, encoder, decoder):
        serde.close()


def test_a_client_that_is_given_stays_the_caller_s(conf: dict[str, Any], closed: list[Any]) -> None:
    with SchemaRegistryClient(conf) as client:
        serializer, _ = avro.AvroSerializerBuilder(schema_registry_client=client, schema=ORDER).build({}, is_key=True)
        serializer.close()
        assert not closed
        assert serializer({"n": 1}, VALUE)


def test_a_client_and_a_configuration_exclude_each_other(conf: dict[str, Any]) -> None:
    with SchemaRegistryClient(conf) as client, pytest.raises(ValueError, match="one or the other"):
        avro.AvroSerializerBuilder(conf, client, ORDER).build({}, is_key=False)


def test_the_client_is_closed_when_building_fails(conf: dict[str, Any], closed: list[Any]) -> None:
    def fails(_: Any) -> None:
        raise LookupError("mine")

    with pytest.raises(ValueError, match=r"no\.such\.key"):
        avro.AvroSerializerBuilder(conf, schema=ORDER, serializer_config={"no.such.key": 1}).build({}, is_key=False)
    assert len(closed) == 1
    with pytest.raises(LookupError, match="mine"):
        avro.AvroSerializerBuilder(conf, schema=ORDER, serializer_init=fails).build({}, is_key=False)
    assert len(closed) == 2
    with pytest.raises(ValueError, match=r"no\.such\.key"):
        asyncio.run(
            avro.AsyncAvroDeserializerBuilder(conf, deserializer_config={"no.such.key": 1}).build({}, is_key=False)
        )
    with pytest.raises(LookupError, match="mine"):
        asyncio.run(avro.AsyncAvroSerializerBuilder(conf, schema=ORDER, serializer_init=fails).build({}, is_key=False))
    assert len(closed) == 4


def test_producers_and_consumers_of_confluent_kafka_take_them(conf: dict[str, Any], closed: list[Any]) -> None:
    built: list[Any] = []
    writing = avro.AvroSerializerBuilder(conf, schema=ORDER, serializer_init=built.append)
    producer = SerializingProducer(KAFKA | {"value.serializer.builder": writing})
    producer.close()
    reading = json_schema.JSONDeserializerBuilder(conf, deserializer_init=built.append)
    consumer = DeserializingConsumer(KAFKA | {"group.id": "g", "key.deserializer.builder": reading})
    consumer.close()
    assert [type(one).__name__ for one in built] == ["AvroSerializer", "JSONDeserializer"]
    assert len(closed) == 2


def test_asynchronous_producers_of_confluent_kafka_take_them(conf: dict[str, Any], closed: list[Any]) -> None:
    built: list[Any] = []

    async def go() -> None:
        writing = avro.AsyncAvroSerializerBuilder(conf, schema=ORDER, serializer_init=built.append)
        producer = await AsyncSerializingProducer(KAFKA | {"value.serializer.builder": writing})
        await producer.close()

    asyncio.run(go())
    assert [type(one).__name__ for one in built] == ["AsyncAvroSerializer"]
    assert len(closed) == 1
