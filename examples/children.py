"""Child processes that never outlive their parent, and that end with everything they started themselves."""

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

#: Ends a group of processes when its standard input closes: when the parent is gone, however that happened.
WATCHER: Final = 'read _; kill -TERM -"$0" 2>/dev/null; sleep 5; kill -KILL -"$0" 2>/dev/null'


class Child:
    """A running program in a session of its own: Ctrl-C reaches the parent alone, which stops it in order."""

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
        """The number of the process, and of its group."""
        return self.process.pid

    @property
    def running(self) -> bool:
        """Whether the program is there."""
        return self.process.poll() is None

    def stop(self, number: signal.Signals = signal.SIGTERM, *, within: float = GONE_WITHIN) -> None:
        """End the program and its children: asked first, forced after a while; harmless when it has ended."""
        if self.running:
            signal_group(self.pid, number)
            try:
                self.process.wait(within)
            except subprocess.TimeoutExpired:
                signal_group(self.pid, signal.SIGKILL)
                self.process.wait()
        signal_group(self.pid, signal.SIGKILL)  # what it may have left behind
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
    """Send a signal to a whole group of processes; one that is gone is fine."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
