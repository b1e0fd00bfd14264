"""A user's program for mypy's strict mode; each ``type: ignore`` is a mistake that mypy must detect."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, assert_type

from contractlog.clients import AsyncRegistry, Registry
from contractlog.clients.confluent import Schema, SchemaRegistryClient
from contractlog.compatibility.errors import IncompatibleSchema, SubjectNotFound
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft
from contractlog.serdes import MessageField, SerializationContext
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import DecodeError, EncodeError, SerializationError
from contractlog.serdes.json_schema import JSONDeserializer, JSONSerializer

ORDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'


@dataclass
class Order:
    """What the program works with."""

    id: int


def to_dict(order: Order, _: object) -> dict[str, Any]:
    """Take an order apart."""
    return asdict(order)


def from_dict(members: Mapping[str, Any], _: object) -> Order:
    """Put an order together."""
    return Order(**members)


def register(url: str) -> int:
    """Register a schema and say what came of it."""
    with Registry(url) as registry:
        try:
            registered = registry.register("orders-value", SchemaDraft(ORDER))
        except IncompatibleSchema as error:
            assert_type(str(error), str)
            return 1
        assert_type(registered, RegisteredSchema)
        assert_type(registry.level("orders-value"), Level)
        assert_type(registry.versions("orders-value"), list[int])
        registry.register("orders-value", 5)  # type: ignore[arg-type]
        try:
            registry.latest("nothing")
        except SubjectNotFound as missing:
            assert_type(missing.code, int)
        return int(registered.schema_id)


def round_trip(registry: Registry) -> Order | None:
    """Write an order and read it again."""
    context = SerializationContext("orders", MessageField.VALUE)
    serializer = AvroSerializer(registry, ORDER, to_dict, {"normalize.schemas": True})
    assert_type(serializer.prepare("orders"), RegisteredSchema)
    try:
        record = serializer(Order(7), context)
    except EncodeError as error:
        assert_type(error.where, str)
        return None
    assert_type(record, bytes | None)
    record.hex()  # type: ignore[union-attr]
    AvroSerializer(registry, ORDER, to_dict, lenient="yes")  # type: ignore[arg-type]
    AvroSerializer(registry, ORDER, auto_register=False)  # type: ignore[call-arg]
    deserializer = AvroDeserializer(registry, None, from_dict, use_latest_version=True)
    try:
        order: Order = deserializer(record, context)
    except DecodeError as error:
        assert_type(error.schema_id, int | None)
        return None
    deserializer("text", context)  # type: ignore[arg-type]
    return order


async def round_trips(url: str) -> None:
    """Do the same beside other tasks."""
    context = SerializationContext("orders", MessageField.VALUE)
    async with AsyncRegistry(url) as registry:
        assert_type(await registry.subjects(), list[str])
        serializer = await AsyncAvroSerializer(registry, ORDER)
        record = await serializer({"id": 1}, context)
        assert_type(record, bytes | None)
        await AsyncAvroDeserializer(registry)(record, context)


def documents(registry: Registry) -> Any:
    """Write and read JSON."""
    context = SerializationContext("weather", MessageField.KEY)
    record = JSONSerializer('{"type": "object"}', registry)({}, context)
    try:
        return JSONDeserializer(None, schema_registry_client=registry)(record, context)
    except SerializationError as error:
        return error.topic


def as_before(url: str) -> int:
    """Keep the reference's names."""
    client = SchemaRegistryClient({"url": url})
    assert_type(client.get_subjects(), list[str])
    client.register_schema("orders-value", ORDER)  # type: ignore[arg-type]
    return client.register_schema("orders-value", Schema(ORDER, "AVRO"))


if __name__ == "__main__":
    asyncio.run(round_trips("http://localhost:8081"))
