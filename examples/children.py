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

__all__ = ["Child", "signal_group"]

GONE_WITHIN: Final = 10.0

#: Ends a process group when its standard input closes: when the parent has ended, for whatever reason.
WATCHER: Final = 'read _; kill -TERM -"$0" 2>/dev/null; sleep 5; kill -KILL -"$0" 2>/dev/null'


class Child:
    """A running program in a session of its own, so that Ctrl-C reaches only the parent, which stops it."""

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
        words = [str(word) for word in command]
        self.process = subprocess.Popen(
            words, cwd=cwd, env=env, stdin=stdin, stdout=stdout, stderr=stderr, start_new_session=True
        )
        self._watcher = subprocess.Popen(
            ["/bin/sh", "-c", WATCHER, str(self.process.pid)],
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

    def stop(self, number: signal.Signals = signal.SIGTERM, *, within: float = GONE_WITHIN) -> None:
        """End the program and its children: by the signal, then by SIGKILL; harmless if it has ended."""
        if self.running:
            signal_group(self.pid, number)
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                signal_group(self.pid, signal.SIGKILL)
                self.process.wait()
        signal_group(self.pid, signal.SIGKILL)  # processes that it may have left behind
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


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a process group; a group that has ended is ignored."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
