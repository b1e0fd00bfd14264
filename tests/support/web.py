"""Web servers other than the registry: one with pages of other origins, and a TLS proxy."""

from __future__ import annotations

import http.client
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.tls import Pair

__all__ = ["Proxy", "pages", "proxy"]

_PAGE = b"<!doctype html><title>page</title>"
_HOP_BY_HOP = {"connection", "host", "keep-alive", "transfer-encoding"}


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: browsers leave connections whenever they like."""


class _Pages(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(_PAGE)))
        self.end_headers()
        self.wfile.write(_PAGE)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
        """Say nothing."""


class _Proxy(_Pages):
    backend: str  #: host:port, which is also sent as ``Host``, as proxies do unless told otherwise

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        connection = http.client.HTTPConnection(self.backend, timeout=60)
        try:
            connection.request(self.command, self.path, body or None, headers | {"Host": self.backend})
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_PUT = do_DELETE = do_OPTIONS = do_GET  # noqa: N815 - the names are looked up


@contextmanager
def pages() -> Iterator[int]:
    """Serve an empty page at every path; yield the port."""
    with _run_server(_Pages, None) as port:
        yield port


@dataclass
class Proxy:
    """A proxy that terminates TLS; its backend (``host:port``) may be set later."""

    port: int
    handler: type[_Proxy]

    def forward_to(self, backend: str) -> None:
        """Set the backend."""
        self.handler.backend = backend


@contextmanager
def proxy(pair: Pair) -> Iterator[Proxy]:
    """Run a proxy that terminates TLS in front of a backend."""
    handler = type("Handler", (_Proxy,), {})
    with _run_server(handler, pair) as port:
        yield Proxy(port, handler)


@contextmanager
def _run_server(handler: type[BaseHTTPRequestHandler], pair: Pair | None) -> Iterator[int]:
    with _Server(("127.0.0.1", 0), handler) as server:
        if pair is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pair.certificate, pair.key)
            # Handshakes belong to the threads of connections, so that an idle one does not delay the others.
            server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()
