"""Clients that do not read are disconnected, those that read slowly are not; over real sockets."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import httpx2
import pytest

from support.deadlines import WAIT_SECONDS
from support.registry import run_server

pytestmark = pytest.mark.integration

SECONDS: Final = 1.0
COUNT: Final = 16
LENGTH: Final = 900_000


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("registry")
    with run_server(f"sqlite:///{folder / 'registry.db'}", CONTRACTLOG_BODY_SECONDS=str(SECONDS)) as found:
        schema = json.dumps({"type": "record", "name": "R", "doc": "d" * LENGTH, "fields": []})
        with httpx2.Client(base_url=found, timeout=60) as client:
            for number in range(COUNT):
                client.post(f"/subjects/s{number}/versions", json={"schema": schema}).raise_for_status()
        yield found


def request(url: str, path: str) -> socket.socket:
    """Send a request over a connection that receives little at a time."""
    host, port = url.removeprefix("http://").split(":")
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(WAIT_SECONDS)
    connection.connect((host, int(port)))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    return connection


def read_after(url: str, path: str, seconds: float) -> bytes:
    """Send a request, read nothing for a while, and then everything that still arrives."""
    received = b""
    with request(url, path) as connection:
        time.sleep(seconds)
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                received += piece
    return received


def test_a_client_that_does_not_read_is_disconnected(url: str) -> None:
    pauses = [factor * SECONDS for factor in (3, 9, 27)]  # longer ones if the machine is slow
    assert any(not read_after(url, "/schemas", pause).endswith(b"]\r\n0\r\n\r\n") for pause in pauses)


def test_a_client_that_reads_slowly_gets_everything(url: str) -> None:
    received = []
    with request(url, "/schemas?limit=3") as connection:
        while piece := connection.recv(16_384):
            received.append(piece)
            time.sleep(0.02)
    body = b"".join(received)
    assert body.endswith(b"]\r\n0\r\n\r\n")
    assert len(body) > 3 * LENGTH
