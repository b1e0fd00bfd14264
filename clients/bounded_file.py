"""Files from elsewhere, such as a pull request: read only if they are regular files of a bounded size."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final

__all__ = ["read_bounded_file"]

_NON_BLOCKING: Final = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)  #: a pipe without a writer blocks


def read_bounded_file(path: Path, maximum: int) -> bytes:
    """Return the content of a regular file of at most ``most`` bytes; links are followed.

    Raises:
        OSError: it cannot be read, is larger, or is a folder, a pipe, a socket or a device.
    """
    descriptor = os.open(path, os.O_RDONLY | _NON_BLOCKING)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        content = file.read(maximum + 1)
    if len(content) > maximum:
        raise OSError(errno.EFBIG, f"it is larger than {maximum:,} bytes", str(path))
    return content
