"""Responses from memory are those of the database, also when another node has changed it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from itertools import count
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.types import Message, Receive, Scope, Send

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.database import open_store
from contractlog.registry.http.fastpath.change_checks import create_checks
from contractlog.registry.http.fastpath.response_memory import ResponseMemory
from contractlog.registry.http.fastpath.validated_responses import ValidatedResponses
from contractlog.registry.settings import Settings
from contractlog.registry.telemetry.recorded_metrics import Telemetry

from support.postgres import temporary_database
from support.registry import in_process

SUBJECTS = ("a", "b", ":.eu:a", ":.:c")


def schema(fields: int) -> str:
    members = [{"name": f"f{number}", "type": "int", "default": number} for number in range(fields)]
    return json.dumps({"type": "record", "name": "R", "fields": members})


REQUESTS: list[tuple[str, str, dict[str, Any] | None]] = [
    *(("GET", f"/subjects/{subject}/versions/latest", None) for subject in SUBJECTS),
    *(("GET", f"/subjects/{subject}/versions/2", None) for subject in SUBJECTS[:2]),
    *(("GET", f"/{setting}/{subject}", None) for subject in SUBJECTS[1:3] for setting in ("config", "mode")),
    *(("POST", f"/subjects/{subject}", {"schema": schema(1)}) for subject in SUBJECTS[:2]),
    ("POST", "/compatibility/subjects/a/versions", {"schema": schema(2)}),
    *(("GET", path, None) for path in ("/subjects/a/versions", "/subjects", "/contexts", "/config", "/mode")),
    ("GET", "/schemas/ids/1/versions", None),
    ("GET", "/subjects/a/versions/1/referencedby", None),
]

subjects = st.sampled_from(SUBJECTS)
writes = st.one_of(
    st.tuples(st.just("register"), subjects, st.integers(0, 3)),
    st.tuples(st.just("register again"), subjects, st.integers(0, 3)),
    st.tuples(st.just("delete"), subjects, st.booleans()),
    st.tuples(st.just("delete version"), subjects, st.integers(1, 2)),
    st.tuples(st.just("alias"), subjects, st.sampled_from(("", *SUBJECTS))),
    st.tuples(st.just("mode"), subjects, st.sampled_from(("IMPORT", "READWRITE", "READONLY"))),
    st.tuples(st.just("level"), subjects, st.sampled_from(("NONE", "FULL"))),
    st.tuples(st.just("import"), subjects, st.integers(50, 53)),
    st.tuples(st.just("refer"), subjects, subjects),
)


def write(http: httpx2.Client, change: tuple[str, str, object]) -> None:
    action, subject, value = change
    if action.startswith("register"):
        for _ in range(2 if action.endswith("again") else 1):
            http.post(f"/subjects/{subject}/versions", json={"schema": schema(int(str(value)))})
    elif action == "delete":
        http.delete(f"/subjects/{subject}", params={"permanent": str(value).lower()})
    elif action == "delete version":
        for permanent in ("false", "true"):
            http.delete(f"/subjects/{subject}/versions/{value}", params={"permanent": permanent})
    elif action == "alias":
        http.put(f"/config/{subject}", json={"alias": value})
    elif action == "level":
        http.put(f"/config/{subject}", json={"compatibility": value})
    elif action == "mode":
        http.put(f"/mode/{subject}", params={"force": "true"}, json={"mode": value})
    elif action == "refer":
        reference = {"name": "R", "subject": value, "version": 1}
        body = {"schema": '{"type": "array", "items": "R"}', "references": [reference]}
        http.post(f"/subjects/{subject}/versions", json=body)
    else:
        body = {"schema": schema(5), "id": value, "version": int(str(value)) - 49}
        http.post(f"/subjects/{subject}/versions", json=body)


_unused = count()


def assert_memory_equals_the_database(nodes: list[httpx2.Client], changes: list[tuple[str, str, object]]) -> None:
    for number, change in enumerate(changes):
        write(nodes[number % len(nodes)], change)
        for method, path, body in REQUESTS:
            unused = {"unused": str(next(_unused))}  # a request that was never sent before
            truth = nodes[0].request(method, path, params=unused, json=body)
            for node in nodes:
                responses = [node.request(method, path, json=body) for _ in range(2)]
                for response in responses:
                    assert (response.status_code, response.content) == (truth.status_code, truth.content), path
                    assert response.headers["content-type"] == truth.headers["content-type"]


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(writes, min_size=1, max_size=8))
def test_memory_equals_the_database_after_each_write(changes: list[tuple[str, str, object]]) -> None:
    with in_process(Settings(database_url="sqlite://")) as http:
        assert_memory_equals_the_database([http], changes)


@pytest.mark.integration
def test_memory_equals_the_database_after_each_write_on_either_node(postgres_server: str) -> None:
    @settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(st.lists(writes, min_size=1, max_size=8))
    def memory_equals_the_database(changes: list[tuple[str, str, object]]) -> None:
        with temporary_database(postgres_server, upgraded=True) as url, ExitStack() as stack:
            nodes = [stack.enter_context(in_process(Settings(database_url=url))) for _ in range(2)]
            assert_memory_equals_the_database(nodes, changes)

    memory_equals_the_database()


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)])
def nodes(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[httpx2.Client, httpx2.Client]]:
    """Two nodes of one registry, which are the same one on SQLite."""
    with ExitStack() as stack:
        if request.param == "sqlite":
            node = stack.enter_context(in_process(Settings(database_url=f"sqlite:///{tmp_path}/registry.db")))
            yield node, node
        else:
            url = request.getfixturevalue("upgraded_postgres_url")
            first, second = (stack.enter_context(in_process(Settings(database_url=url))) for _ in range(2))
            yield first, second


def hits(http: httpx2.Client) -> int:
    lines = http.get("/metrics").text.splitlines()
    return int(next(line for line in lines if line.startswith("contractlog_cache_hits_total")).split()[1])


def test_a_repeated_request_is_answered_from_memory_until_its_subject_changes(
    nodes: tuple[httpx2.Client, httpx2.Client],
) -> None:
    writing, reading = nodes
    writing.post("/subjects/a/versions", json={"schema": schema(0)})
    hits_after = []
    for step in (
        "latest",
        "latest",
        "other subject",
        "latest",
        "same subject",
        "latest",
        "latest",
        "settings",
        "latest",
    ):
        if step == "latest":
            assert reading.get("/subjects/a/versions/latest").json()["version"] == 1 + ("same subject" in hits_after)
        elif step == "other subject":
            writing.post("/subjects/b/versions", json={"schema": schema(1)})
        elif step == "same subject":
            writing.post("/subjects/a/versions", json={"schema": schema(2)})
            hits_after.append(step)
        else:
            writing.put("/config", json={"compatibility": "NONE"})
        hits_after.append(hits(reading))
    assert [number for number in hits_after if number != "same subject"] == [0, 1, 1, 2, 2, 2, 3, 3, 3]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/subjects/a/versions", {"schema": schema(0)}),
        ("/subjects/a", {"schema": schema(0)}),
        ("/compatibility/subjects/a/versions/latest?verbose=true", {"schema": schema(1)}),
    ],
)
def test_repeated_registrations_lookups_and_checks_are_answered_from_memory(
    nodes: tuple[httpx2.Client, httpx2.Client], path: str, body: dict[str, str]
) -> None:
    writing, reading = nodes
    writing.post("/subjects/a/versions", json={"schema": schema(0)})
    assert len({reading.post(path, json=body).content for _ in range(3)}) == 1
    assert hits(reading) == 2
    writing.delete("/subjects/a")
    reading.post(path, json=body)
    assert hits(reading) == 2


def test_a_registration_after_a_deletion_is_a_new_version(nodes: tuple[httpx2.Client, httpx2.Client]) -> None:
    writing, reading = nodes
    for version in (1, 2, 3):
        for _ in range(2):
            assert reading.post("/subjects/a/versions", json={"schema": schema(0)}).json()["version"] == version
        writing.delete("/subjects/a")


def test_readers_never_see_less_than_what_was_acknowledged(nodes: tuple[httpx2.Client, httpx2.Client]) -> None:
    writing, reading = nodes
    acknowledged, last = 0, 40
    wrong: list[tuple[int, int]] = []
    versions_read: list[int] = []

    def read(node: httpx2.Client) -> None:
        newest = 0
        while newest < last and not wrong:
            least = max(acknowledged, newest)
            response = node.get("/subjects/a/versions/latest")
            newest = response.json()["version"] if response.status_code == 200 else 0
            versions_read.append(newest)
            if newest < least:
                wrong.append((newest, least))

    readers = [threading.Thread(target=read, args=(node,)) for node in (reading, writing, reading)]
    for reader in readers:
        reader.start()
    for number in range(1, last + 1):
        assert writing.post("/subjects/a/versions", json={"schema": schema(number)}).status_code == 200
        acknowledged = number
    for reader in readers:
        reader.join()
    assert not wrong
    assert len(set(versions_read)) > 3


def test_users_get_only_what_they_may_read_whoever_asked_before(tmp_path: Path) -> None:
    """A response that depends on the permissions of the caller is not shared with callers of other permissions."""
    users = tmp_path / "users.toml"
    entries = [
        format_entry(name, HashedPassword.of(name, n=2, r=1, p=1), [], [pattern])
        for name, pattern in (("all", "*"), ("mine", "mine*"))
    ]
    users.write_text("\n".join(entries))
    with in_process(Settings(database_url="sqlite://", users_file=str(users))) as http:
        for subject in ("mine", "yours"):
            body = {"schema": schema(0)}
            assert http.post(f"/subjects/{subject}/versions", json=body, auth=("all", "all")).status_code == 200
        for _ in range(2):
            everything = http.get("/schemas/ids/1/subjects", auth=("all", "all"))
            assert everything.json() == ["mine", "yours"]
            assert http.get("/schemas/ids/1/subjects", auth=("mine", "mine")).json() == ["mine"]
            assert http.get("/subjects/yours/versions/latest", auth=("all", "all")).status_code == 200
            assert http.get("/subjects/yours/versions/latest", auth=("mine", "mine")).status_code == 403


def test_equal_requests_at_the_same_time_are_processed_once() -> None:
    """The others wait for the response to the first one, even while its client does not read it."""
    processed = 0

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal processed
        processed += 1
        await asyncio.sleep(0.05)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    async def request_all() -> int:
        with closing(open_store(Settings(database_url="sqlite://"))) as store:
            memory = ResponseMemory(10_000)
            layer = ValidatedResponses(app, memory=memory, checks=create_checks(memory, store), telemetry=Telemetry())
            unread, responses = asyncio.Event(), 0

            async def send_to_client_that_never_reads(_message: Message) -> None:
                await unread.wait()

            async def send(message: Message) -> None:
                nonlocal responses
                responses += message["type"] == "http.response.body"

            async def receive() -> Message:
                return {"type": "http.request", "body": b"", "more_body": False}

            scope = {"type": "http", "method": "GET", "path": "/subjects", "query_string": b"", "headers": []}
            first = asyncio.ensure_future(layer({**scope}, receive, send_to_client_that_never_reads))
            await asyncio.sleep(0)
            async with asyncio.timeout(60):
                await asyncio.gather(*(layer({**scope}, receive, send) for _ in range(20)))
            unread.set()
            await first
            return responses

    assert asyncio.run(request_all()) == 20
    assert processed == 1


def test_requests_that_waited_for_one_that_failed_are_processed_themselves() -> None:
    processed = 0

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal processed
        processed += 1
        await asyncio.sleep(0.01)
        status = 503 if processed == 1 else 200
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    async def request_all() -> list[int]:
        with closing(open_store(Settings(database_url="sqlite://"))) as store:
            memory = ResponseMemory(10_000)
            layer = ValidatedResponses(app, memory=memory, checks=create_checks(memory, store), telemetry=Telemetry())
            statuses: list[int] = []

            async def send(message: Message) -> None:
                if message["type"] == "http.response.start":
                    statuses.append(message["status"])

            async def receive() -> Message:
                return {"type": "http.request", "body": b"", "more_body": False}

            scope = {"type": "http", "method": "GET", "path": "/subjects", "query_string": b"", "headers": []}
            await asyncio.gather(*(layer({**scope}, receive, send) for _ in range(5)))
            return statuses

    assert asyncio.run(request_all()) == [503, 200, 200, 200, 200]


def test_requests_wait_for_an_equal_one_only_a_short_time() -> None:
    """The response to the first one never comes, or is too large to be remembered and its client does not read it."""
    unread = asyncio.Event()

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["first"] == "hangs":
            await unread.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 100_000})

    async def request_twice(kind: str) -> None:
        with closing(open_store(Settings(database_url="sqlite://"))) as store:
            memory = ResponseMemory(10_000)
            layer = ValidatedResponses(app, memory=memory, checks=create_checks(memory, store), telemetry=Telemetry())

            async def never_send(_message: Message) -> None:
                await unread.wait()

            async def send(_message: Message) -> None:
                pass

            async def receive() -> Message:
                return {"type": "http.request", "body": b"", "more_body": False}

            scope = {"type": "http", "method": "GET", "path": "/subjects", "query_string": b"", "headers": []}
            first = asyncio.ensure_future(layer({**scope, "first": kind}, receive, never_send))
            await asyncio.sleep(0)
            async with asyncio.timeout(60):
                await layer({**scope, "first": "responds"}, receive, send)
            assert not first.done()
            first.cancel()

    asyncio.run(request_twice("hangs"))
    unread = asyncio.Event()
    asyncio.run(request_twice("responds"))


def test_long_requests_are_not_remembered(tmp_path: Path) -> None:
    """They would fill the memory by the requests rather than by the responses."""
    with in_process(Settings(database_url=f"sqlite:///{tmp_path}/registry.db")) as http:
        memory = http.app.state.services.memory  # type: ignore[attr-defined]
        for number in range(20):
            http.get("/config", params={"x": f"{number}" + "y" * 10_000})
            http.get(f"/subjects/{number}" + "y" * 2_000 + "/versions")
        assert len(memory) == 0
        http.get("/config", params={"x": "y" * 1_000})
        assert memory.size > 1_600
