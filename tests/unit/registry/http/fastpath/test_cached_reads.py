"""Cached reads by id work while the database does not respond."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest
from starlette.types import Message, Receive, Scope, Send

from contractlog.registry.database import open_store
from contractlog.registry.features.fetch_counts.counter import FetchCounter
from contractlog.registry.http.fastpath.cache_by_schema_id import ByteCache
from contractlog.registry.http.fastpath.cached_reads import STALE, CachedSchemaById
from contractlog.registry.settings import Settings
from contractlog.registry.telemetry.recorded_metrics import Telemetry

SCOPE: Scope = {"type": "http", "method": "GET", "path": "/schemas/ids/1", "query_string": b"", "headers": []}


async def never_answer(_scope: Scope, _receive: Receive, _send: Send) -> None:
    await asyncio.Event().wait()


async def never_receive() -> Message:
    await asyncio.Event().wait()
    raise AssertionError


async def responses(layer: CachedSchemaById) -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async with asyncio.timeout(60):
        await layer({**SCOPE}, never_receive, send)
    return sent


@pytest.mark.parametrize(("silence", "asks"), [(10.0, False), (0.2, True)])
def test_an_old_answer_waits_for_the_database_only_until_that_is_known_to_be_silent(
    silence: float, *, asks: bool
) -> None:
    asked = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        asked.append(scope["path"])
        await never_answer(scope, receive, send)

    now = [0.0]
    cache = ByteCache(10_000, seconds=5, clock=lambda: now[0])
    cache.put((".", 1), b"old", start=cache.start_read())
    now[0] = 6.0
    with closing(open_store(Settings(database_url="sqlite://"))) as store:
        counts = FetchCounter(store)
        layer = CachedSchemaById(app, cache=cache, telemetry=Telemetry(), counts=counts, silence=lambda: silence)
        start, body = asyncio.run(responses(layer))
    assert (start["status"], body["body"]) == (200, b"old")
    assert STALE in start["headers"]
    assert bool(asked) is asks
