"""Health check for containers: ask the registry on this machine whether it is ready.

``python -m contractlog.registry.healthcheck`` exits with 0 if it is ready and with 1 if not. It reads the same
``CONTRACTLOG_*`` variables as ``contractlog serve``, so it uses the same port, address, TLS and allowed hosts; it does
not see flags of ``serve``.
"""

from __future__ import annotations

import http.client
import ssl
import sys
from threading import Thread
from typing import Final

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.text.terminal_text import escape_line
from contractlog.registry.http.allowed_hosts import AllowedHosts, is_wildcard
from contractlog.registry.settings import ClientCertificates, Settings

__all__ = ["check_readiness", "main"]

_SECONDS: Final = 2.0  #: for each wait
_ALL_SECONDS: Final = 4.0  #: for the whole check: a server may send a byte each second, a resolver may hang
_READY: Final = "/healthz/ready"
_OK: Final = 200
_MAX_RESPONSE_BYTES: Final = 1_000  #: bytes of a response that are read


def main() -> int:
    """Check the registry that the environment describes; return the exit code."""
    try:
        problem = check_readiness(Settings.from_environment())
    except UsageError as error:
        problem = str(error)
    if problem:
        print(escape_line(problem), file=sys.stderr)  # noqa: T201 - `docker inspect` shows it
    return bool(problem)


def check_readiness(settings: Settings, *, seconds: float = _ALL_SECONDS) -> str:
    """Request readiness; return the problem, or an empty string.

    The request runs on a thread that is left behind when ``seconds`` are over, so that nothing can hold the check.
    """
    problems = [f"the registry does not respond on {settings.host}:{settings.port} within {seconds:g} seconds"]
    thread = Thread(target=lambda: problems.append(_request_readiness(settings)), daemon=True)
    thread.start()
    thread.join(seconds)
    return problems[-1]


def _request_readiness(settings: Settings) -> str:
    host = _local_address(settings.host)
    name = AllowedHosts(settings.allowed_hosts, settings.host).name
    try:
        connection = _open_connection(settings, host)
    except http.client.InvalidURL as error:
        return f"CONTRACTLOG_HOST cannot be `{host}`: {error}"
    try:
        if settings.tls_client_ca and settings.tls_client_certificates is ClientCertificates.REQUIRED:
            connection.connect()  # without a client certificate, a client can only learn that the registry listens
            return ""
        connection.request("GET", _READY, headers={"Host": name} if name else {})
        response = connection.getresponse()
        body = response.read(_MAX_RESPONSE_BYTES).decode("utf-8", "replace")
    except (OSError, UnicodeError, http.client.HTTPException) as error:  # UnicodeError: the host is no name
        return f"the registry does not respond on {host}:{settings.port}: {error}"
    finally:
        connection.close()
    return "" if response.status == _OK else f"the registry responds with {response.status}: {body}"


def _local_address(host: str) -> str:
    """Return the address at which this machine reaches a listener."""
    if is_wildcard(host):
        return "::1" if ":" in host else "127.0.0.1"
    return host


def _open_connection(settings: Settings, host: str) -> http.client.HTTPConnection:
    if not settings.tls_certificate:
        return http.client.HTTPConnection(host, settings.port, timeout=_SECONDS)
    # The certificate is for the names that clients use, and this connection does not leave the machine.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, settings.port, timeout=_SECONDS, context=context)


if __name__ == "__main__":
    sys.exit(main())
