"""A new registry for each benchmark: ``contractlog serve`` with a database in a file."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["run_registry"]


@contextmanager
def run_registry() -> Iterator[str]:
    """Run ``contractlog serve`` on a free port; yield its URL once it listens."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "contractlog.clients.cli.main", "serve", "--port", "0"]
        process = subprocess.Popen(
            [*command, "--database-url", f"sqlite:///{folder}/registry.db"], stderr=subprocess.PIPE, text=True
        )
        try:
            line = process.stderr.readline() if process.stderr else ""
            address = re.search(r"https?://\S+:\d+", line)
            if address is None:
                raise SystemExit(f"the registry did not start: {line}")
            yield address[0]
        finally:
            process.terminate()
            process.communicate(timeout=20)
