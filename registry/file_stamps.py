"""Files that the service rereads when they change: users, certificates and keys."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["file_stamp", "open_regular_file"]


def file_stamp(path: str | Path) -> tuple[int, ...]:
    """Return a value that differs after the file was changed or replaced; empty if there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 - follows symbolic links, by which files are often replaced
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


def open_regular_file(path: str | Path) -> BinaryIO:
    """Open a regular file to read, and nothing else.

    Opening a pipe would wait for its writer and stop the event loop, and reading a device may never end.

    Raises:
        OSError: it cannot be opened, or is not a regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file")
    return os.fdopen(handle, "rb")
