"""Announced bodies that are never sent do not block the server, over a real socket."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from contractlog.registry.http.bounded_protocol import MAX_PIPELINED

from support.deadlines import eventually
from support.registry import create_sqlite, run_server, serve_in_thread

pytestmark = pytest.mark.integration

SECONDS = 1.0
BODY = json.dumps({"schema": '"string"'}).encode()
OVER_THE_LIMIT = 3_000_000


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a registry that waits for bodies for a second; what must arrive in time is sent to ``registry_url``."""
    folder: Path = tmp_path_factory.mktemp("registry")
    with run_server(f"sqlite:///{folder / 'registry.db'}", CONTRACTLOG_BODY_SECONDS=str(SECONDS)) as found:
        yield found


def opened(url: str) -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=60)


def head(length: int, path: str = "/subjects/s/versions") -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", f"Content-Length: {length}")
    return "\r\n".join((*lines, "", "")).encode()


def answered(connection: socket.socket) -> tuple[int, dict[str, object], bytes]:
    """Read until the other side closes; return status, body and the head."""
    received = b""
    while piece := connection.recv(65536):
        received += piece
    before, _, body = received.partition(b"\r\n\r\n")
    found = re.match(rb"HTTP/1.1 (\d+)", before)
    assert found is not None, received
    return int(found[1]), json.loads(body), before.lower()


@pytest.mark.parametrize("length", [len(BODY), OVER_THE_LIMIT], ids=["within", "over"])
@pytest.mark.parametrize("path", ["/subjects/s/versions", "/contractlog/v1/check"])
def test_a_body_that_never_arrives_gets_408_and_closes_the_connection(url: str, length: int, path: str) -> None:
    with opened(url) as connection:
        began = time.monotonic()
        connection.sendall(head(length, path) + BODY[:3])
        status, body, before = answered(connection)
        took = time.monotonic() - began
    assert (status, body["error_code"]) == (408, 408)
    assert body["message"] == "The request was not received completely within 1 seconds; send it again"
    assert b"connection: close" in before
    assert took >= SECONDS * 0.9


@pytest.mark.parametrize(
    ("asked", "begun"),
    [(0, b"GET /subj"), (0, b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n"), (1, b"GET /subj"), (2, b"G")],
)
def test_a_head_that_never_comes_is_408_and_the_end_of_the_connection(url: str, asked: int, begun: bytes) -> None:
    with opened(url) as connection:
        for _ in range(asked):
            connection.sendall(b"GET /schemas/types HTTP/1.1\r\nHost: localhost\r\n\r\n")
            received = b""
            while not received.endswith(b"]"):
                received += connection.recv(65536)
        began = time.monotonic()
        connection.sendall(begun)
        status, body, head = answered(connection)
        took = time.monotonic() - began
    assert (status, body["error_code"]) == (408, 408)
    assert b"connection: close" in head
    assert took >= SECONDS * 0.9


def test_a_connection_without_a_request_gets_no_response(url: str) -> None:
    """Load balancers open connections before they need them, and take an answer that nobody asked for as an error."""
    with opened(url) as connection:
        assert connection.recv(1) == b""


@pytest.mark.parametrize("junk", [b"what is this\r\n\r\n", b"GET /subjects HTTP/9.9\r\n\r\n", b"}"])
def test_requests_before_invalid_data_are_answered_first(url: str, junk: bytes) -> None:
    """As from a client whose content length is too small; nothing is written to a connection that is closed."""
    asked = [
        b"GET /schemas/types HTTP/1.1\r\nHost: localhost\r\n\r\n",
        head(len(BODY), "/subjects/junk/versions") + BODY,
    ]
    for request in asked:
        with opened(url) as connection:
            connection.sendall(request + junk)
            status, _, before = answered(connection)
        assert status == 200
        assert b"connection: close" in before
    with opened(url) as connection:
        connection.sendall(asked[0] * 2 + junk)
        received = b""
        while piece := connection.recv(65536):
            received += piece
        assert received.count(b"HTTP/1.1 200") == 2
    assert httpx2.get(f"{url}/subjects/junk/versions", timeout=60).json() == [1]


@pytest.mark.parametrize("broken", [b"zz\r\n", b"5\r\nab"])
def test_a_body_that_breaks_off_as_no_http_is_400(url: str, broken: bytes) -> None:
    lines = (b"POST /subjects/s/versions HTTP/1.1", b"Host: localhost", b"Transfer-Encoding: chunked", b"", b"")
    with opened(url) as connection:
        connection.sendall(b"\r\n".join(lines) + broken + b"cde!!\r\n")
        assert answered(connection)[:2] == (400, {"error_code": 400, "message": "Invalid HTTP request received."})


@pytest.mark.parametrize(
    ("version", "codings", "status"),
    [
        ("1.1", ["chunked"], 200),
        ("1.1", ["CHUNKED"], 200),
        ("1.1", ["gzip, chunked"], 400),
        ("1.1", ["identity, chunked"], 400),
        ("1.1", ["gzip", "chunked"], 400),
        ("1.0", ["chunked"], 400),
    ],
)
def test_a_body_in_other_transfer_codings_is_400(url: str, version: str, codings: list[str], status: int) -> None:
    lines = [f"POST /subjects/coded/versions HTTP/{version}", "Host: localhost", "Connection: close"]
    lines += [f"Transfer-Encoding: {coding}" for coding in codings]
    chunks = f"{len(BODY):x}\r\n{BODY.decode()}\r\n0\r\n\r\n"
    with opened(url) as connection:
        connection.sendall(("\r\n".join(lines) + "\r\n\r\n" + chunks).encode())
        assert answered(connection)[0] == status


@pytest.mark.parametrize("path", ["/subjects", "/subjects?" + "x" * 65_600])
def test_a_long_head_is_431_though_it_comes_at_once(url: str, path: str) -> None:
    long = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nX-Big: {'x' * (70_000 - len(path))}\r\n\r\n".encode()
    with opened(url) as connection:
        with contextlib.suppress(OSError):
            connection.sendall(long)
        assert answered(connection)[0] == 431


def test_a_large_body_in_one_packet_with_its_head_is_no_long_head(url: str) -> None:
    body = json.dumps({"schema": json.dumps({"type": "int", "doc": "x" * 200_000})}).encode()
    assert httpx2.post(f"{url}/subjects/large/versions", content=body, timeout=60).status_code == 200


def test_a_body_announced_as_too_large_is_rejected_immediately(url: str) -> None:
    with opened(url) as connection:
        connection.sendall(head(OVER_THE_LIMIT)[:-2] + b"Expect: 100-continue\r\n\r\n")
        status, _, before = answered(connection)
    assert status == 413
    assert b"connection: close" in before


def test_an_endless_head_gets_431_and_invalid_http_400(registry_url: str) -> None:
    with opened(registry_url) as connection:
        connection.sendall(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n")
        with contextlib.suppress(OSError):  # it may be closed while this writes
            for number in range(200):
                connection.sendall(f"x-{number}: {'a' * 1_000}\r\n".encode())
                time.sleep(0.001)
        status, body, _ = answered(connection)
    assert (status, body["error_code"]) == (431, 431)
    with opened(registry_url) as connection:
        connection.sendall(b"what is this\r\n\r\n")
        assert answered(connection)[:2] == (400, {"error_code": 400, "message": "Invalid HTTP request received."})


def test_a_connection_that_nothing_is_asked_on_stays_open(url: str) -> None:
    """Longer than clients keep theirs, which is five seconds for many, so that they never write to a closed one."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
    connection.request("GET", "/subjects")
    connection.getresponse().read()
    kept = connection.sock
    time.sleep(6.5)
    connection.request("GET", "/subjects")
    assert connection.getresponse().read() is not None
    assert connection.sock is kept
    connection.close()


def test_a_body_that_trickles_is_cut_off_however_often_something_comes(url: str) -> None:
    with opened(url) as connection:
        connection.sendall(head(OVER_THE_LIMIT))
        connection.settimeout(0.1)

        def receive() -> bytes:
            connection.sendall(b" ")
            try:
                return connection.recv(65536)
            except TimeoutError:
                return b""

        assert eventually(receive).startswith(b"HTTP/1.1 408")


def test_a_body_in_pieces_that_comes_in_time_is_read_and_the_connection_goes_on(registry_url: str) -> None:
    connection = http.client.HTTPConnection(registry_url.removeprefix("http://"), timeout=60)
    for _ in range(2):
        connection.putrequest("POST", "/subjects/s/versions")
        connection.putheader("Content-Length", str(len(BODY)))
        connection.endheaders(BODY[:3])
        time.sleep(0.3)
        kept = connection.sock
        connection.send(BODY[3:])
        answer = connection.getresponse()
        assert (answer.status, json.load(answer)["id"]) == (200, 1)
        assert connection.sock is kept
    connection.close()


def test_long_polling_is_not_cut_off(url: str) -> None:
    began = time.monotonic()
    answer = httpx2.get(f"{url}/contractlog/v1/changes?since=latest", timeout=60)
    since = answer.json()["next"]
    waited = httpx2.get(f"{url}/contractlog/v1/changes?since={since}&wait={2 * SECONDS}", timeout=60)
    assert waited.status_code == 200
    assert time.monotonic() - began >= 2 * SECONDS


@pytest.mark.parametrize("request_line", ["GET /subjects", "POST /no/such/path"])
def test_a_body_that_trickles_after_its_response_is_bounded_too(url: str, request_line: str) -> None:
    with opened(url) as connection:
        lines = (
            f"{request_line} HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            "Content-Length: 9999",
        )
        connection.sendall("\r\n".join((*lines, "", "")).encode())
        assert connection.recv(65536).startswith(b"HTTP/1.1 ")
        connection.settimeout(0.05)
        deadline = time.monotonic() + 30 * SECONDS

        def is_closed() -> bool:
            try:
                connection.sendall(b" ")
                return connection.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        while not is_closed():
            assert time.monotonic() < deadline


def test_a_body_that_ends_after_its_response_leaves_the_connection_open(url: str) -> None:
    with opened(url) as connection:
        connection.sendall(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n")
        answer = b""
        while not answer.endswith(b"]"):
            answer += connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 200")
        connection.sendall(b"{}")
        time.sleep(SECONDS * 1.5)  # longer than a body may take: the limit must not count the pause between requests
        connection.sendall(b"GET /schemas/types HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


CHUNKED = head(0).split(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("begun", "repeated"),
    [
        (b"2\r\n{}\r\n0\r\nX: ", b"a" * 10_000),
        (b"2\r\n{}\r\n0\r\n", b"a" * 10_000),
        (b"2\r\n{}\r\n0\r\n", b"X: a\r\n" * 1_000),
        (b"2;", b"a" * 10_000),
    ],
    ids=["value of a trailer field", "name of a trailer field", "trailer fields", "chunk extension"],
)
def test_what_a_parser_stores_beside_a_body_is_bounded(url: str, begun: bytes, repeated: bytes) -> None:
    sent = 0
    with opened(url) as connection:
        connection.sendall(CHUNKED + begun)
        with contextlib.suppress(ConnectionError):
            while sent < OVER_THE_LIMIT * 10:
                connection.sendall(repeated)
                sent += len(repeated)
        received = b""
        with contextlib.suppress(ConnectionError):
            received = connection.recv(65536)
    assert sent < OVER_THE_LIMIT * 10  # without a limit, all of it is taken
    assert received[:12] in {b"", b"HTTP/1.1 431", b"HTTP/1.1 422"}  # lost if it was reset first


def test_small_chunks_with_a_trailer_field_are_a_body(registry_url: str) -> None:
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY)
    with opened(registry_url) as connection:
        connection.sendall(CHUNKED.replace(b"/s/", b"/small/"))
        connection.sendall(chunks + b"0\r\nX-Trailer: a\r\nConnection: close\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_many_small_chunks_are_no_more_than_their_body(registry_url: str) -> None:
    """Their sizes together are more than a head may have."""
    filler = b"1\r\n \r\n" * 30_000
    chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in BODY)
    with opened(registry_url) as connection:
        connection.sendall(CHUNKED + filler + chunks + b"0\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")


PIPELINED = b"GET /schemas/types HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("upgrade", ["websocket", "h2c"])
@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_the_body_of_a_request_with_upgrade_is_read_and_never_run_as_a_request(
    registry_url: str, upgrade: str, pause: float
) -> None:
    smuggled = b"DELETE /subjects/s HTTP/1.1\r\nHost: localhost\r\n\r\n"
    headers = f"Upgrade: {upgrade}\r\nConnection: Upgrade, HTTP2-Settings\r\n\r\n".encode()
    with opened(registry_url) as connection:
        for body, last in ((BODY, False), (smuggled, False), (BODY, True)):
            connection.sendall(head(len(body))[:-2] + headers)
            time.sleep(pause)  # so that the body usually arrives alone; the responses are the same otherwise
            connection.sendall(body)
            if last:
                connection.sendall(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        received = b""
        while piece := connection.recv(65536):
            received += piece
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"400", b"200", b"200"]
    assert b'"s"' in received.rpartition(b"\r\n\r\n")[2]


def test_pipelined_requests_are_answered_in_order(url: str) -> None:
    with opened(url) as connection:
        connection.sendall(PIPELINED * MAX_PIPELINED)
        received = b""
        while received.count(b"HTTP/1.1 200") < MAX_PIPELINED:
            received += connection.recv(65536)


def test_requests_of_a_connection_that_was_reset_end_without_an_error_in_the_log(tmp_path: Path) -> None:
    reset_at_close = struct.pack("ii", 1, 0)
    with serve_in_thread(create_sqlite(tmp_path / "registry.db")) as own_url:  # checks the log at its end
        for _ in range(20):
            with opened(own_url) as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset_at_close)
                connection.sendall((head(len(BODY)) + BODY) * 5)
        with opened(own_url) as connection:
            connection.sendall(b"GET /subjects HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert connection.recv(65536).startswith(b"HTTP/1.1 200")


def test_pipelined_requests_that_wait_are_bounded(url: str) -> None:
    sent = 0
    with opened(url) as connection:
        connection.settimeout(5)
        with contextlib.suppress(OSError):  # reset by the server, or not taken any more
            while sent < OVER_THE_LIMIT * 10:
                connection.sendall(PIPELINED * 1_000)
                sent += len(PIPELINED) * 1_000
    assert sent < OVER_THE_LIMIT * 10  # without a limit, all of it is taken
