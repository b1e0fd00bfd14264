"""The nodes of a history, which are started, killed and restarted."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from histories.node import IDLE, Shared, Start

_TESTS: Final = Path(__file__).parents[1]
_LISTENS: Final = re.compile(r"http://127\.0\.0\.1:(\d+)")
_PATIENCE: Final = 60.0  #: seconds in which a node starts, or ends


class Forge:
    """One process from which nodes are forked."""

    def __init__(self) -> None:
        environment = os.environ | {"PYTHONPATH": str(_TESTS)}
        command = [sys.executable, "-m", "histories.node"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def start(self, start: Start) -> int:
        """Fork a node and return its process id."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asdict(start)) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


@contextmanager
def forging() -> Iterator[Forge]:
    """Make a forge and end it."""
    forge = Forge()
    try:
        yield forge
    finally:
        forge.close()


@dataclass(slots=True)
class Node:
    """A place for a process that serves the registry."""

    number: int
    forge: Forge
    folder: Path
    database_url: str
    defect: str
    port: int = 0
    pid: int = 0
    shared: Shared = field(init=False)

    def __post_init__(self) -> None:
        self.shared = Shared(self._shared)

    @property
    def _shared(self) -> Path:
        return self.folder / f"shared-{self.number}"

    @property
    def log(self) -> Path:
        """What it says."""
        return self.folder / f"node-{self.number}.log"

    def start(self) -> None:
        """Start a process; it listens when this returns."""
        self.log.touch()
        said = self.log.stat().st_size
        self.shared.phase = IDLE
        self.pid = self.forge.start(Start(self.database_url, self.port, str(self.log), str(self._shared), self.defect))
        until = time.monotonic() + _PATIENCE
        while not (found := _LISTENS.search(self.log.read_text()[said:])):
            assert time.monotonic() < until, f"node {self.number} does not start: {self.log.read_text()[said:]}"
            assert self.runs, f"node {self.number} is gone: {self.log.read_text()[said:]}"
            time.sleep(0.005)
        self.port = int(found[1])

    @property
    def runs(self) -> bool:
        """Whether its process is there."""
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def explain(self) -> None:
        """Let it say in its log what its threads are doing."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGUSR1)

    def stop(self) -> None:
        """End its process as an operator would, if there is one."""
        if self.pid and self.runs:
            self.end(signal.SIGTERM)

    def suspend(self) -> None:
        """Suspend its process; it does nothing more when this returns."""
        os.kill(self.pid, signal.SIGSTOP)
        state = Path(f"/proc/{self.pid}/stat")
        until = time.monotonic() + _PATIENCE
        while state.read_text().rpartition(")")[2].split()[0] not in "Tt":
            assert time.monotonic() < until, f"node {self.number} does not stop"

    def end(self, number: signal.Signals) -> None:
        """Send a signal and wait until the process is gone."""
        os.kill(self.pid, number)
        until = time.monotonic() + _PATIENCE
        while self.runs:
            assert time.monotonic() < until, f"node {self.number} does not end"
            time.sleep(0.002)
