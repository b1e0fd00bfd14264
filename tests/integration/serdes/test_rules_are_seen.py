"""Rules of a registry that cannot be executed stop serializers, even with cached or old responses."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import TYPE_CHECKING, Any

import confluent_kafka.schema_registry as theirs
import pytest

import contractlog.clients.confluent as ours
from contractlog.clients import AsyncRegistry, Registry
from contractlog.compatibility.data_contract import Rule, RuleSet
from contractlog.compatibility.schema import SchemaDraft, SchemaType
from contractlog.serdes import SerializationContext
from contractlog.serdes.avro import AsyncAvroDeserializer, AsyncAvroSerializer, AvroDeserializer, AvroSerializer
from contractlog.serdes.errors import RuleNotRun
from contractlog.serdes.json_schema import (
    AsyncJSONDeserializer,
    AsyncJSONSerializer,
    JSONDeserializer,
    JSONSerializer,
)

from support.registry import serve_in_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.integration

ENCRYPT = RuleSet(encoding_rules=(Rule("encrypt", kind="TRANSFORM", type="SEAL", mode="WRITEREAD"),))
UPGRADE = RuleSet(migration_rules=(Rule("rename", kind="TRANSFORM", type="SEAL", mode="UPGRADE", expr="$"),))
AVRO = '{"type": "record", "name": "Order", "fields": [{"name": "n", "type": "int"}]}'
JSON = json.dumps({"title": "Order", "type": "object", "properties": {"n": {"type": "integer"}}})
FORMATS = {
    "AVRO": (AVRO, AvroSerializer, AvroDeserializer, AsyncAvroSerializer, AsyncAvroDeserializer),
    "JSON": (JSON, JSONSerializer, JSONDeserializer, AsyncJSONSerializer, AsyncJSONDeserializer),
}


@pytest.fixture(scope="module", params=["8", "7.6", "5.5"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A registry that answers as some release does."""
    file = tmp_path_factory.mktemp("registry") / "registry.db"
    with serve_in_thread(f"sqlite:///{file}", CONTRACTLOG_RESPONSE_PROFILE=request.param) as address:
        yield address


@pytest.fixture(params=["Registry", "theirs", "ours"])
def kind(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=["plain", "context"])
def place(request: pytest.FixtureRequest) -> tuple[SerializationContext, str, dict[str, Any]]:
    """A topic, the subject of its values, and how serializers name it."""
    topic = f"t-{uuid.uuid4().hex[:8]}"
    subject = f"{topic}-value" if request.param == "plain" else f":.{topic}:orders-value"
    return SerializationContext(topic, "value", []), subject, {"subject.name.strategy": lambda _ctx, _name: subject}


def order(size: int) -> str:
    fields = [{"name": f"f{number}", "type": "int", "default": 0} for number in range(size)]
    return json.dumps({"type": "record", "name": "Order", "fields": fields})


def blocking(kind: str, url: str) -> Any:
    module = ours if kind == "ours" else theirs
    return Registry(url) if kind == "Registry" else module.SchemaRegistryClient({"url": url})


def awaitable(kind: str, url: str) -> Any:
    module = ours if kind == "ours" else theirs
    return AsyncRegistry(url) if kind == "Registry" else module.AsyncSchemaRegistryClient({"url": url})


def arguments(name: str, client: Any) -> tuple[Any, Any]:
    """Return schema and client in the order in which serializers of a format take them."""
    return (JSON, client) if name == "JSON" else (client, AVRO)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("register", [True, False])
def test_an_encrypting_rule_stops_what_would_be_written(
    url: str,
    kind: str,
    name: str,
    place: Any,
    register: bool,  # noqa: FBT001
) -> None:
    context, subject, naming = place
    text, writing, _, async_writing, _ = FORMATS[name]
    with Registry(url) as registry:
        registry.register(subject, SchemaDraft(text, SchemaType(name), rule_set=ENCRYPT))
    conf = naming | {"auto.register.schemas": register}
    with blocking(kind, url) as client:
        for _ in range(2):  # the second finds the memory of the client filled by the first
            serializer = writing(*arguments(name, client), conf=conf)
            with pytest.raises(RuleNotRun, match="encrypt"):
                serializer({"n": 1}, context)
            with pytest.raises(RuleNotRun, match="encrypt"):
                serializer.prepare(context.topic)

    async def run() -> None:
        async with awaitable(kind, url) as client:
            for _ in range(2):
                serializer = await async_writing(*arguments(name, client), conf=conf)
                with pytest.raises(RuleNotRun, match="encrypt"):
                    await serializer({"n": 1}, context)
                with pytest.raises(RuleNotRun, match="encrypt"):
                    await serializer.prepare(context.topic)

    asyncio.run(run())


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("head", ["prefix", "guid"])
def test_cached_lookups_hide_no_rule_from_reading(url: str, kind: str, name: str, place: Any, head: str) -> None:
    context, subject, naming = place
    text, writing, reading, _, async_reading = FORMATS[name]
    with Registry(url) as registry:
        held = registry.register(subject, SchemaDraft(text, SchemaType(name), rule_set=ENCRYPT))
    if head == "guid" and not held.guid:
        return  # older releases know none
    record = b"\0" + int(held.schema_id).to_bytes(4) + b"\2"
    if head == "guid":
        record = b"\2"
        context.headers.append(("__value_schema_id", b"\1" + uuid.UUID(held.guid).bytes))

    def made(kind: Any, client: Any) -> Any:
        return kind(*((None,) if name == "JSON" else ()), conf=naming, schema_registry_client=client)

    with blocking(kind, url) as client:
        for conf in ({"auto.register.schemas": True}, {"auto.register.schemas": False}):
            with pytest.raises(RuleNotRun):
                writing(*arguments(name, client), conf=naming | conf)({"n": 1}, context)
        with pytest.raises(RuleNotRun, match="encrypt"):
            made(reading, client)(record, context)

    async def run() -> None:
        async with awaitable(kind, url) as client:
            if kind == "Registry":
                await client.lookup(subject, SchemaDraft(text, SchemaType(name)))
            else:
                module = ours if kind == "ours" else theirs
                await client.lookup_schema(subject, module.Schema(text, name))
            with pytest.raises(RuleNotRun, match="encrypt"):
                await made(async_reading, client)(record, context)

    asyncio.run(run())


def test_cached_lookups_hide_no_migration_rule(url: str, kind: str, place: Any) -> None:
    context, subject, naming = place
    texts = [order(size) for size in (1, 2, 3)]
    with Registry(url) as registry, blocking(kind, url) as client:
        first = registry.register(subject, SchemaDraft(texts[0]))
        registry.register(subject, SchemaDraft(texts[1], rule_set=UPGRADE))
        if kind == "Registry":
            client.lookup(subject, SchemaDraft(texts[1]))
        else:
            client.lookup_schema(subject, (ours if kind == "ours" else theirs).Schema(texts[1], "AVRO"))
        registry.register(subject, SchemaDraft(texts[2], rule_set=RuleSet()))
        deserializer = AvroDeserializer(client, conf=naming | {"use.latest.version": True})
        with pytest.raises(RuleNotRun, match="rename"):
            deserializer(b"\0" + int(first.schema_id).to_bytes(4) + b"\2", context)


@pytest.mark.parametrize("kind", ["theirs", "ours"])
def test_without_rules_a_schema_costs_one_question_more_and_a_record_none(url: str, kind: str, place: Any) -> None:
    context, subject, naming = place
    with Registry(url) as registry:
        held = registry.register(subject, SchemaDraft(AVRO))
    asked = []
    with blocking(kind, url) as client:
        ask = client._rest_client.send_request if kind == "theirs" else client._registry._transport.send

        def counted(*args: Any, **kwargs: Any) -> Any:
            asked.append(args)
            return ask(*args, **kwargs)

        if kind == "theirs":
            client._rest_client.send_request = counted
        else:
            client._registry._transport.send = counted
        serializer = AvroSerializer(client, AVRO, conf=naming | {"auto.register.schemas": False})
        for n in range(5):
            assert serializer({"n": n}, context) == b"\0" + int(held.schema_id).to_bytes(4) + bytes([2 * n])
    assert len(asked) == 2
