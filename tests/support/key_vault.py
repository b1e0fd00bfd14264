"""An HTTPS endpoint with the requests of Azure Key Vault for RSA keys; it records them."""

from __future__ import annotations

import base64
import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from support.tls import Pair

OAEP = padding.OAEP(padding.MGF1(SHA256()), SHA256(), None)


class KeyVault:
    """A vault: a key for each name, and the requests that were made."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.versions = dict(names)
        self.keys = {name: rsa.generate_private_key(65_537, 2_048) for name in names}
        self.requests: list[tuple[str, str, Any]] = []
        self.host = ""

    def respond(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """Return the status and the body of a response."""
        _, resource, name, *rest = path.partition("?")[0].split("/")
        if resource != "keys" or name not in self.keys:
            return 404, {"error": {"code": "KeyNotFound", "message": "A key with this name was not found"}}
        key_id = f"https://{self.host}/keys/{name}/{self.versions[name]}"
        if method == "GET":
            numbers = self.keys[name].public_key().public_numbers()
            members = {"kid": key_id, "kty": "RSA", "key_ops": ["encrypt", "decrypt"]}
            return 200, {"key": {**members, "n": _encode(numbers.n), "e": _encode(numbers.e)}, "attributes": {}}
        if rest[-1] != "decrypt" or body.get("alg") != "RSA-OAEP-256":
            return 400, {"error": {"code": "BadParameter", "message": "not supported"}}
        try:
            plaintext = self.keys[name].decrypt(_decode(body["value"]), OAEP)
        except ValueError:
            return 400, {"error": {"code": "BadParameter", "message": "The parameter is incorrect."}}
        return 200, {"kid": key_id, "value": base64.urlsafe_b64encode(plaintext).rstrip(b"=").decode()}


@contextmanager
def serve_vault(vault: KeyVault, pair: Pair) -> Iterator[int]:
    """Serve a vault; yield the port."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Log nothing."""

        def do_GET(self) -> None:
            self._respond("GET")

        def do_POST(self) -> None:
            self._respond("POST")

        def _respond(self, method: str) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            challenge = "Authorization" not in self.headers
            status, content = (401, {}) if challenge else vault.respond(method, self.path, body)
            if not challenge:
                vault.requests.append((method, self.path, body))
            encoded = json.dumps(content).encode()
            self.send_response(status)
            if challenge:
                resource = vault.host.partition(".")[2]
                self.send_header(
                    "WWW-Authenticate", f'Bearer authorization="https://login/tenant", resource="https://{resource}"'
                )
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _encode(number: int) -> str:
    return base64.urlsafe_b64encode(number.to_bytes(-(-number.bit_length() // 8), "big")).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
