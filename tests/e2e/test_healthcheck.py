"""The container's health check follows the registry's settings for address, port, TLS and hosts."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from contractlog.registry.healthcheck import check_readiness
from contractlog.registry.settings import Settings

from support.registry import run_server, start_server
from support.tls import Authority

pytestmark = pytest.mark.e2e


def environment(settings: dict[str, Any]) -> dict[str, str]:
    return {f"CONTRACTLOG_{name.upper()}": str(value) for name, value in settings.items()}


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


def test_tls_and_allowed_hosts(tmp_path: Path, authority: Authority) -> None:
    pair = authority.server()
    given = {"tls_certificate": pair.certificate, "tls_key": pair.key, "allowed_hosts": "registry.example"}
    with run_server(f"sqlite:///{tmp_path / 'r.db'}", **environment(given)) as url:
        port = port_of(url)
        assert check_readiness(Settings(port=port, **given)) == ""  # type: ignore[arg-type]
        assert "does not respond" in check_readiness(Settings(port=port))  # without TLS
        assert "responds with 403" in check_readiness(Settings(port=port, **given | {"allowed_hosts": "other.example"}))  # type: ignore[arg-type]


def test_certificates_of_clients(tmp_path: Path, authority: Authority) -> None:
    pair = authority.server()
    given = {"tls_certificate": pair.certificate, "tls_key": pair.key, "tls_client_ca": authority.certificate}
    with run_server(f"sqlite:///{tmp_path / 'r.db'}", **environment(given)) as url:
        assert check_readiness(Settings(port=port_of(url), **given)) == ""  # type: ignore[arg-type]


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="no IPv6 on this machine")
def test_an_address_of_ipv6(tmp_path: Path) -> None:
    process, url = start_server(f"sqlite:///{tmp_path / 'r.db'}", arguments=["--host", "::1"])
    try:
        assert url.startswith("http://[::1]:")
        assert check_readiness(Settings(host="::1", port=port_of(url))) == ""
        assert check_readiness(Settings(host="::", port=port_of(url))) == ""
    finally:
        process.terminate()
        process.communicate(timeout=60)


def test_a_missing_listener_is_unhealthy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for host in ("127.0.0.1", "0.0.0.0", "localhost"):
        assert f":{port}" in check_readiness(Settings(host=host, port=port))


@pytest.mark.parametrize("host", ["a b", ".x", f"{'a' * 70}.x"])
def test_a_host_that_is_no_name_is_a_sentence(host: str) -> None:
    assert host in check_readiness(Settings(host=host, port=1))


def test_a_response_that_trickles_does_not_hold_the_check() -> None:
    ended = Event()

    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not ended.wait(0.2):
                connection.sendall(b"X")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        thread = Thread(target=answer, args=(listener,))
        thread.start()
        start_server = time.monotonic()
        problem = check_readiness(Settings(port=listener.getsockname()[1]), seconds=3)
        ended.set()
        assert problem.endswith("within 3 seconds")
        assert time.monotonic() - start_server < 30
        thread.join(timeout=60)


def test_of_a_response_only_the_beginning_is_read() -> None:
    """Something else that listens on the port may send gigabytes."""

    def answer(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(10_000)
            connection.sendall(b"HTTP/1.1 503 Unready\r\n\r\n")
            while True:
                connection.sendall(b"x" * 100_000)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        thread = Thread(target=answer, args=(listener,))
        thread.start()
        assert (
            check_readiness(Settings(port=listener.getsockname()[1]))
            == f"the registry responds with 503: {'x' * 1_000}"
        )
        thread.join(timeout=60)
    assert not thread.is_alive()
