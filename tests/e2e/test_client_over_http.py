"""The client over a socket returns the same as in process, with many threads and in an event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from contractlog.clients import AsyncRegistry, Registry
from contractlog.compatibility.errors import IncompatibleSchema, SubjectNotFound
from contractlog.compatibility.schema import SchemaDraft

pytestmark = pytest.mark.e2e

LONG = SchemaDraft('"long"')
STRING = SchemaDraft('"string"')


def test_a_journey_over_http(registry_url: str) -> None:
    with Registry(registry_url) as registry:
        registered = registry.register("http/a ü", LONG)
        assert registry.schema_by_id(registered.schema_id).text == '"long"'
        assert registry.versions("http/a ü") == [1]
        with pytest.raises(IncompatibleSchema):
            registry.register("http/a ü", STRING)
        with pytest.raises(SubjectNotFound):
            registry.versions("http/nobody")


def test_threads_share_a_client(registry_url: str) -> None:
    with Registry(registry_url) as registry, ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: registry.register("shared", LONG), range(40)))
    assert len({(schema.schema_id, schema.version) for schema in found}) == 1


def test_an_event_loop_asks_many_things_at_once(registry_url: str) -> None:
    async def ask() -> set[int]:
        async with AsyncRegistry(registry_url) as registry:
            return {
                schema.schema_id
                for schema in await asyncio.gather(*(registry.register("loop", LONG) for _ in range(40)))
            }

    assert len(asyncio.run(ask())) == 1
