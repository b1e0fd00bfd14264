"""Environment of the demo: its folder, registry and broker, and the commands that it runs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from uuid import uuid4

from contractlog.clients import Registry
from contractlog.compatibility.errors import ContractlogError, Unreachable, UsageError

from child_process import ChildProcess
from environment_check import HOST, find_free_port
from file_lock import find_holder, format_stop_instruction, lock_file
from local_kafka import Broker
from terminal_output import TerminalOutput, format_argument, format_command

__all__ = ["EXAMPLES", "DemoEnvironment", "resolve_program"]

EXAMPLES: Final = Path(__file__).resolve().parent
MARKER: Final = ".contractlog-demo"  #: in a folder that the demo may empty
DATABASE: Final = "registry.db"
REGISTRY_PORT: Final = 8081
READY_TIMEOUT_SECONDS: Final = 120.0
MAX_OUTPUT_LINES: Final = 16


class DemoEnvironment:
    """An emptied folder with a registry and a broker, which run until the ``with`` block ends."""

    def __init__(self, folder: Path, output: TerminalOutput) -> None:
        self.folder = folder
        self.output = output
        self.broker = Broker(folder / "kafka", print_line=output.print_indented)
        self.port = find_free_port(REGISTRY_PORT)
        self._exit_stack = ExitStack()

    @property
    def registry_url(self) -> str:
        """The registry's base URL."""
        return f"http://{HOST}:{self.port}"

    @property
    def serve_command(self) -> list[str]:
        """The command that runs the registry."""
        return ["contractlog", "serve", "--port", str(self.port), "--database-url", self._database_url()]

    @property
    def broker_command(self) -> list[str | Path]:
        """The command that runs the broker."""
        return ["python", EXAMPLES / "local_kafka.py", "start", "--folder", self.broker.folder]

    @property
    def environment_variables(self) -> dict[str, str]:
        """The environment variables with the addresses of the registry and the broker."""
        return {
            "CONTRACTLOG_REGISTRY_URL": self.registry_url,
            "CONTRACTLOG_BOOTSTRAP_SERVERS": self.broker.bootstrap_servers,
        }

    @property
    def shell_lines(self) -> list[str]:
        """The shell lines that set these variables and, last, add contractlog to the PATH."""
        return [
            *(f"export {name}={shlex.quote(value)}" for name, value in self.environment_variables.items()),
            f'export PATH={shlex.quote(str(Path(sys.executable).parent))}:"$PATH"',
        ]

    def __enter__(self) -> Self:
        self._prepare_folder()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._exit_stack.close()

    def start_registry(self) -> None:
        """Run the registry until the ``with`` block ends.

        If another program takes the port first, the registry runs on another one.

        Raises:
            Unreachable: it does not start; the message has the path of its log.
        """
        log = self.folder / "registry.log"
        while not self._start_registry(log):
            self.port = find_free_port()

    def _start_registry(self, log: Path) -> bool:
        """Return True once the registry responds, or False if another one responds at its port."""
        self.output.print_command(self.serve_command)
        cluster_id = f"demo-{uuid4()}"  # another program may have taken the port since it was free
        child = ChildProcess(
            resolve_program(self.serve_command),
            env={**os.environ, "CONTRACTLOG_CLUSTER_ID": cluster_id},
            stdout=self._exit_stack.enter_context(log.open("wb")),
            stderr=subprocess.STDOUT,
        )
        self._exit_stack.enter_context(child)
        deadline = time.monotonic() + READY_TIMEOUT_SECONDS
        with Registry(self.registry_url) as registry:
            while child.running and time.monotonic() < deadline:
                try:
                    return cluster_id in registry.clusters().values()
                except Unreachable:
                    time.sleep(0.1)
                except ContractlogError:  # another program
                    return False
        if not child.running and find_free_port(self.port) != self.port:
            return False
        raise Unreachable(f"the registry did not start: {_read_last_line(log)} (its log is {log})")

    def start_broker(self) -> None:
        """Run the broker until the ``with`` block ends."""
        self.output.print_command(self.broker_command)
        self._exit_stack.enter_context(self.broker)

    @property
    def command_environment(self) -> dict[str, str]:
        """The environment of commands: the addresses, and nothing of a git repository around the demo."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return {**inherited, **self.environment_variables, "PYTHONUNBUFFERED": "1"}

    def run_command(
        self,
        *command: str | Path,
        expected: Collection[int] = (0,),
        draws_progress: bool = False,
        folder: Path | None = None,
        variables: Mapping[str, str] | None = None,
        max_lines: int | None = None,
    ) -> None:
        """Print a command, run it, and print its output; on a terminal, it may draw progress itself.

        Raises:
            ContractlogError: the command ended with an unexpected exit code.
        """
        self.output.print_command(command)
        environment = {**self.command_environment, **(variables or {})}
        stderr = None if draws_progress and self.output.is_terminal else subprocess.STDOUT
        with ChildProcess(
            resolve_program(command), cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=stderr
        ) as child:
            line_count, limit = 0, max_lines or MAX_OUTPUT_LINES
            for line_count, line in enumerate(child.process.stdout or (), start=1):
                if line_count <= limit:
                    self.output.print_indented(line.decode(errors="replace"))
            if line_count > limit:
                self.output.print_indented(f"… and {line_count - limit:,} more lines")
            code = child.process.wait()
        if code not in expected:
            raise ContractlogError(f"`{format_command(command)}` ended with the unexpected exit code {code}")

    def _prepare_folder(self) -> None:
        """Stop a broker that an earlier run left behind, and empty the folder.

        Raises:
            UsageError: the folder has other files, or a demo or registry is running in it.
        """
        if self.folder.exists() and any(self.folder.iterdir()) and not (self.folder / MARKER).exists():
            raise UsageError(f"{self.folder} contains files that are not the demo's: name another --folder")
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / MARKER).touch()
        try:
            self._exit_stack.enter_context(lock_file(self.folder / MARKER, wait=False))
        except BlockingIOError:
            raise UsageError(
                f"another demo is running in {self.folder}: wait for it, or name another --folder"
            ) from None
        self._reject_running_registry()
        self.broker.stop_left_over()
        for old in self.folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old)
            elif old.name != MARKER:
                old.unlink()

    def _reject_running_registry(self) -> None:
        holder_name = find_holder(self.folder / f"{DATABASE}-lock")
        if holder_name is not None:
            raise UsageError(
                f"{holder_name} serves a registry from {self.folder / DATABASE}, which the demo would delete: "
                f"{format_stop_instruction(holder_name)}, or name another --folder"
            )

    def _database_url(self) -> str:
        path = self.folder / DATABASE
        current_folder = Path.cwd()
        return f"sqlite:///{path.relative_to(current_folder) if path.is_relative_to(current_folder) else path}"


def resolve_program(command: Sequence[str | Path]) -> list[str | Path]:
    """Return the command with its program taken from this Python's folder, if it is there."""
    program = Path(sys.executable).with_name(str(command[0]))
    return [program if program.exists() else command[0], *map(format_argument, command[1:])]


def _read_last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "the log is empty"
