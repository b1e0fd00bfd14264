"""HTTP proxy before a registry that answers 404 to what an older release lacks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import urlsplit

from contractlog.registry.http.release_profiles import Profile

from support.deadlines import WAIT_SECONDS
from support.limited_servers import release_lacks

_MISSING: Final = b'{"error_code":404,"message":"HTTP 404 Not Found"}'
_SCHEMA_REGISTRY: Final = "application/vnd.schemaregistry.v1+json"
_OF_THE_CONNECTION: Final = {"connection", "content-length", "transfer-encoding", "host"}


@contextmanager
def proxy_release(url: str, release: Profile) -> Iterator[tuple[str, list[str]]]:
    """Serve a registry without the endpoints that a release lacks.

    Args:
        url: the registry, which has the response profile of the release.
        release: the release.

    Yields:
        the URL of the proxy, and the requests that it answered with 404 itself.
    """
    address = urlsplit(url).netloc
    rejected: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def forward(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if release_lacks(release, self.command, urlsplit(self.path).path):
                rejected.append(f"{self.command} {self.path}")
                self.respond(404, [("Content-Type", _SCHEMA_REGISTRY)], _MISSING)
                return
            upstream = HTTPConnection(address, timeout=WAIT_SECONDS)
            try:
                headers = {name: value for name, value in self.headers.items() if _is_passed_on(name)}
                upstream.request(self.command, self.path, content or None, headers)
                response = upstream.getresponse()
                passed_on = [(name, value) for name, value in response.getheaders() if _is_passed_on(name)]
                self.respond(response.status, passed_on, response.read())
            finally:
                upstream.close()

        def respond(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
            self.send_response_only(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = forward  # noqa: N815 -- names of http.server

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", rejected
        finally:
            server.shutdown()
            thread.join()


def _is_passed_on(name: str) -> bool:
    return name.lower() not in _OF_THE_CONNECTION
