"""File locks that are released when their process ends, and whose holder can be found."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

__all__ = ["holder", "how_to_stop", "locked"]


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a file lock; it is released when the process ends, for whatever reason.

    Raises:
        BlockingIOError: another process holds it, and ``wait`` is false.
    """
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def holder(path: Path) -> str | None:
    """Return the holder of a file's lock, as ``process 4711``; None if it is free or there is no file."""
    if not path.exists():
        return None
    try:
        with locked(path, wait=False):
            return None
    except BlockingIOError:
        number = _process(path)
    return "another process" if number is None else f"process {number}"


def how_to_stop(who: str) -> str:
    """Return the instruction for stopping a holder."""
    number = who.removeprefix("process ")
    return "stop it with Ctrl-C where it runs" + (f" or `kill {number}`" if number.isdecimal() else "")


def _process(path: Path) -> int | None:
    """Return the holder's process id from Linux's lock table; other systems have none."""
    inode = path.stat().st_ino
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode) and int(words[4]) > 0:
                return int(words[4])
    return None
