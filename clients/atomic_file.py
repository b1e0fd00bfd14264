"""Files that other processes see complete or not at all.

Nothing is promised for a crash of the machine: the content is not flushed to disk.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["open_atomically"]


@contextmanager
def open_atomically(path: Path, permissions: int = 0o666) -> Iterator[BinaryIO]:
    """Open a new file that replaces ``path`` when the block ends; after an error, ``path`` is as it was.

    Args:
        path: the file to write, in an existing folder.
        permissions: of the file, less those that the umask of the process removes.
    """
    unfinished = path.with_name(f".{os.urandom(8).hex()}.unfinished")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, permissions)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
