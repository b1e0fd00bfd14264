"""Environment of the demo: its folder, the registry and broker in it, and the commands run on them."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from locks import holder, how_to_stop, locked

from contractlog.clients import Registry
from contractlog.compatibility.errors import ContractlogError, Unreachable, UsageError

from children import Child
from local_kafka import Broker
from preflight import HOST, free_port
from talk import Talk, from_here, spelled

__all__ = ["EXAMPLES", "Stage", "runnable"]

EXAMPLES: Final = Path(__file__).resolve().parent
MARK: Final = ".contractlog-demo"  #: marks a folder that the demo may empty
DATABASE: Final = "registry.db"
REGISTRY_PORT: Final = 8081
READY_WITHIN: Final = 120.0
MOST_LINES: Final = 16


class Stage:
    """A fresh folder with a registry and a broker; both end with the ``with`` block, the folder stays."""

    def __init__(self, folder: Path, talk: Talk) -> None:
        self.folder = folder
        self.talk = talk
        self.broker = Broker(folder / "kafka", say=talk.tell)
        self.port = free_port(REGISTRY_PORT)
        self._open = ExitStack()

    @property
    def registry_url(self) -> str:
        """The registry's base URL."""
        return f"http://{HOST}:{self.port}"

    @property
    def serve(self) -> list[str]:
        """The command that runs the registry."""
        return ["contractlog", "serve", "--port", str(self.port), "--database-url", self._database()]

    @property
    def run_broker(self) -> list[str | Path]:
        """The command that runs the broker."""
        return ["python", EXAMPLES / "local_kafka.py", "start", "--folder", self.broker.folder]

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables by which commands find the registry and the broker."""
        return {
            "CONTRACTLOG_REGISTRY_URL": self.registry_url,
            "CONTRACTLOG_BOOTSTRAP_SERVERS": self.broker.bootstrap_servers,
        }

    @property
    def exports(self) -> list[str]:
        """The shell lines that make registry, broker and, by the last line, contractlog itself available."""
        return [
            *(f"export {name}={shlex.quote(value)}" for name, value in self.environment.items()),
            f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"',
        ]

    def __enter__(self) -> Self:
        self._take_folder()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def start_registry(self) -> None:
        """Run the registry until the ``with`` block ends.

        Raises:
            Unreachable: it does not start; the message has the path of its log.
        """
        log = self.folder / "registry.log"
        self.talk.command(self.serve)
        child = Child(runnable(self.serve), stdout=self._open.enter_context(log.open("wb")), stderr=subprocess.STDOUT)
        self._open.enter_context(child)
        deadline = time.monotonic() + READY_WITHIN
        with Registry(self.registry_url) as registry:
            while child.running and time.monotonic() < deadline:
                try:
                    registry.subjects()
                except Unreachable:
                    time.sleep(0.1)
                else:
                    return
        raise Unreachable(f"the registry did not come up: {_last_line(log)} (its log is {log})")

    def start_broker(self) -> None:
        """Run the broker until the ``with`` block ends."""
        self.talk.command(self.run_broker)
        self._open.enter_context(self.broker)

    def run(self, *words: str | Path, expected: Collection[int] = (0,), long: bool = False) -> None:
        """Show a command, run it, and show its output; a long one may draw its own progress on a terminal.

        Raises:
            ContractlogError: it ended with an unexpected exit code.
        """
        self.talk.command(words)
        environment = {**os.environ, **self.environment, "PYTHONUNBUFFERED": "1"}
        stderr = None if long and self.talk.watched else subprocess.STDOUT
        with Child(runnable(words), env=environment, stdout=subprocess.PIPE, stderr=stderr) as child:
            number = 0
            for number, line in enumerate(child.process.stdout or (), start=1):
                if number <= MOST_LINES:
                    self.talk.tell(line.decode(errors="replace"))
            if number > MOST_LINES:
                self.talk.tell(f"… and {number - MOST_LINES:,} more lines")
            code = child.process.wait()
        if code not in expected:
            raise ContractlogError(f"`{spelled(words)}` ended with exit code {code}, which is not what should happen")

    def _take_folder(self) -> None:
        """Stop the processes that an earlier run left behind, and empty the folder.

        Raises:
            UsageError: the folder is not the demo's, or another demo is running in it.
        """
        if self.folder.exists() and any(self.folder.iterdir()) and not (self.folder / MARK).exists():
            raise UsageError(f"{self.folder} holds files that are not the demo's: name another --folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARK).touch()
        try:
            self._open.enter_context(locked(self.folder / MARK, wait=False))
        except BlockingIOError:
            raise UsageError(
                f"another demo is running in {self.folder}: wait for it, or name another --folder"
            ) from None
        self._refuse_a_running_registry()
        self.broker.stop_left_over()
        for old in self.folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old)
            elif old.name != MARK:
                old.unlink()

    def _refuse_a_running_registry(self) -> None:
        who = holder(self.folder / f"{DATABASE}-lock")
        if who is not None:
            raise UsageError(
                f"{who} serves a registry from {self.folder / DATABASE}, which this would delete: "
                f"{how_to_stop(who)}, or name another --folder"
            )

    def _database(self) -> str:
        path = self.folder / DATABASE
        here = Path.cwd()
        return f"sqlite:///{path.relative_to(here) if path.is_relative_to(here) else path}"


def runnable(words: Sequence[str | Path]) -> list[str | Path]:
    """Return the command with its program taken from this Python's folder."""
    return [Path(sys.executable).with_name(str(words[0])), *map(from_here, words[1:])]


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
