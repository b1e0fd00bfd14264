"""The recorder of requests parses them correctly, however they are split."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from support.registry import serve_in_thread
from support.request_recorder import record_requests, take_request

pytestmark = pytest.mark.e2e

FIRST = (
    b"POST /compatibility/subjects/t/versions?a=%2F HTTP/1.1\r\nHost: r\r\nContent-Length: 4\r\nX-Y: z\r\n\r\n{\r\n}"
)
SECOND = b"GET /subjects HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize("cut", range(1, len(FIRST)))
def test_a_request_is_read_once_it_is_whole(cut: int) -> None:
    assert take_request(FIRST[:cut]) is None
    found = take_request(FIRST + SECOND[:cut])
    assert found is not None
    request, rest = found
    assert (request.line, request.body) == ("POST /compatibility/subjects/t/versions?a=%2F", b"{\r\n}")
    assert (request.headers["x-y"], rest) == ("z", SECOND[:cut])


def test_missing_requests_are_reported_and_responses_are_unchanged(tmp_path: Path) -> None:
    with serve_in_thread(f"sqlite:///{tmp_path / 'registry.db'}") as url, record_requests(url) as seen:
        answers = [sent(address, SECOND + SECOND) for address in (url, seen.url)]
        assert answers[0] == answers[1] == b"[][]"
    assert seen.lines() == ["GET /subjects", "GET /subjects"]
    assert seen.missing([r"GET /subjects", r"GET /subject", r"GET /subjects/.*"]) == [
        r"GET /subject",
        r"GET /subjects/.*",
    ]


def sent(url: str, request: bytes) -> bytes:
    """Send bytes over one connection; returns the bodies of the two answers."""
    host, _, port = url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request)
        answer = b""
        while answer.count(b"\r\n\r\n[]") < 2:
            part = connection.recv(65_536)
            assert part, answer
            answer += part
    return b"".join(part[:2] for part in answer.split(b"\r\n\r\n")[1:])
