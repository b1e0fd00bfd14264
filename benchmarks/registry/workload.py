"""Requests of the benchmarks: ten versions per subject, each of which adds a field with a default."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import urllib.request
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

from load_generator import format_post

CONNECTIONS, VERSIONS_PER_SUBJECT = 64, 10


def create_request_body(subject: int, number: int) -> bytes:
    """Return the request body of a version; each adds a field with a default."""
    fields = [{"name": "id", "type": "string"}] + [
        {"name": f"field_{index}", "type": ["null", "long"], "default": None, "doc": f"of subject {subject}"}
        for index in range(number)
    ]
    return json.dumps(
        {"schema": json.dumps({"type": "record", "name": "Order", "namespace": f"ns{subject}", "fields": fields})}
    ).encode()


def generate_registrations(connection_index: int, run: str, prefix: str = "") -> Iterator[bytes]:
    """Yield the requests that register ten versions of one subject after another."""
    for subject in itertools.count():
        name = f"{run}-{connection_index}-{subject}"
        for number in range(1, VERSIONS_PER_SUBJECT + 1):
            yield format_post(
                f"{prefix}/subjects/{name}/versions", create_request_body(connection_index * 100_000 + subject, number)
            )


def register_schema(port: int, subject: str, body: bytes, authorization: str = "Basic Og==", prefix: str = "") -> int:
    """Register one schema, and return its id."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{prefix}/subjects/{subject}/versions",
        body,
        {"Content-Type": "application/json", "Authorization": authorization},
    )
    with urllib.request.urlopen(request) as response:  # noqa: S310
        schema_id: int = json.load(response)["id"]
        return schema_id


def fetch(port: int, path: str, authorization: str = "Basic Og==") -> bytes:
    """Fetch the body of a response."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Authorization": authorization})
    with urllib.request.urlopen(request) as response:  # noqa: S310 - our own server
        body: bytes = response.read()
        return body


def create_user(folder: Path) -> tuple[str, str]:
    """Create a users file with a user who has all permissions; return its path and the user's header."""
    file = str(folder / "users.toml")
    permission_options = ["--read", "*", "--write", "*", "--generate", "--file", file]
    command = [sys.executable, "-m", "contractlog.clients.cli.main", "users", "add", "ci", *permission_options]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return file, f"Basic {b64encode(f'ci:{result.stdout.split()[0]}'.encode()).decode()}"
