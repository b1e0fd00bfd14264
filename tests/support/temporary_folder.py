"""Folder for the temporary files of tests: in memory if there is room, which saves time."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["disk_folder", "use_memory"]

IN_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - files in it are created by ``tempfile``
ON_DISK: Final = Path("/var/tmp")  # noqa: S108 - as above
NEEDED: Final = 4 * 1024**3  #: bytes; the tests use a part of it


@contextmanager
def disk_folder() -> Iterator[Path]:
    """Create a folder on a disk, where commits take some time, as for users."""
    with tempfile.TemporaryDirectory(dir=ON_DISK) as folder:
        yield Path(folder)


def use_memory(folder: Path = IN_MEMORY) -> None:
    """Make ``tempfile`` and child processes use a folder in memory, unless ``TMPDIR`` names one.

    Nothing changes if the folder has little room, or forbids programs: servers are started from temporary folders.
    """
    if "TMPDIR" in os.environ or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        return
    disk = os.statvfs(folder)
    if disk.f_flag & os.ST_NOEXEC or disk.f_bavail * disk.f_frsize < NEEDED:
        return
    os.environ["TMPDIR"] = str(folder)
    tempfile.tempdir = None  # it is determined again
