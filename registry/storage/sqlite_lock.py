"""Lock of a SQLite file, so that one process uses it at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import URL

from contractlog.compatibility.errors import UsageError
from contractlog.registry.storage.engines import USE_POSTGRESQL, is_in_memory

__all__ = ["FileInUse", "lock_sqlite_file"]


class FileInUse(UsageError):
    """Another process uses the SQLite file."""


@contextmanager
def lock_sqlite_file(url: URL) -> Iterator[None]:
    """Lock a SQLite file for this process; other databases need no lock.

    The operating system releases the lock when the process ends.

    Raises:
        UsageError: another process has locked it, or the folder is not writable.
    """
    if url.get_backend_name() != "sqlite" or is_in_memory(url):
        yield
        return
    path = f"{url.database}-lock"
    handle = _open_locked(path, url)
    try:
        yield
    finally:
        with suppress(OSError):
            if not os.path.exists(str(url.database)):  # noqa: PTH110 - no database was created, so no lock file is left
                os.unlink(path)  # noqa: PTH108 - as above
            os.close(handle)


def _open_locked(path: str, url: URL) -> int:
    """Return a locked handle of the lock file; a file that was unlinked meanwhile does not count."""
    while True:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UsageError(f"the database {url.database} cannot be used: {error.strerror}") from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(handle), os.stat(path)):  # noqa: PTH116 - beside its counterpart for handles
                return handle
        except FileNotFoundError:
            pass  # unlinked: try again
        except OSError:
            os.close(handle)
            message = f"another process uses the database {url.database}. {USE_POSTGRESQL}"
            raise FileInUse(message, file=url.database) from None
        os.close(handle)
