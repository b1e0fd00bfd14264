"""Large lists of schemas are exact, are read in pieces as the client reads them, and count as work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pytest
from starlette.types import Message

from contractlog.registry.execution import work_limits
from contractlog.registry.execution.large_responses import PIECE_BYTES
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.settings import Settings

from support.deadlines import WAIT_SECONDS
from support.registry import in_process

if TYPE_CHECKING:
    import httpx2

COUNT: Final = 7
LENGTH: Final = 400_000  #: of each schema, so that a piece has two of them


def register(http: httpx2.Client, subject: str, length: int = LENGTH, **members: Any) -> None:
    schema = {"type": "record", "name": "R", "doc": "d" * length, "fields": []}
    body = {"schema": json.dumps(schema)} | members
    http.post(f"/subjects/{subject}/versions", json=body).raise_for_status()


@pytest.fixture
def filled(http: httpx2.Client) -> httpx2.Client:
    for number in range(COUNT):
        register(http, f"s{number}", metadata={"properties": {"number": str(number)}})
    http.post("/associations", json={
        "resourceName": "orders", "resourceNamespace": "lkc-1", "resourceId": "r1",
        "associations": [{"subject": "s1"}],
    }).raise_for_status()  # fmt: skip
    http.delete("/subjects/s2").raise_for_status()
    http.put("/config/sa", json={"alias": "s3"}).raise_for_status()
    return http


def limits(http: httpx2.Client) -> Any:
    threads: ThreadPools = http.app.state.services.threads  # type: ignore[attr-defined]
    return threads.responses


@dataclass
class Reader:
    """A client of the app that reads the pieces of a body only when it is told to."""

    http: httpx2.Client
    path: str = "/schemas"
    query: str = ""
    pieces: list[bytes] = field(default_factory=list)
    permitted: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    began: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        sent = False

        async def receive() -> Message:
            nonlocal sent
            if not sent:
                sent = True
                return {"type": "http.request", "body": b""}
            await self.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.body":
                self.pieces.append(message.get("body", b""))
                self.began.set()
                if message.get("more_body"):
                    await self.permitted.acquire()

        scope = {
            "type": "http", "http_version": "1.1", "method": "GET", "path": self.path, "raw_path": self.path.encode(),
            "query_string": self.query.encode(), "headers": [(b"host", b"localhost")], "scheme": "http",
            "server": ("localhost", 80), "client": ("127.0.0.1", 1), "root_path": "",
        }  # fmt: skip
        await self.http.app(scope, receive, send)  # type: ignore[attr-defined]

    def read_all(self) -> None:
        """Read without pauses from now on."""
        for _ in range(100):
            self.permitted.release()


def run_readers(scenario: Callable[[], Any]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            await scenario()

    asyncio.run(bounded())


@pytest.mark.parametrize(
    "query", ["", "deleted=true", "aliases=true&subjectPrefix=s", "latestOnly=true", "offset=1&limit=5"]
)
def test_a_large_page_is_what_the_pages_of_one_schema_are_together(filled: httpx2.Client, query: str) -> None:
    whole = filled.get(f"/schemas?{query}")
    assert len(whole.content) > PIECE_BYTES
    single, offset = [], int("offset" in query)
    while page := filled.get(f"/schemas?{query.replace('offset=1&limit=5', '')}&offset={offset}&limit=1"):
        if not page.json() or (len(single) == 5 and "limit" in query):
            break
        single += page.json()
        offset += 1
    assert whole.json() == single
    assert len(single) >= 5
    assert whole.headers["content-type"] == page.headers["content-type"]


def test_pieces_are_bounded_and_read_only_when_the_client_has_read_the_ones_before(filled: httpx2.Client) -> None:
    async def scenario() -> None:
        reader = Reader(filled)
        running = asyncio.create_task(reader.run())
        await reader.began.wait()
        assert limits(filled).sending == 1
        for permanent in ("", "?permanent=true"):  # a schema that was not read yet
            await asyncio.to_thread(lambda p=permanent: filled.delete(f"/subjects/s6{p}").raise_for_status())
        reader.read_all()
        await running
        assert max(map(len, reader.pieces)) <= PIECE_BYTES + 1_000
        assert len(reader.pieces) > COUNT / 3
        listed = json.loads(b"".join(reader.pieces))
        assert [each["subject"] for each in listed] == ["s0", "s1", "s3", "s4", "s5"]
        assert limits(filled).sending == 0

    run_readers(scenario)


def test_a_caller_has_two_large_responses_at_the_same_time(filled: httpx2.Client) -> None:
    async def scenario() -> None:
        readers = [Reader(filled) for _ in range(3)]
        running = [asyncio.create_task(reader.run()) for reader in readers[:2]]
        for reader in readers[:2]:
            await reader.began.wait()
        running.append(asyncio.create_task(readers[2].run()))
        for _ in range(5):  # small ones need no slot
            await asyncio.to_thread(lambda: filled.get("/schemas?limit=1").raise_for_status())
        assert (limits(filled).sending, readers[2].pieces) == (2, [])
        for reader in readers:
            reader.read_all()
        await asyncio.gather(*running)
        assert len({b"".join(reader.pieces) for reader in readers}) == 1
        assert limits(filled).sending == 0

    run_readers(scenario)


def test_a_client_that_disconnects_releases_its_slot_and_no_more_is_read(
    filled: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work_limits, "_UNWATCHED_SECONDS", 0.0)  # shorter than any piece

    async def scenario() -> None:
        reader = Reader(filled)
        running = asyncio.create_task(reader.run())
        await reader.began.wait()
        reader.gone.set()
        reader.read_all()  # as servers do, which discard what is sent to a client that has disconnected
        await running
        assert len(reader.pieces) == 1
        assert limits(filled).sending == 0

    run_readers(scenario)


def test_repeated_large_lists_get_429_and_small_ones_cost_nothing() -> None:
    with in_process(Settings(database_url="sqlite://", caller_steps=40_000)) as http:
        for number in range(4):
            register(http, f"s{number}")
        register(
            http,
            "t",
            1_000,
            ruleSet={"domainRules": [{"name": "r", "kind": "CONDITION", "type": "CEL", "mode": "WRITE"}]},
        )
        for _ in range(20):
            assert http.get("/schemas?subjectPrefix=t").status_code == 200
            assert http.get("/schemas?subjectPrefix=t&ruleType=CEL").json()[0]["subject"] == "t"
        http.app.state.services.threads._callers._used.clear()  # type: ignore[attr-defined]
        answers = [http.get("/schemas") for _ in range(6)]
        assert {answer.status_code for answer in answers} == {200, 429}
        assert answers[-1].json()["error_code"] == 429
        assert http.get("/subjects").status_code == 200


def test_rules_that_are_read_to_choose_schemas_count_as_work() -> None:
    with in_process(Settings(database_url="sqlite://", caller_steps=10_000)) as http:
        rule = {"kind": "CONDITION", "type": "CEL", "mode": "WRITE", "expr": "x" * 100_000}
        register(http, "s", 1, ruleSet={"domainRules": [rule | {"name": f"r{number}"} for number in range(8)]})
        http.app.state.services.threads._callers._used.clear()  # type: ignore[attr-defined]
        answers = [http.get("/schemas?ruleType=none") for _ in range(10)]
        assert {answer.status_code for answer in answers} == {200, 429}
        assert answers[0].json() == []
