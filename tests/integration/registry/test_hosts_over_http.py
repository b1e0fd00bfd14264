"""Accepted hosts on the wire: HTTP/1.1 and 1.0, several ``Host`` headers, absolute targets."""

from __future__ import annotations

import json
import socket

import httpx2
import pytest

ONE, OTHER = "Host: localhost\n", "Host: attacker.example\n"
CLOSE = "Connection: close\n"


def ask(url: str, head: str) -> tuple[int, int | None]:
    """Send a head without a body; returns the status, and the code in the answer's body."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall((head + "\n").replace("\n", "\r\n").encode())
        answer = connection.makefile("rb").read()
    body = json.loads(answer.partition(b"\r\n\r\n")[2])
    return int(answer.split()[1]), body.get("error_code") if isinstance(body, dict) else None


@pytest.fixture(scope="module")
def known(registry_url: str) -> str:
    """A registry with a schema that is answered from memory."""
    httpx2.post(f"{registry_url}/subjects/s/versions", json={"schema": '"int"'}, timeout=60).raise_for_status()
    httpx2.get(f"{registry_url}/schemas/ids/1", timeout=60).raise_for_status()
    return registry_url


@pytest.mark.parametrize(
    ("line", "headers", "expected"),
    [
        ("HTTP/1.1", ONE, (200, None)),
        ("HTTP/1.1", "Host: LOCALHOST.:1\n", (200, None)),
        ("HTTP/1.1", "", (400, 400)),
        ("HTTP/1.1", ONE + ONE, (400, 400)),
        ("HTTP/1.1", ONE + OTHER, (400, 400)),
        ("HTTP/1.1", OTHER, (403, 40381)),
        ("HTTP/1.1", "Host:\n", (403, 40381)),
        ("HTTP/1.1", "Host: a b\n", (400, 400)),
        ("HTTP/1.0", "", (200, None)),
        ("HTTP/1.0", ONE, (200, None)),
        ("HTTP/1.0", ONE + ONE, (400, 400)),
        ("HTTP/1.0", OTHER, (403, 40381)),
    ],
)
def test_the_host_is_checked_on_every_request(
    known: str, line: str, headers: str, expected: tuple[int, int | None]
) -> None:
    close = CLOSE if line == "HTTP/1.1" else ""
    for path in ("/subjects", "/schemas/ids/1", "/subjects/s/versions/1", "/healthz/live"):
        assert ask(known, f"GET {path} {line}\n{headers}{close}") == expected


@pytest.mark.parametrize(
    ("target", "line", "headers", "expected"),
    [
        ("http://localhost/subjects", "HTTP/1.1", ONE, (200, None)),
        ("http://localhost:1/subjects?x", "HTTP/1.1", OTHER, (200, None)),
        ("http://attacker.example/subjects", "HTTP/1.1", ONE, (403, 40381)),
        ("http://localhost/subjects", "HTTP/1.1", "", (400, 400)),
        ("http://localhost/subjects", "HTTP/1.1", ONE + ONE, (400, 400)),
        ("http://attacker.example/subjects", "HTTP/1.0", "", (403, 40381)),
        ("http://localhost/subjects", "HTTP/1.0", "", (200, None)),
    ],
)
def test_the_host_of_a_target_in_absolute_form_counts(
    known: str, target: str, line: str, headers: str, expected: tuple[int, int | None]
) -> None:
    close = CLOSE if line == "HTTP/1.1" else ""
    assert ask(known, f"GET {target} {line}\n{headers}{close}") == expected


def test_each_request_of_a_connection_is_checked(known: str) -> None:
    host, port = known.removeprefix("http://").split(":")
    heads = [f"GET /schemas/ids/1 HTTP/1.1\n{one}\n" for one in (ONE, OTHER, ONE, OTHER + CLOSE)]
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall("".join(heads).replace("\n", "\r\n").encode())
        answers = connection.makefile("rb").read()
    assert [part[:3] for part in answers.split(b"HTTP/1.1 ")[1:]] == [b"200", b"403", b"200", b"403"]


@pytest.mark.parametrize("trailer", [ONE, OTHER, "Origin: http://attacker.example\n", "Sec-Fetch-Site: cross-site\n"])
def test_data_after_a_chunked_body_is_not_a_header(known: str, trailer: str) -> None:
    body = b'{"schema": "\\"int\\""}'
    head = f"POST /subjects/s HTTP/1.1\n{ONE}{CLOSE}Content-Type: application/json\nTransfer-Encoding: chunked\n"
    status, code = ask(known, f"{head}\n{len(body):x}\n{body.decode()}\n0\n{trailer}")
    assert (status, code) == (200, None)
