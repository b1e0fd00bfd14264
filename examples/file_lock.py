"""File locks that are released when their process ends, and whose holder can be found."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

__all__ = ["find_holder", "format_stop_instruction", "lock_file"]


@contextlib.contextmanager
def lock_file(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a file lock during the block; it is also released when the process ends.

    Raises:
        BlockingIOError: another process holds it, and ``wait`` is false.
    """
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def find_holder(path: Path) -> str | None:
    """Return the holder of a file's lock, as ``process 4711``; None if it is free or there is no file."""
    if not path.exists():
        return None
    try:
        with lock_file(path, wait=False):
            return None
    except BlockingIOError:
        pid = find_holder_pid(path)
    return "another process" if pid is None else f"process {pid}"


def format_stop_instruction(holder_name: str) -> str:
    """Return the instruction for stopping a holder."""
    pid = holder_name.removeprefix("process ")
    return "stop it with Ctrl-C where it runs" + (f" or `kill {pid}`" if pid.isdecimal() else "")


def find_holder_pid(path: Path) -> int | None:
    """Return the holder's process id from Linux's table of locks; None on other systems."""
    inode = path.stat().st_ino
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text().splitlines():
            columns = line.split()
            if columns[1] == "FLOCK" and columns[5].rpartition(":")[2] == str(inode) and int(columns[4]) > 0:
                return int(columns[4])
    return None
