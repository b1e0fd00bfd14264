"""Clients stay within time and memory limits if servers send endless or huge responses."""

from __future__ import annotations

import asyncio
import gzip
import socket
import threading
import time
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from contractlog.clients import AsyncRegistry, Registry, Retries, Security
from contractlog.clients.confluent import AsyncSchemaRegistryClient, SchemaRegistryClient
from contractlog.clients.confluent.errors import OAuthTokenError
from contractlog.compatibility.errors import ContractlogError, Unreachable, UnreadableResponse
from contractlog.compatibility.schema import SchemaDraft
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.rest_source import RestSource
from contractlog.registry.transfer.upload import upload_export

pytestmark = pytest.mark.integration

LIMIT = 0.5
GIVEN_UP = 30  #: seconds: sixty times the limit, half of what the servers need
MIB = 1024 * 1024
_BETWEEN = 0.05  # seconds from one trickled piece to the next
_PIECES = 1_200  # of them: a minute

Behaviour = Callable[[socket.socket, threading.Event], None]


@contextmanager
def serving(behaviour: Behaviour) -> Iterator[str]:
    """Serve every connection in its own thread from a free port; yield the URL."""
    stop = threading.Event()
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client hangs up at its limit
            connection.settimeout(60)
            behaviour(connection, stop)

    def accept() -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                threads.append(threading.Thread(target=serve, args=(server.accept()[0],)))
                threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as server:
        accepting = threading.Thread(target=accept)
        accepting.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            stop.set()
            server.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def trickle(connection: socket.socket, stop: threading.Event, start: bytes, piece: bytes) -> None:
    connection.recv(65536)
    connection.sendall(start)
    for _ in range(_PIECES):
        if stop.wait(_BETWEEN):
            return
        connection.sendall(piece)


def trickling(start: bytes, piece: bytes) -> Behaviour:
    return lambda connection, stop: trickle(connection, stop, start, piece)


def reading_slowly(connection: socket.socket, stop: threading.Event) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(_PIECES):
        if stop.wait(_BETWEEN):
            return
        connection.recv(4096)


def busy_after_a_while(connection: socket.socket, stop: threading.Event) -> None:
    connection.recv(65536)
    stop.wait(LIMIT / 3)
    connection.sendall(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


TRICKLES = {
    "response headers": trickling(b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n"),
    "one response header": trickling(b"HTTP/1.1 200 OK\r\nX-More: ", b"1"),
    "100 Continue": trickling(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a body": trickling(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n[", b" "),
    "a chunked body": trickling(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n", b"1\r\n \r\n"),
    "a compressed body without content": trickling(
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9999\r\n\r\n" + gzip.compress(b"")[:10],
        b"\x00\x00\x00\xff\xff",  # an empty block of deflate
    ),
    "trailers": trickling(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n", b"X-More: 1\r\n"),
    "503 after each third of the limit": busy_after_a_while,
}


QUICK = Retries(attempts=1_000, first=0.01, longest=0.01)


def require_both_to_end(
    url: str, call: Callable[[Any], Any] = lambda registry: registry.subjects(), **options: Any
) -> None:
    """Require a call of the blocking and of the asynchronous client to end in time; both run at once."""
    with ThreadPoolExecutor(1) as pool:
        blocking = pool.submit(require_blocking_to_end, url, call, **options)
        asyncio.run(require_awaited_to_end(url, call, **options))
        blocking.result()


def require_blocking_to_end(url: str, call: Callable[[Registry], Any] = Registry.subjects, **options: Any) -> None:
    with Registry(url, timeout=LIMIT, retries=QUICK, **options) as registry:
        began = time.monotonic()
        with pytest.raises((Unreachable, UnreadableResponse)) as caught:
            call(registry)
        assert time.monotonic() - began < GIVEN_UP
    require_late(caught.value)


async def require_awaited_to_end(
    url: str, call: Callable[[AsyncRegistry], Any] = AsyncRegistry.subjects, **options: Any
) -> None:
    async with AsyncRegistry(url, timeout=LIMIT, retries=QUICK, **options) as registry:
        began = time.monotonic()
        with pytest.raises((Unreachable, UnreadableResponse)) as caught:
            await call(registry)
        assert time.monotonic() - began < GIVEN_UP
    require_late(caught.value)


def require_late(error: ContractlogError) -> None:
    """Require the error of an exceeded limit, or the last busy answer before it."""
    if isinstance(error, UnreadableResponse):
        assert error.status == 503
    else:
        assert f"no response within {LIMIT:g} seconds" in str(error)


@pytest.mark.parametrize("what", TRICKLES)
def test_the_limit_holds_for_a_whole_call_whatever_trickles(what: str) -> None:
    with serving(TRICKLES[what]) as url:
        require_both_to_end(url)


def oauth(token_url: str) -> dict[str, Any]:
    """Return the configuration of a client whose tokens are from that URL; no registry is needed for the test."""
    keys = ("client.id", "client.secret", "scope", "logical.cluster", "identity.pool.id")
    conf = {"url": "http://127.0.0.1:9", "timeout": LIMIT, "bearer.auth.issuer.endpoint.url": token_url}
    return conf | {f"bearer.auth.{key}": "a" for key in keys} | {"bearer.auth.credentials.source": "OAUTHBEARER"}


def fetch_token(url: str) -> None:
    with SchemaRegistryClient(oauth(url)) as client:
        client.get_subjects()


def await_token(url: str) -> None:
    async def call() -> None:
        async with AsyncSchemaRegistryClient(oauth(url)) as client:
            await client.get_subjects()

    asyncio.run(call())  # waits for the thread that fetches, too


@pytest.mark.parametrize("fetch", [fetch_token, await_token])
@pytest.mark.parametrize("what", ["response headers", "one response header", "100 Continue", "a body"])
def test_the_limit_holds_while_a_token_is_fetched(fetch: Callable[[str], None], what: str) -> None:
    with serving(TRICKLES[what]) as url:
        began = time.monotonic()
        with pytest.raises(OAuthTokenError, match=r"the response did not arrive completely in time|no token within"):
            fetch(url)
        assert time.monotonic() - began < GIVEN_UP


@pytest.mark.parametrize("what", ["response headers", "100 Continue", "a body"])
def test_an_import_into_a_registry_has_a_limit_whatever_trickles(what: str) -> None:
    with serving(TRICKLES[what]) as url:
        began = time.monotonic()
        with pytest.raises(Unreachable, match=f"no response within {LIMIT:g} seconds"):
            upload_export(
                url,
                ["{}"],
                TransferReport(),
                security=Security(),
                timeout=GIVEN_UP,
                dry_run=True,
                modes=False,
                import_timeout=LIMIT,
            )
        assert time.monotonic() - began < GIVEN_UP


def test_the_limit_holds_for_all_urls_of_a_call_together() -> None:
    with serving(TRICKLES["response headers"]) as first, serving(TRICKLES["100 Continue"]) as second:
        require_both_to_end(f"{first},{second}")


def test_a_trickling_url_leaves_time_for_the_next() -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n[]"

    def at_once(connection: socket.socket, _stop: threading.Event) -> None:
        connection.recv(65536)
        connection.sendall(answer)

    with (
        serving(TRICKLES["100 Continue"]) as first,
        serving(at_once) as second,
        Registry(f"{first},{second}", timeout=6) as registry,
    ):
        assert registry.subjects() == []


def test_the_limit_holds_for_a_tls_handshake_that_trickles() -> None:
    record = b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc"  # the head of a ServerHello of 16 KiB
    with serving(trickling(record, b"\x03")) as url:
        require_both_to_end(url.replace("http:", "https:"))


def test_the_limit_holds_while_a_body_is_sent() -> None:
    schema = SchemaDraft('{"type":"string","doc":"' + "x" * 16 * MIB + '"}')
    with serving(reading_slowly) as url:
        require_both_to_end(url, lambda registry: registry.register("s", schema))


@pytest.mark.parametrize("how", ["argument", "environment"])
def test_the_limit_holds_through_a_proxy(how: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(TRICKLES["response headers"]) as proxy:
        options: dict[str, Any] = {"proxy": proxy} if how == "argument" else {}
        if how == "environment":
            for name in ("no_proxy", "NO_PROXY"):
                monkeypatch.delenv(name, raising=False)
            for name in ("http_proxy", "https_proxy"):
                monkeypatch.setenv(name, proxy)
        for url in ("http://registry.invalid", "https://registry.invalid"):
            require_both_to_end(url, **options)


def test_the_limit_holds_while_a_name_is_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve, stop = socket.getaddrinfo, threading.Event()

    def resolve_slowly(host: Any, *arguments: Any, **options: Any) -> Any:
        if host in {"registry.invalid", b"registry.invalid"}:
            stop.wait(60)
            host = "127.0.0.1"
        return resolve(host, *arguments, **options)

    async def ask() -> None:
        try:
            await require_awaited_to_end("http://registry.invalid:8081")
        finally:
            stop.set()  # asyncio waits for its threads

    monkeypatch.setattr(socket, "getaddrinfo", resolve_slowly)
    try:
        require_blocking_to_end("http://registry.invalid:8081")
        asyncio.run(ask())
    finally:
        stop.set()


def test_a_name_is_resolved_and_an_unknown_one_is_named_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve = socket.getaddrinfo

    def resolve_nothing(host: Any, *arguments: Any, **options: Any) -> Any:
        if host == "registry.invalid":
            raise socket.gaierror(-2, "Name or service not known")
        return resolve(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", resolve_nothing)
    with serving(sending(b'["a"]')) as url:
        assert blocking_subjects(url.replace("127.0.0.1", "localhost")) == ["a"]
    with pytest.raises(Unreachable, match=r"\(Name or service not known\)"):
        blocking_subjects("http://registry.invalid:8081")


def zeros(size: int) -> bytes:
    """Compress that many zero bytes."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([packer.compress(bytes(MIB)) for _ in range(size // MIB)]) + packer.flush()


def sending(body: bytes, *encodings: str) -> Behaviour:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
    head += "".join(f"Content-Encoding: {encoding}\r\n" for encoding in encodings)

    def answer(connection: socket.socket, _stop: threading.Event) -> None:
        connection.recv(65536)
        connection.sendall(head.encode() + b"\r\n" + body)
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):  # what was not read would break the connection before the answer is read
            pass

    return answer


def awaited_subjects(url: str) -> list[str]:
    async def ask() -> list[str]:
        async with AsyncRegistry(url) as registry:
            return await registry.subjects()

    return asyncio.run(ask())


def blocking_subjects(url: str) -> list[str]:
    with Registry(url) as registry:
        return registry.subjects()


def imported(url: str) -> Any:
    return RestSource(url, timeout=30).read_contents(TransferReport())


def sent(url: str) -> None:
    upload_export(url, ["{}"], TransferReport(), security=Security(), timeout=30, dry_run=True, modes=False)


def require_little_memory(read: Callable[[str], Any], behaviour: Behaviour, match: str) -> None:
    with serving(behaviour) as url:
        tracemalloc.start()
        try:
            with pytest.raises((UnreadableResponse, Unreachable), match=match):
                read(url)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 64 * MIB, f"{peak / MIB:.0f} MiB"


@pytest.mark.parametrize("read", [blocking_subjects, awaited_subjects, imported, sent])
def test_an_answer_that_expands_without_bounds_costs_little_memory(read: Callable[[str], Any]) -> None:
    bomb = zeros(128 * MIB)
    require_little_memory(read, sending(bomb, "gzip"), r"expands more than 250 times: [\d,]+ bytes received")
    for encodings in (["gzip, gzip"], ["gzip", "GZIP"]):
        require_little_memory(read, sending(gzip.compress(bomb), *encodings), r"has 2 content encodings \(gzip, gzip\)")
    require_little_memory(read, sending(bomb, ", ".join(["deflate"] * 9)), "has 9 content encodings")


@pytest.mark.parametrize("read", [blocking_subjects, awaited_subjects])
def test_an_answer_that_is_not_what_its_encoding_says_is_unreadable(read: Callable[[str], Any]) -> None:
    with serving(sending(b"[]", "gzip")) as url, pytest.raises(UnreadableResponse, match="cannot be decoded"):
        read(url)


@pytest.mark.parametrize("read", [blocking_subjects, awaited_subjects])
def test_long_answers_are_read_with_and_without_encoding(read: Callable[[str], list[str]]) -> None:
    body = b'["' + b'orders-value","' * (24 * MIB // 15) + b'"]'
    packed = gzip.compress(body, 1)
    assert len(body) < 250 * len(packed)
    for behaviour in (sending(body), sending(packed, "identity, gzip"), sending(gzip.compress(b'["a"]'), "gzip")):
        with serving(behaviour) as url:
            assert read(url)[0] in {"orders-value", "a"}


def test_an_import_into_a_registry_sends_the_token() -> None:
    report = b'{"done":{},"conflicts":[],"oddities":[]}'
    received: list[bytes] = []

    def record(connection: socket.socket, _stop: threading.Event) -> None:
        received.append(connection.recv(65536, socket.MSG_PEEK))
        sending(report)(connection, _stop)

    with serving(record) as url:
        for security in (Security(token="secret"), Security(token=lambda: "secret")):  # noqa: S106 - of a test
            upload_export(url, ["{}"], TransferReport(), security=security, timeout=30, dry_run=True, modes=False)
    assert [b"authorization: bearer secret\r\n" in request.lower() for request in received] == [True, True]


@pytest.mark.parametrize("announced", [True, False])
def test_a_schema_of_any_size_is_not_read_to_its_end(*, announced: bool) -> None:
    sent_bytes = 0

    def answer(connection: socket.socket, _stop: threading.Event) -> None:
        nonlocal sent_bytes
        connection.recv(65536)
        length = f"Content-Length: {200 * MIB}\r\n" if announced else ""
        connection.sendall(f"HTTP/1.1 200 OK\r\n{length}Connection: close\r\n\r\n".encode())
        for _ in range(200):
            connection.sendall(b"a" * MIB)
            sent_bytes += MIB

    with serving(answer) as url, Registry(url, retries=Retries(attempts=1)) as registry:
        with pytest.raises(UnreadableResponse, match="is larger than 64 MiB"):
            registry.version("a", 1)
        with pytest.raises(UnreadableResponse, match="is larger than 64 MiB"):
            registry.schema_by_id(1)
    assert sent_bytes < (20 * MIB if announced else 200 * MIB)
