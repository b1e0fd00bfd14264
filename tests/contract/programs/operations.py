"""A user's program that calls methods of both clients, whose signatures mypy must know."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, assert_type

from contractlog.clients import AsyncRegistry, Config, Registry
from contractlog.clients.confluent import AsyncSchemaRegistryClient, RegisteredSchema, Schema, SchemaRegistryClient
from contractlog.compatibility import schema
from contractlog.compatibility.level import Level


def call(registry: Registry, draft: schema.SchemaDraft) -> None:
    """Call methods for single requests, for cached lookups, and for lists."""
    assert_type(registry.register("s", draft, normalize=True), schema.RegisteredSchema)
    assert_type(registry.set_level(Level.FULL, subject="s"), Level)
    assert_type(registry.config(), Config)
    assert_type(registry.latest("s"), schema.RegisteredSchema)
    assert_type(registry.schema_by_id(1, subject="s").text, str)
    assert_type(registry.referenced(draft), Mapping[str, str])
    assert_type(registry.each_subject(prefix="s"), Iterator[str])
    assert_type(registry.changes(1, limit=5), Mapping[str, Any])
    assert_type(registry.with_context(".eu").subjects(limit=1), list[str])
    registry.version("s")  # type: ignore[call-arg]
    registry.version("s", "newest")  # type: ignore[arg-type]
    registry.latest("s", deleted=True)  # type: ignore[call-arg]
    registry.each_subject(size=1)  # type: ignore[call-arg]


async def call_asynchronously(registry: AsyncRegistry, draft: schema.SchemaDraft) -> None:
    """Do the same with coroutines."""
    assert_type(await registry.register("s", draft, normalize=True), schema.RegisteredSchema)
    assert_type(await registry.latest("s"), schema.RegisteredSchema)
    assert_type(registry.each_schema(page=5), AsyncIterator[schema.RegisteredSchema])
    async for name in registry.each_subject():
        assert_type(name, str)
    await registry.version("s")  # type: ignore[call-arg]
    await registry.latest(5)  # type: ignore[arg-type]


def call_as_before(client: SchemaRegistryClient) -> None:
    """Call methods under confluent-kafka's names."""
    assert_type(client.register_schema("s", Schema("{}"), normalize_schemas=True), int)
    assert_type(client.get_latest_version("s"), RegisteredSchema)
    assert_type(client.get_versions("s", deleted=True), list[int])
    client.get_schema("one")  # type: ignore[arg-type]


async def call_as_before_asynchronously(client: AsyncSchemaRegistryClient) -> None:
    """Do the same with coroutines."""
    assert_type(await client.register_schema("s", Schema("{}")), int)
    assert_type(await client.get_latest_version("s"), RegisteredSchema)
    await client.get_schema("one")  # type: ignore[arg-type]
    await client.clear_caches()
