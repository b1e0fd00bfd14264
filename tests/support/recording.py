"""What a client really sends: a listener that hands bytes on, both ways and unchanged, and reads the requests."""

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

PART: Final = 65_536


@dataclass(frozen=True, slots=True)
class Request:
    """One request, as it came."""

    method: str
    target: str  #: path and query, still encoded
    headers: dict[str, str]  #: names in lower case
    body: bytes

    @property
    def line(self) -> str:
        """Method and target, as the facts list them."""
        return f"{self.method} {self.target}"


@dataclass(slots=True)
class Seen:
    """The requests that have come so far; a request is here before its answer is anywhere."""

    url: str = ""
    requests: list[Request] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Return every request's method and target, in their order."""
        return [request.line for request in self.requests]

    def missing(self, patterns: Sequence[str]) -> list[str]:
        """Return those patterns that no request matches as a whole."""
        lines = self.lines()
        return [pattern for pattern in patterns if not any(re.fullmatch(pattern, line) for line in lines)]


@contextmanager
def recorded(url: str) -> Iterator[Seen]:
    """Stand in front of a server; what comes to the URL that this yields is recorded."""
    parts = urlsplit(url)
    seen = Seen()
    upstream = (parts.hostname or "", parts.port or 0)

    class Conversation(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(upstream) as server:
                back = threading.Thread(target=hand_on, args=(server, self.request))
                back.start()
                pending = b""
                while part := receive(self.request):
                    pending += part
                    while found := take(pending):
                        request, pending = found
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


def take(data: bytes) -> tuple[Request, bytes] | None:
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
    """Return what comes next; nothing where the other side is gone."""
    try:
        return connection.recv(PART)
    except OSError:
        return b""


def hand_on(source: socket.socket, target: socket.socket) -> None:
    """Hand on what comes, until it ends."""
    while part := receive(source):
        try:
            target.sendall(part)
        except OSError:
            return
    half_close(target)


def half_close(connection: socket.socket) -> None:
    """Say that nothing more will be sent."""
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        return
