"""The work that every server is given: ten versions per subject, each adding a field with a default."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from load import post

CONNECTIONS, VERSIONS = 64, 10


def version(subject: int, number: int) -> bytes:
    """Return the request body of a version; each adds a field with a default."""
    fields = [{"name": "id", "type": "string"}] + [
        {"name": f"field_{one}", "type": ["null", "long"], "default": None, "doc": f"of subject {subject}"}
        for one in range(number)
    ]
    return json.dumps(
        {"schema": json.dumps({"type": "record", "name": "Order", "namespace": f"ns{subject}", "fields": fields})}
    ).encode()


def writer(place: int, run: str, prefix: str = "") -> Iterator[bytes]:
    """Yield the requests that register ten versions of one subject after another."""
    for subject in itertools.count():
        name = f"{run}-{place}-{subject}"
        for number in range(1, VERSIONS + 1):
            yield post(f"{prefix}/subjects/{name}/versions", version(place * 100_000 + subject, number))


def registered(port: int, subject: str, body: bytes, authorization: str = "Basic Og==", prefix: str = "") -> int:
    """Register one schema, and return its id."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{prefix}/subjects/{subject}/versions",
        body,
        {"Content-Type": "application/json", "Authorization": authorization},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        found: int = json.load(answer)["id"]
        return found


def fetched(port: int, path: str, authorization: str = "Basic Og==") -> bytes:
    """Return the body of a response."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": authorization})
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - our own server
        found: bytes = answer.read()
        return found


def user(folder: Path) -> tuple[str, str]:
    """Make a users file with a user who has all permissions; return its path and the user's header."""
    file = str(folder / "users.toml")
    rights = ["--read", "*", "--write", "*", "--generate", "--file", file]
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "users", "add", "ci", *rights]
    made = subprocess.run(command, check=True, capture_output=True, text=True)
    return file, f"Basic {b64encode(f'ci:{made.stdout.split()[0]}'.encode()).decode()}"
