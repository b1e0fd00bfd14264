"""Responses of the HTTP protocol itself are those of all layers, however requests arrive."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi import FastAPI
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.users_file_editor import format_entry
from contractlog.registry.app import create_app
from contractlog.registry.http.fastpath.direct_protocol import DirectProtocol
from contractlog.registry.http.fastpath.request_heads import RequestHeads
from contractlog.registry.serving.server import RegistryServer
from contractlog.registry.settings import Settings

from support.deadlines import WAIT_SECONDS

HEADERS = b"Host: localhost\r\nUser-Agent: a/1\r\n"


def schema(fields: int) -> bytes:
    members = [{"name": f"f{number}", "type": "int", "default": number} for number in range(fields)]
    return json.dumps({"schema": json.dumps({"type": "record", "name": "R", "fields": members})}).encode()


def get(path: str, headers: bytes = HEADERS, version: str = "1.1") -> bytes:
    return f"GET {path} HTTP/{version}\r\n".encode() + headers + b"\r\n"


def post(path: str, body: bytes, method: str = "POST") -> bytes:
    framing = b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    return f"{method} {path} HTTP/1.1\r\n".encode() + HEADERS + framing + body


REPEATED = [
    get("/schemas/ids/1"),
    get("/schemas/ids/1?fetchMaxId=false&subject=a"),
    get("/schemas/ids/2"),
    get("/subjects/a/versions/latest"),
    get("/subjects/a/versions/latest?deleted=true"),
    get("/subjects/b/versions"),
    get("/subjects"),
    get("/contexts/.eu/subjects/a/versions/latest"),
    get("/subjects/a%2Fb/versions/1/"),
    get("/config/a?defaultToGlobal=true"),
    post("/subjects/a/versions", schema(1)),
    post("/subjects/a/versions", schema(2)),
    post("/subjects/a", schema(1)),
    post("/compatibility/subjects/a/versions/latest", schema(2)),
]
UNUSUAL = [
    get("/subjects/a/versions/latest", HEADERS + b"X-Request-ID: mine\r\n"),
    get("/subjects/a/versions/latest", HEADERS + b"Host: other\r\n"),
    get("/subjects/a/versions/latest", b"Host: evil.example\r\n"),
    get("/subjects/a/versions/latest", HEADERS + b"Content-Length: 0\r\nContent-Length: 0\r\n"),
    get("/subjects/a/versions/latest", HEADERS + b"Content-Length: 2\r\n") + b"{}",
    get("//subjects/a/versions/latest"),
    get("/subjects/a/versions/latest?x=1#y"),
    get("/schemas/ids/1", HEADERS + b"Connection: keep-alive\r\n"),
    post("/subjects/a/versions", schema(1)).replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nExpect: 100-continue\r\n"),
    post("/subjects/a/versions", schema(1)).replace(b"HTTP/1.1\r\n", b"HTTP/1.1\r\nOrigin: http://evil.example\r\n"),
    b"POST /subjects/a HTTP/1.1\r\n" + HEADERS + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    post("/config/a", b'{"compatibility": "NONE"}', "PUT"),
    post("/subjects/a", b"", "DELETE"),
    get("/subjects/a/versions/latest", HEADERS, "1.0"),
    get("/schemas/ids/1", HEADERS + b"Connection: close\r\n"),
]


class Transport(asyncio.Transport):
    """A connection whose other side reads everything at once."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 8081)})
        self.sent = b""
        self.is_closed = False

    def write(self, data: Any) -> None:
        self.sent += data

    def is_closing(self) -> bool:
        return self.is_closed

    def close(self) -> None:
        self.is_closed = True

    abort = close

    def pause_reading(self) -> None:
        """Do nothing: the test sends one piece at a time."""

    resume_reading = pause_reading

    def get_write_buffer_size(self) -> int:
        return 0


class Connection:
    """A connection to an app, with or without responses of the protocol itself."""

    def __init__(self, app: FastAPI, *, direct: bool = True) -> None:
        server = RegistryServer(app, Settings(), lambda: None, None)
        server.config.load()
        create = cast("Callable[..., DirectProtocol]", server.config.http_protocol_class)
        self.protocol = create(config=server.config, server_state=server.server_state, app_state={})
        if not direct:
            self.protocol._direct = lambda: None
        self.transport = Transport()
        self.protocol.connection_made(self.transport)

    async def send(self, *pieces: bytes, responses: int = 1) -> list[bytes]:
        """Send the pieces; return the responses once all have arrived or the connection is closed."""
        self.transport.sent = b""
        for piece in pieces:
            if not self.transport.is_closed:
                self.protocol.data_received(piece)
                await asyncio.sleep(0)
        async with asyncio.timeout(WAIT_SECONDS):
            while self.is_busy(responses) and not self.transport.is_closed:  # noqa: ASYNC110 - there is no event
                await asyncio.sleep(0.0005)
        return self.responses()

    def is_busy(self, responses: int) -> bool:
        cycle: Any = self.protocol.cycle
        is_processing = self.protocol._waiting is not None or (cycle is not None and not cycle.response_complete)
        return is_processing or len(self.responses()) < responses

    def responses(self) -> list[bytes]:
        text = re.sub(rb"x-request-id: [0-9a-f-]{36}\r\n|\"ts\":[0-9]+", b"", self.transport.sent)
        return [part for part in re.split(rb"(?=HTTP/1\.1 [2-5])", text) if part]


async def compare(
    steps: list[tuple[list[bytes], list[int]]], connect: Callable[[], tuple[Connection, Connection]]
) -> None:
    pair = connect()
    for requests, cuts in steps:
        if any(connection.transport.is_closed for connection in pair):
            pair = connect()
        data = b"".join(requests)
        edges = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
        pieces = [data[start:end] for start, end in pairwise(edges)]
        responses = [await connection.send(*pieces, responses=len(requests)) for connection in pair]
        assert responses[0] == responses[1], data
        assert pair[0].transport.is_closed == pair[1].transport.is_closed


requests = st.one_of(st.sampled_from(REPEATED), st.sampled_from(REPEATED), st.sampled_from(REPEATED + UNUSUAL))
step = st.tuples(
    st.one_of(requests.map(lambda request: [request]), st.lists(requests, min_size=1, max_size=3)),
    st.one_of(st.just([]), st.lists(st.integers(1, 10_000), max_size=2)),
)


@settings(max_examples=3, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(step, min_size=20, max_size=40))
def test_responses_equal_those_of_all_layers(steps: list[tuple[list[bytes], list[int]]]) -> None:
    async def run() -> None:
        apps = [create_app(Settings(database_url="sqlite://")) for _ in range(2)]
        try:
            for app in apps:
                app.middleware_stack = app.build_middleware_stack()
            both: list[tuple[list[bytes], list[int]]] = [([request], []) for request in REPEATED]
            await compare(both + both + steps + both, lambda: (Connection(apps[0]), Connection(apps[1], direct=False)))
        finally:
            for app in apps:
                app.state.close()

    asyncio.run(run())


@pytest.fixture
def app(tmp_path: Path) -> Iterator[FastAPI]:
    created = create_app(Settings(database_url=f"sqlite:///{tmp_path}/registry.db"))
    created.middleware_stack = created.build_middleware_stack()
    yield created
    created.state.close()


LATEST = REPEATED[3]


async def warm(connection: Connection) -> bytes:
    await connection.send(post("/subjects/a/versions", schema(1)))
    for _ in range(3):
        responses = await connection.send(LATEST)
    return responses[0]


def test_a_repeated_request_reaches_no_layer(app: FastAPI) -> None:
    async def run() -> None:
        connection = Connection(app)
        response = await warm(connection)
        app.middleware_stack = None
        connection.protocol.app = cast("Any", None)
        assert await connection.send(LATEST) == [response]

    asyncio.run(run())


def test_each_line_of_the_access_log_names_the_user(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    users = tmp_path / "users.toml"
    users.write_text(format_entry("bob", HashedPassword.of("secret", n=2, r=1, p=1), ["*"], ["*"]))
    created = create_app(Settings(database_url=f"sqlite:///{tmp_path}/registry.db", users_file=str(users)))
    created.middleware_stack = created.build_middleware_stack()
    credentials = HEADERS + b"Authorization: Basic Ym9iOnNlY3JldA==\r\n"

    async def run() -> None:
        connection = Connection(created)
        for _ in range(4):
            await connection.send(get("/subjects", credentials))

    with caplog.at_level("INFO", logger="contractlog.access"):
        asyncio.run(run())
    created.state.close()
    assert [record.__dict__["fields"]["actor"] for record in caplog.records] == ["bob"] * 4


def test_requests_keep_their_order_while_a_check_is_under_way(app: FastAPI) -> None:
    """The next request arrives before the check of the first one has ended."""

    async def run() -> None:
        connection = Connection(app)
        response = await warm(connection)
        waiting: list[Any] = []
        direct = app.state.direct_responses
        direct._checks = type("Delayed", (), {"when_checked": staticmethod(waiting.append)})
        connection.transport.sent = b""
        connection.protocol.data_received(LATEST)
        assert len(waiting) == 1
        assert not connection.transport.sent
        both = await connection.send(get("/subjects"), responses=2)
        assert both[0] == response
        assert both[1].endswith(b'["a"]')
        waiting[0](app.state.services.memory.revision)
        assert connection.responses() == both
        connection.protocol.data_received(LATEST)
        connection.protocol.connection_lost(None)
        waiting[1](app.state.services.memory.revision)
        assert connection.responses() == both

    asyncio.run(run())


def test_a_connection_in_use_stays_open_and_an_idle_one_is_closed(app: FastAPI) -> None:
    async def run() -> None:
        connection = Connection(app)
        await warm(connection)
        connection.protocol.timeout_keep_alive_handler()
        assert not connection.transport.is_closed
        connection.protocol._last_use -= connection.protocol.timeout_keep_alive
        connection.protocol.timeout_keep_alive_handler()
        assert connection.transport.is_closed

    asyncio.run(run())


def test_a_connection_is_not_idle_while_a_response_is_under_way(app: FastAPI) -> None:
    async def run() -> None:
        connection = Connection(app)
        await warm(connection)
        connection.protocol._last_use -= connection.protocol.timeout_keep_alive
        connection.protocol.data_received(post("/subjects/a/versions", schema(7)))
        cycle: Any = connection.protocol.cycle
        assert not cycle.response_complete
        connection.protocol.timeout_keep_alive_handler()
        assert not connection.transport.is_closed
        assert await connection.send(LATEST, responses=2)

    asyncio.run(run())


def test_each_response_is_the_last_one_once_connections_are_to_be_closed(app: FastAPI) -> None:
    async def run() -> None:
        connection = Connection(app)
        await warm(connection)
        app.state.drain()
        assert b"connection: close" in (await connection.send(LATEST))[0]

    asyncio.run(run())


def test_memory_has_no_credentials() -> None:
    heads = RequestHeads()
    request = heads.split(get("/subjects", HEADERS + b"Authorization: Basic c2VjcmV0\r\n"))
    assert request is not None
    headers = [(b"host", b"localhost"), (b"user-agent", b"a/1"), (b"authorization", b"Basic c2VjcmV0")]
    heads.learn(request, headers)
    assert sorted(heads.find_headers(request) or []) == sorted(headers)
    assert "c2VjcmV0" not in repr(list(heads._blocks._entries.items()))
