"""Bearer tokens of all three providers, fetched from a real local server."""

from __future__ import annotations

import asyncio
import json
import threading
from base64 import b64encode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

import pytest
from confluent_kafka.schema_registry.error import OAuthTokenError as TheirOAuthTokenError

from contractlog.clients.confluent import AsyncSchemaRegistryClient, SchemaRegistryClient
from contractlog.clients.confluent.bearer_tokens import ClientCredentials
from contractlog.clients.confluent.errors import OAuthTokenError
from contractlog.clients.retry_and_failover import Retries
from contractlog.compatibility.errors import Unreachable

from support.deadlines import WAIT_SECONDS

ONCE = Retries(attempts=1)


class Server(ThreadingHTTPServer):
    """A token server and a registry: what it was asked, and what it answers to ``/token``."""

    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[dict[str, Any]] = []
        self.answer: Callable[[int], tuple[int, Any]] = lambda n: (200, {"access_token": f"t{n}", "expires_in": 100})
        self.ended = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def seen(self, path: str) -> list[dict[str, Any]]:
        """Return the requests to a path."""
        return [one for one in self.asked if one["path"].partition("?")[0] == path]


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        asked = {"method": self.command, "path": self.path, "body": self.rfile.read(size).decode()}
        self.server.asked.append(asked | {name.lower(): value for name, value in self.headers.items()})
        status, body = 200, b"[]"
        if self.path.startswith("/token"):
            status, told = self.server.answer(len(self.server.seen("/token")))
            body = told if isinstance(told, bytes) else json.dumps(told).encode()
        with suppress(OSError):  # the client may have given up
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - of the base class

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield made
        made.ended.set()
        made.shutdown()
        thread.join()


def conf(server: Server, source: str = "OAUTHBEARER", **more: Any) -> dict[str, Any]:
    fields = {
        "OAUTHBEARER": {
            "bearer.auth.client.id": "me",
            "bearer.auth.client.secret": "s3cret",
            "bearer.auth.scope": "schemas",
            "bearer.auth.issuer.endpoint.url": f"{server.url}/token",
        },
        "OAUTHBEARER_AZURE_IMDS": {"bearer.auth.issuer.endpoint.url": f"{server.url}/token"},
    }
    common = {"url": server.url, "bearer.auth.credentials.source": source, "retries.wait.ms": 1}
    if source == "CUSTOM":
        return common | more
    return common | {"bearer.auth.logical.cluster": "lsrc-1"} | fields[source] | more


async def asked_often(settings: dict[str, Any], times: int) -> None:
    async with AsyncSchemaRegistryClient(settings) as client:
        for _ in range(times):
            await client.get_subjects()


def ask(settings: dict[str, Any], times: int, *, awaited: bool) -> None:
    """Ask the registry some times, with a client of either kind."""
    if awaited:
        asyncio.run(asked_often(settings, times))
        return
    with SchemaRegistryClient(settings) as client:
        for _ in range(times):
            client.get_subjects()


@pytest.mark.parametrize("awaited", [False, True])
def test_a_token_is_fetched_with_client_credentials_and_kept(server: Server, *, awaited: bool) -> None:
    settings = conf(server, **{"bearer.auth.identity.pool.id": ["pool-1", "pool-2"]})
    ask(settings, 3, awaited=awaited)
    (token,) = server.seen("/token")
    assert token["method"] == "POST"
    assert parse_qs(token["body"]) == {"grant_type": ["client_credentials"], "scope": ["schemas"]}
    assert token["authorization"] == "Basic " + b64encode(b"me:s3cret").decode()
    calls = server.seen("/subjects")
    assert [call["authorization"] for call in calls] == ["Bearer t1"] * 3
    assert {call["target-sr-cluster"] for call in calls} == {"lsrc-1"}
    assert {call["confluent-identity-pool-id"] for call in calls} == {"pool-1,pool-2"}
    assert "target-sr-cluster" not in token


def test_threads_share_one_fetch(server: Server) -> None:
    with SchemaRegistryClient(conf(server)) as client, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: client.get_subjects(), range(16)))
    assert len(server.seen("/token")) == 1


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_token_is_renewed_before_it_ends(server: Server) -> None:
    clock = Clock()
    source = ClientCredentials(f"{server.url}/token", "me", "s3cret", "schemas", ONCE, clock=clock)
    assert source.headers(30) == {"Authorization": "Bearer t1"}
    clock.now = 79
    assert source.headers(30) == {"Authorization": "Bearer t1"}
    clock.now = 80
    assert source.headers(30) == {"Authorization": "Bearer t2"}


def test_an_old_token_is_used_until_its_end_while_it_cannot_be_renewed(server: Server) -> None:
    clock = Clock()
    source = ClientCredentials(f"{server.url}/token", "me", "s3cret", "schemas", ONCE, clock=clock)
    source.headers(30)
    server.answer = lambda _: (503, {})
    clock.now = 80
    assert source.headers(30) == source.headers(30) == {"Authorization": "Bearer t1"}
    assert len(server.seen("/token")) == 2
    clock.now = 100
    with pytest.raises(OAuthTokenError, match="responded with status 503"):
        source.headers(30)


def test_azure_is_asked_for_a_token(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    server.answer = lambda n: (200, {"access_token": f"a{n}", "expires_in": "100", "expires_on": "1"})
    query = "resource=api://x&api-version=2018-02-01"
    settings = conf(server, "OAUTHBEARER_AZURE_IMDS", **{"bearer.auth.issuer.endpoint.query": query})
    client = SchemaRegistryClient(settings)
    source: Any = client._registry._transport.token_source
    assert source.headers(30) == source.headers(30) == {"Authorization": "Bearer a1"}
    client.close()
    (token,) = server.seen("/token")
    assert (token["method"], token["path"], token["metadata"]) == ("GET", f"/token?{query}", "true")


FIELDS = {"bearer.auth.token": "own", "bearer.auth.logical.cluster": "lsrc-2"}


def custom(function: Any) -> dict[str, Any]:
    return {"bearer.auth.custom.provider.function": function, "bearer.auth.custom.provider.config": {"k": 1}}


def test_a_function_of_the_user_makes_the_fields_of_every_request(server: Server) -> None:
    given: list[Any] = []

    def fields(config: Any) -> dict[str, Any]:
        given.append(config)
        return FIELDS | {"bearer.auth.identity.pool.id": "p"}

    with SchemaRegistryClient(conf(server, "CUSTOM", **custom(fields))) as client:
        client.get_subjects()
        client.get_subjects()
    assert given == [{"k": 1}] * 2
    call = server.seen("/subjects")[0]
    assert (call["authorization"], call["target-sr-cluster"]) == ("Bearer own", "lsrc-2")
    assert call["confluent-identity-pool-id"] == "p"


def test_an_asynchronous_client_awaits_the_function(server: Server) -> None:
    async def fields(_: Any) -> dict[str, Any]:
        await asyncio.sleep(0)
        return FIELDS

    asyncio.run(asked_often(conf(server, "CUSTOM", **custom(fields)), 1))
    assert server.seen("/subjects")[0]["authorization"] == "Bearer own"
    with (
        SchemaRegistryClient(conf(server, "CUSTOM", **custom(fields))) as client,
        pytest.raises(TypeError, match="AsyncSchemaRegistryClient"),
    ):
        client.get_subjects()


def test_fields_that_are_missing_are_named(server: Server) -> None:
    with (
        SchemaRegistryClient(conf(server, "CUSTOM", **custom(lambda _: {}))) as client,
        pytest.raises(ValueError, match=r"bearer\.auth\.token, bearer\.auth\.logical\.cluster"),
    ):
        client.get_subjects()


def test_wrong_credentials_are_told_at_once_and_without_the_secret(server: Server) -> None:
    server.answer = lambda _: (401, {"error": "invalid_client"})
    with SchemaRegistryClient(conf(server)) as client, pytest.raises(OAuthTokenError) as caught:
        client.get_subjects()
    assert isinstance(caught.value, TheirOAuthTokenError)
    assert isinstance(caught.value, Unreachable)
    assert (caught.value.status_code, caught.value.response_text) == (401, '{"error": "invalid_client"}')
    assert f"{server.url}/token: it responded with status 401" in str(caught.value)
    assert "s3cret" not in str(caught.value)
    assert len(server.seen("/token")) == 1
    assert not server.seen("/subjects")


def test_a_token_server_that_fails_for_a_moment_is_asked_again(server: Server) -> None:
    server.answer = lambda n: (503, {}) if n < 3 else (200, {"access_token": "t", "expires_in": 100})
    with SchemaRegistryClient(conf(server)) as client:
        client.get_subjects()
    assert len(server.seen("/token")) == 3


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>",
        b"[]",
        {},
        {"access_token": 5, "expires_in": 100},
        {"access_token": "a\nb", "expires_in": 100},
        {"access_token": "a", "expires_in": "soon"},
        {"access_token": "a", "expires_in": -1},
        b'{"access_token": "' + b"a" * 2_000_000 + b'", "expires_in": 100}',
    ],
    ids=lambda answer: str(answer)[:40],
)
def test_an_answer_that_holds_no_token_is_an_error(server: Server, answer: Any) -> None:
    server.answer = lambda _: (200, answer)
    with SchemaRegistryClient(conf(server, **{"max.retries": 0})) as client, pytest.raises(OAuthTokenError):
        client.get_subjects()
    assert not server.seen("/subjects")


@pytest.mark.parametrize("awaited", [False, True])
def test_a_token_server_that_does_not_answer_is_given_up(server: Server, *, awaited: bool) -> None:
    answered: list[bool] = []

    def silent(_: int) -> tuple[int, Any]:
        answered.append(not server.ended.wait(WAIT_SECONDS))
        return 200, {}

    server.answer = silent
    with pytest.raises(OAuthTokenError):
        ask(conf(server, timeout=2), 1, awaited=awaited)
    assert not answered
