"""Caching of the client with confluent-kafka's signatures, by counted requests to the service."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Exchange, Registry, calls
from contractlog.clients.confluent import (
    AsyncSchemaRegistryClient,
    Metadata,
    MetadataProperties,
    Schema,
    SchemaRegistryClient,
    SchemaRegistryError,
)
from contractlog.clients.confluent.errors import as_confluent_error
from contractlog.clients.response import Response
from contractlog.clients.retry_and_failover import Retries, send_with_retries
from contractlog.compatibility.errors import RegistryError
from contractlog.registry.testing import Registries


def order(*names: str, **properties: str) -> Schema:
    fields = [{"name": name, "type": "long", "default": 0} for name in names]
    text = json.dumps({"type": "record", "name": "Order", "fields": fields})
    return Schema(text, metadata=Metadata(None, MetadataProperties(properties), None) if properties else None)


class Counting:
    """Counts requests by method and route."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def exchanged(self, exchange: Exchange) -> None:
        self.asked[f"{exchange.method} {exchange.route}"] += 1

    def looked_up(self, cache: str, *, hit: bool) -> None:
        """The registry's own memory is not asked."""
        raise AssertionError


class World:
    """A client that is counted, with the keys of a configuration, and another one that writes behind its back."""

    def __init__(self, app: Any, **keys: Any) -> None:
        self.watch = Counting()
        self.client = SchemaRegistryClient({"url": "http://in-process"} | keys)
        self.client._registry.close()
        self.client._registry = Registry(app=app, watch=self.watch)
        self.other = SchemaRegistryClient.over(Registry(app=app))

    @property
    def asked(self) -> Counter[str]:
        return self.watch.asked

    def close(self) -> None:
        self.client.close()
        self.other.close()


@pytest.fixture
def app(registries: Registries) -> Iterator[Any]:
    made = registries.make({})
    yield made
    made.state.close()


@pytest.fixture
def world(app: Any) -> Iterator[World]:
    made = World(app)
    yield made
    made.close()


REGISTER, BY_ID, VERSION = "POST /subjects/{}/versions", "GET /schemas/ids/{}", "GET /subjects/{}/versions/{}"


def test_cached_schemas_are_not_requested_again(world: World) -> None:
    first = world.client.register_schema_full_response("s", order("a"))
    for _ in range(3):
        assert world.client.register_schema_full_response("s", order("a")) == first
        assert world.client.get_schema(1).schema_str == first.schema.schema_str
        assert world.client.get_schema_by_guid(str(first.guid)).schema_str == first.schema.schema_str
        assert world.client.lookup_schema("s", order("a")).version == 1
        assert world.client.get_version("s", 1).schema_id == 1
        assert world.client.get_latest_version("s").version == 1
    assert set(world.asked.values()) == {1, 2}, "latest and version 1 are two requests of one route"
    assert (world.asked[VERSION], world.asked[REGISTER]) == (2, 1)
    world.client.get_version("s", "latest")
    world.client.get_version("s", "latest")
    assert world.asked[VERSION] == 4, "get_version(…, 'latest') always asks"


def test_each_format_and_each_subject_is_remembered_apart(world: World) -> None:
    world.other.register_schema("s", order("a"))
    plain, resolved = world.client.get_schema(1), world.client.get_schema(1, fmt="resolved")
    world.client.get_schema(1, "s")
    assert world.asked[BY_ID] == 3
    assert (world.client.get_schema(1), world.client.get_schema(1, None, "resolved")) == (plain, resolved)
    assert world.asked[BY_ID] == 3


def test_writes_of_this_client_are_seen_at_once(world: World) -> None:
    world.client.register_schema("s", order("a", owner="x"))
    assert world.client.get_latest_version("s").version == 1
    assert world.client.get_latest_with_metadata("s", {"owner": "x"}).version == 1
    world.client.register_schema("s", order("a", "b", owner="x"))
    assert world.client.get_latest_version("s").version == 2
    assert world.client.get_latest_with_metadata("s", {"owner": "x"}).version == 2
    world.client.delete_version("s", 2)
    assert world.client.get_latest_version("s").version == 1
    with pytest.raises(SchemaRegistryError):
        world.client.get_version("s", 2)
    world.client.delete_subject("s")
    with pytest.raises(SchemaRegistryError):
        world.client.get_latest_version("s")
    assert world.client.register_schema_full_response("s", order("a", owner="x")).version == 3
    world.client.delete_subject("s")
    world.client.delete_subject("s", permanent=True)
    with pytest.raises(SchemaRegistryError):
        world.client.get_schema(1)


def test_the_newest_version_is_believed_for_its_time(app: Any) -> None:
    world = World(app, **{"cache.latest.ttl.sec": 0.05})
    world.other.register_schema("s", order("a"))
    assert world.client.get_latest_version("s").version == 1
    world.other.register_schema("s", order("a", "b"))
    time.sleep(0.06)
    assert world.client.get_latest_version("s").version == 2
    world.close()


def test_the_cache_is_bounded_by_the_capacity(app: Any) -> None:
    world = World(app, **{"cache.capacity": 2})
    for number in range(4):
        world.other.register_schema(f"s{number}", order(f"f{number}"))
    for number in (1, 2, 3, 4, 4, 3, 1):
        world.client.get_schema(number)
    assert world.asked[BY_ID] == 5, "1 was pushed out by 3"
    world.close()


def test_caches_are_cleared_on_request(world: World) -> None:
    world.other.register_schema("s", order("a"))
    world.client.get_schema(1)
    world.client.get_latest_version("s")
    world.client.clear_latest_caches()
    world.client.get_schema(1)
    world.client.get_latest_version("s")
    assert (world.asked[BY_ID], world.asked[VERSION]) == (1, 2)
    world.client.clear_caches()
    world.client.get_schema(1)
    assert world.asked[BY_ID] == 2


def test_the_asynchronous_client_remembers_alike(app: Any) -> None:
    async def journey() -> Counter[str]:
        watch = Counting()
        async with AsyncSchemaRegistryClient.over(AsyncRegistry(app=app, watch=watch)) as client:
            await client.register_schema("s", order("a"))
            for _ in range(3):
                assert await client.register_schema("s", order("a")) == 1
                assert await client.get_schema(1)
                assert (await client.get_latest_version("s")).version == 1
            await client.register_schema("s", order("a", "b"))
            assert (await client.get_latest_version("s")).version == 2
            client.clear_caches()
            with pytest.raises(SchemaRegistryError):
                await client.get_versions("nowhere")
        return watch.asked

    asked = asyncio.run(journey())
    assert (asked[REGISTER], asked[BY_ID], asked[VERSION]) == (2, 1, 2)


def test_caches_are_cleared_with_and_without_await() -> None:
    async def clear() -> None:
        async with AsyncSchemaRegistryClient({"url": "http://127.0.0.1:1"}) as client:
            client.clear_caches()
            client.clear_latest_caches()
            await client.clear_caches()
            await client.clear_latest_caches()

    asyncio.run(clear())


def test_an_unknown_key_names_the_nearest_one() -> None:
    with pytest.raises(ValueError, match=r"Unrecognized properties: ssl.ca.locaton \(did you mean ssl.ca.location\?\)"):
        SchemaRegistryClient({"url": "http://127.0.0.1:1", "ssl.ca.locaton": "x"})


@pytest.mark.parametrize("status", [401, 403, 409, 413])
@pytest.mark.parametrize("body", [b"", b"no", b'{"message": "no"}'])
def test_an_answer_without_a_code_has_the_code_minus_one(status: int, body: bytes) -> None:
    steps = send_with_retries(calls.subjects(), ("http://one",), Retries(attempts=1))
    next(steps)
    with pytest.raises(RegistryError) as caught:
        steps.send(Response(status, body))
    error: Any = as_confluent_error(caught.value)
    assert isinstance(error, SchemaRegistryError)
    assert (error.http_status_code, error.error_code) == (status, -1)
