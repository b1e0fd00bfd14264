"""Recorder of a client's HTTP requests, which forwards all bytes unchanged."""

from __future__ import annotations

import re
import socket
import socketserver
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

BUFFER_SIZE: Final = 65_536


@dataclass(frozen=True, slots=True)
class Request:
    """A request as received."""

    method: str
    target: str  #: path and query, still encoded
    headers: dict[str, str]  #: names in lower case
    body: bytes

    @property
    def line(self) -> str:
        """Method and target, as the facts list them."""
        return f"{self.method} {self.target}"


@dataclass(slots=True)
class RecordedRequests:
    """The requests so far; a request is recorded before it is forwarded."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return the method and target of each request, in order."""
        return [request.line for request in self.requests]

    def missing(self, patterns: Sequence[str]) -> list[str]:
        """Return those patterns that no request matches as a whole."""
        lines = self.lines()
        return [pattern for pattern in patterns if not any(re.fullmatch(pattern, line) for line in lines)]


@contextmanager
def record_requests(url: str) -> Iterator[RecordedRequests]:
    """Record the requests to the URL that this yields, and forward them to a server."""
    parts = urlsplit(url)
    seen = RecordedRequests()
    upstream = (parts.hostname or "", parts.port or 0)

    class Conversation(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(upstream) as server:
                back = threading.Thread(target=forward, args=(server, self.request))
                back.start()
                pending = b""
                while part := receive(self.request):
                    pending += part
                    while taken := take_request(pending):
                        request, pending = taken
                        seen.requests.append(request)
                    server.sendall(part)
                half_close(server)
                back.join()

    class Listener(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Listener(("127.0.0.1", 0), Conversation) as listener:
        seen.url = f"http://127.0.0.1:{listener.server_address[1]}"
        thread = threading.Thread(target=listener.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield seen
        finally:
            listener.shutdown()
            thread.join()


def take_request(data: bytes) -> tuple[Request, bytes] | None:
    """Return the first request in ``data`` and what follows it; None while it is not whole."""
    head, end, rest = data.partition(b"\r\n\r\n")
    if not end:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    assert "transfer-encoding" not in headers, f"a body in chunks is not read here: {first}"
    length = int(headers.get("content-length", "0"))
    if len(rest) < length:
        return None
    method, target, _ = first.split(" ")
    return Request(method, target, headers, rest[:length]), rest[length:]


def receive(connection: socket.socket) -> bytes:
    """Return the next bytes; none if the connection is closed."""
    try:
        return connection.recv(BUFFER_SIZE)
    except OSError:
        return b""


def forward(source: socket.socket, target: socket.socket) -> None:
    """Forward bytes until the connection is closed."""
    while part := receive(source):
        try:
            target.sendall(part)
        except OSError:
            return
    half_close(target)


def half_close(connection: socket.socket) -> None:
    """Close the sending direction of a connection."""
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return
