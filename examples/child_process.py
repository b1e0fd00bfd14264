"""Child processes that end with their parent, together with all processes that they started."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

__all__ = ["ChildProcess", "signal_group"]

STOP_TIMEOUT_SECONDS: Final = 10.0

#: Ends a process group when its standard input closes, that is, as soon as the parent has ended.
WATCHER_SCRIPT: Final = 'read _; kill -TERM -"$0" 2>/dev/null; sleep 5; kill -KILL -"$0" 2>/dev/null'


class ChildProcess:
    """A running program in its own session: Ctrl-C reaches only the parent, which stops it."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        cwd: Path | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | IO[Any] = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = None,
        stderr: int | IO[Any] | None = None,
    ) -> None:
        arguments = [str(word) for word in command]
        self.process = subprocess.Popen(
            arguments, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
        )
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", WATCHER_SCRIPT, str(self.process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        """The id of the process, and of its process group."""
        return self.process.pid

    @property
    def running(self) -> bool:
        """True while the program runs."""
        return self.process.poll() is None

    def stop(self, signal_number: signal.Signals = signal.SIGTERM, *, timeout: float = STOP_TIMEOUT_SECONDS) -> None:
        """End the program and its children with the signal, then with SIGKILL; do nothing if it has ended."""
        if self.running:
            signal_group(self.pid, signal_number)
            try:
                self.process.wait(timeout)
            except subprocess.TimeoutExpired:
                signal_group(self.pid, signal.SIGKILL)
                self.process.wait()
        signal_group(self.pid, signal.SIGKILL)  # any processes that it left behind
        signal_group(self._watcher.pid, signal.SIGKILL)
        self._watcher.wait()
        for stream in (self._watcher.stdin, self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def signal_group(group: int, signal_number: signal.Signals) -> None:
    """Send a signal to a process group; a group that has ended is ignored."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal_number)
