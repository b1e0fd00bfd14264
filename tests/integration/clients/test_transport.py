"""Requests and answers over real sockets."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from contractlog.clients import AsyncRegistry, Exchange, Registry, Retries, Security, transport
from contractlog.compatibility.errors import Unreachable, UnreadableResponse
from contractlog.compatibility.schema import SchemaDraft

pytestmark = pytest.mark.integration

ONCE = Retries(attempts=1)


@contextmanager
def answering(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """Serve raw answers, one connection each, from a free port; yield its URL and the requests that came."""
    requests: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)

        def serve() -> None:
            for answer in answers:
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(60)
                    requests.append(_request(connection))
                    with suppress(OSError):  # who asked may have had enough
                        connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}", requests
        finally:
            thread.join()


def _request(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
    )
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def http(body: bytes, status: str = "200 OK", *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def test_a_request_carries_the_headers_of_the_api_and_its_body() -> None:
    with answering(http(b'{"id": 1}')) as (url, requests), Registry(url, headers={"X-Request-ID": "me"}) as registry:
        registry.register("a/b", SchemaDraft('"string"'))
    head, _, body = requests[0].partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    assert head.startswith(b"POST /subjects/a%2Fb/versions HTTP/1.1")
    assert "content-type: application/vnd.schemaregistry.v1+json" in lines
    assert "x-request-id: me" in lines
    assert any(line.startswith("accept: application/vnd.schemaregistry.v1+json,") for line in lines)
    assert json.loads(body) == {"schema": '"string"'}


def test_credentials_of_the_url_are_sent_and_never_shown() -> None:
    with answering(http(b"[]")) as (url, requests):
        secret = url.replace("http://", "http://me:p%40ss@")
        with Registry(secret) as registry:
            registry.subjects()
            assert registry.url == url
    assert b"authorization: basic bwu6cebzcw==" in requests[0].lower()
    dead = f"http://me:p%40ss@127.0.0.1:{unused_port()}"
    with Registry(dead, retries=ONCE) as registry, pytest.raises(Unreachable) as caught:
        registry.subjects()
    assert not any(part in str(caught.value) for part in ("p@ss", "p%40ss", "me:"))


def test_a_path_in_the_url_stays_in_front() -> None:
    with answering(http(b"[]")) as (url, requests), Registry(f"{url}/contexts/.c/") as registry:
        registry.subjects()
    assert requests[0].startswith(b"GET /contexts/.c/subjects HTTP/1.1")


def test_a_registry_that_is_not_there_is_unreachable() -> None:
    url = f"http://127.0.0.1:{unused_port()}"
    with Registry(url, retries=Retries(attempts=2, first=0.01)) as registry, pytest.raises(Unreachable) as caught:
        registry.subjects()
    assert caught.value.url == url
    assert "check that it runs" in str(caught.value)


def test_a_registry_that_does_not_answer_is_unreachable_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Registry(url, timeout=0.1, retries=ONCE) as registry, pytest.raises(Unreachable, match=r"0\.1 seconds"):
            registry.subjects()


def test_the_time_out_bounds_a_call_with_all_its_attempts() -> None:
    many = Retries(attempts=1_000, first=0.01)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"

        async def ask() -> None:
            async with AsyncRegistry(url, timeout=0.4, retries=many) as registry:
                await registry.subjects()

        began = time.monotonic()
        with Registry(url, timeout=0.4, retries=many) as registry, pytest.raises(Unreachable, match=r"0\.4 seconds"):
            registry.subjects()
        with pytest.raises(Unreachable, match=r"0\.4 seconds"):
            asyncio.run(ask())
        assert time.monotonic() - began < 60  # a thousand attempts of that long take minutes


def test_one_that_hangs_leaves_time_for_the_next_url() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, answering(http(b"[]")) as (url, _):
        both = f"http://127.0.0.1:{silent.getsockname()[1]},{url}"
        with Registry(both, timeout=6) as registry:
            assert registry.subjects() == []


def test_a_busy_answer_is_followed_by_another_attempt() -> None:
    busy = http(b"", "503 Service Unavailable")
    with (
        answering(busy, http(b'["a"]')) as (url, requests),
        Registry(url, retries=Retries(first=0.01)) as registry,
    ):
        assert registry.subjects() == ["a"]
    assert len(requests) == 2


def test_the_next_url_is_asked_when_one_is_gone() -> None:
    gone = f"http://127.0.0.1:{unused_port()}"
    with answering(http(b'["a"]')) as (url, _), Registry(f"{gone},{url}", retries=Retries(first=0.01)) as registry:
        assert registry.subjects() == ["a"]


def test_a_silent_first_url_costs_one_call_and_not_each() -> None:
    class Watching:
        def __init__(self) -> None:
            self.asked: list[tuple[str, int | None]] = []

        def exchanged(self, exchange: Exchange) -> None:
            self.asked.append((exchange.address, exchange.status))

        def looked_up(self, cache: str, *, hit: bool) -> None:
            """Nothing is remembered here."""

    with socket.create_server(("127.0.0.1", 0)) as silent, answering(*[http(b"[]")] * 6) as (url, _):
        first = f"http://127.0.0.1:{silent.getsockname()[1]}"
        watch = Watching()
        with Registry(f"{first},{url}", timeout=6, watch=watch) as registry:
            assert [registry.subjects() for _ in range(3)] == [[]] * 3
        assert watch.asked == [(first, None), *[(url, 200)] * 3]
        watch.asked.clear()

        async def ask() -> None:
            async with AsyncRegistry(f"{first},{url}", timeout=6, watch=watch) as registry:
                assert [await registry.subjects() for _ in range(3)] == [[]] * 3

        asyncio.run(ask())
        assert watch.asked == [(first, None), *[(url, 200)] * 3]


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.0\r\n", b"", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"]
)
def test_a_server_without_http_is_unreachable(answer: bytes) -> None:
    with answering(answer) as (url, _), Registry(url, retries=ONCE) as registry, pytest.raises(Unreachable):
        registry.subjects()


def test_a_server_with_another_api_is_unreadable() -> None:
    with answering(http(b"<html>hello", "404 Not Found")) as (url, _), Registry(url) as registry:
        with pytest.raises(UnreadableResponse) as caught:
            registry.subjects()
        assert caught.value.start == "<html>hello"


def test_an_answer_without_end_is_cut_and_unreadable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 1_000)
    endless = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[" + b"1," * 100_000
    with answering(endless) as (url, _), Registry(url) as registry:
        with pytest.raises(UnreadableResponse, match="is larger than") as caught:
            registry.versions("s")
        assert caught.value.start.startswith("[1,1,")


def test_an_answer_that_announces_too_many_bytes_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_BODY_BYTES", 1_000)
    with answering(http(b"[" + b"1," * 100_000 + b"1]")) as (url, _), Registry(url) as registry:
        with pytest.raises(UnreadableResponse, match="is larger than") as caught:
            registry.versions("s")
        assert not caught.value.start


def test_an_id_is_asked_once() -> None:
    with answering(http(b'{"schema": "\\"long\\""}')) as (url, requests), Registry(url) as registry:
        first = registry.schema_by_id(3)
        assert registry.schema_by_id(3) is first
        assert first.schema_id == 3
    assert len(requests) == 1


def test_the_asynchronous_client_speaks_http() -> None:
    async def ask(url: str) -> list[str]:
        async with AsyncRegistry(url) as registry:
            return await registry.subjects()

    with answering(http(b'["a"]')) as (url, _):
        assert asyncio.run(ask(url)) == ["a"]


def test_the_asynchronous_client_raises_the_same_classes() -> None:
    async def ask() -> None:
        async with AsyncRegistry(f"http://127.0.0.1:{unused_port()}", retries=ONCE) as registry:
            await registry.subjects()

    with pytest.raises(Unreachable):
        asyncio.run(ask())


def test_a_token_is_sent_as_a_bearer_and_a_name_goes_before_it() -> None:
    token = Security(token="t0ken")  # noqa: S106 - no secret
    with answering(http(b"[]"), http(b"[]")) as (url, requests):
        with Registry(url, security=token) as registry:
            registry.subjects()
        with Registry(url.replace("//", "//me:pass@"), security=token) as registry:
            registry.subjects()
    assert b"authorization: bearer t0ken" in requests[0].lower()
    assert b"authorization: basic " in requests[1].lower()
    assert "t0ken" not in repr(token)


def test_a_token_that_is_renewed_is_asked_for_each_time() -> None:
    tokens = iter(["first", "second"])
    security = Security(token=lambda: next(tokens))
    with answering(http(b"[]"), http(b"[]")) as (url, requests), Registry(url, security=security) as registry:
        registry.subjects()
        registry.subjects()
    assert [re.findall(rb"Bearer (\w+)", request) for request in requests] == [[b"first"], [b"second"]]


def test_a_proxy_is_asked_for_everything() -> None:
    with answering(http(b"[]"), http(b"[]")) as (proxy, requests):
        with Registry("http://registry.invalid:8081", proxy=proxy, retries=ONCE) as registry:
            assert registry.subjects() == []

        async def asynchronous() -> list[str]:
            async with AsyncRegistry("http://registry.invalid:8081", proxy=proxy, retries=ONCE) as registry:
                return await registry.subjects()

        assert asyncio.run(asynchronous()) == []
    assert all(request.startswith(b"GET http://registry.invalid:8081/subjects HTTP/1.1") for request in requests)


class Watching:
    """Takes note of every request."""

    def __init__(self) -> None:
        self.told: list[Exchange] = []

    def exchanged(self, exchange: Exchange) -> None:
        self.told.append(exchange)

    def looked_up(self, cache: str, *, hit: bool) -> None:
        raise AssertionError("no memory was asked")


def test_hooks_receive_every_attempt_and_its_result() -> None:
    watch = Watching()
    gone = f"http://me:pass@127.0.0.1:{unused_port()}"
    quick = Retries(first=0.001)
    with (
        answering(http(b"", "503 Busy"), http(b"[]")) as (url, _),
        Registry(f"{url},{gone}", retries=quick, watch=watch) as registry,
    ):
        registry.subjects()
    assert [(one.attempt, one.status, one.address == url, one.reason is None) for one in watch.told] == [
        (1, 503, True, True),
        (2, None, False, False),
        (3, 200, True, True),
    ]
    assert "pass" not in str(watch.told)

    async def asynchronous() -> None:
        with answering(http(b"", "503 Busy"), http(b"[]")) as (url, _):
            async with AsyncRegistry(url, retries=quick, watch=watch) as registry:
                await registry.subjects()

    asyncio.run(asynchronous())
    assert [(one.attempt, one.status) for one in watch.told[3:]] == [(1, 503), (2, 200)]


def test_an_answer_may_be_empty_and_may_be_a_text() -> None:
    with (
        answering(http(b"", "204 No Content"), http(b"message M {}"), http(b"")) as (url, _),
        Registry(url, retries=ONCE) as registry,
    ):
        registry.delete_context(".eu")
        assert registry.text_of_id(1) == "message M {}"
        with pytest.raises(UnreadableResponse, match="has no body"):
            registry.subjects()
