"""A folder of schema files in which tests run the command line, as CI does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from contractlog.clients import Registry

from support.command_line import run_verb

ID = {"name": "id", "type": "long"}
NOTE = {"name": "note", "type": ["null", "string"], "default": None}
TOTAL = {"name": "total", "type": "double"}


def order(*fields: dict[str, Any]) -> str:
    return json.dumps({"type": "record", "name": "Order", "fields": [ID, *fields]}, indent=2)


class Gate:
    """A folder of schema files, and the command run in it."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url
        self.topic = f"gate-{uuid4().hex[:10]}"

    @property
    def subject(self) -> str:
        return f"{self.topic}-value"

    def put(self, name: str, text: str) -> str:
        """Write a file; ``{}`` in its name is the topic."""
        path = self.folder / name.format(self.topic)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return str(path.relative_to(self.folder))

    def run(self, *arguments: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command in this process: quick, and the same code."""
        return run_verb(arguments, folder=self.folder, environment={"CONTRACTLOG_REGISTRY_URL": url or self.url})

    def process(self, *arguments: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
        """Run the command as CI does, in a process: for runs at the same time, and for what happens to a process."""
        environment = os.environ | {"CONTRACTLOG_REGISTRY_URL": url or self.url}
        command = [sys.executable, "-m", "contractlog.clients.cli.main", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, env=environment, timeout=180, check=False
        )


@pytest.fixture
def gate(tmp_path: Path, registry_url: str) -> Gate:
    return Gate(tmp_path, registry_url)


@pytest.fixture
def server(registry_url: str) -> Iterator[Registry]:
    with Registry(registry_url) as registry:
        yield registry


def told(done: subprocess.CompletedProcess[str], code: int) -> str:
    """Return the result of a run that ended as expected, without a traceback."""
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout
