"""File locks: held by one process, gone with it however it ends, and open to the question who holds them."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

__all__ = ["holder", "how_to_stop", "locked"]


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a file lock; it goes with the process, however that ends.

    Raises:
        BlockingIOError: somebody else holds it, and ``wait`` is false.
    """
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def holder(path: Path) -> str | None:
    """Return who holds the lock of a file, as ``process 4711``; None when nobody does, or there is no such file."""
    if not path.exists():
        return None
    try:
        with locked(path, wait=False):
            return None
    except BlockingIOError:
        number = _process(path)
    return "another process" if number is None else f"process {number}"


def how_to_stop(who: str) -> str:
    """Return the words that tell how to stop a holder."""
    number = who.removeprefix("process ")
    return "stop it with Ctrl-C where it runs" + (f" or `kill {number}`" if number.isdecimal() else "")


def _process(path: Path) -> int | None:
    """Ask Linux who holds it; other systems do not tell."""
    inode = path.stat().st_ino
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text().splitlines():
            words = line.split()
            if words[1] == "FLOCK" and words[5].rpartition(":")[2] == str(inode) and int(words[4]) > 0:
                return int(words[4])
    return None
