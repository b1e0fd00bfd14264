"""Configuration files of the service that are read again when they change."""

from __future__ import annotations

import errno
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, Generic, TypeVar

from contractlog.compatibility.errors import UsageError
from contractlog.registry.file_stamps import file_stamp, open_regular_file

__all__ = ["ReloadedFile", "read_file_text", "unreadable_file_error"]

T = TypeVar("T")
_LOG: Final = logging.getLogger("contractlog.registry.access")
_MAX_BYTES: Final = 16 * 1024 * 1024
_POLL_SECONDS: Final = 1.0


def read_file_text(path: Path) -> str:
    """Read the text of a file.

    Raises:
        OSError: it cannot be read, is not a regular file, or is too large.
        UnicodeDecodeError: it is not UTF-8.
    """
    with open_regular_file(path) as file:
        content = file.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise OSError(errno.EFBIG, f"it is larger than {_MAX_BYTES:,} bytes")
    return content.decode()


def unreadable_file_error(path: Path, error: OSError | UnicodeDecodeError, noun: str = "users") -> UsageError:
    """Return the error for an unreadable file; for a missing one of users, it says how to create it."""
    if isinstance(error, UnicodeDecodeError):
        return UsageError(f"the {noun} file `{path}` cannot be read: it is not UTF-8 text")
    missing = isinstance(error, FileNotFoundError) and noun == "users"
    hint = "; `contractlog users add NAME --file FILE` makes one" if missing else ""
    return UsageError(f"the {noun} file `{path}` cannot be read: {error.strerror}{hint}")


class ReloadedFile(Generic[T]):
    """The parsed content of a file; checked for changes every second.

    If a changed file is invalid, the previous content stays in force, and an error is logged.

    Args:
        path: of the file.
        parse: parses its text; raises ``ValueError`` if it is invalid.
        noun: what the file has, for messages.
        clock: seconds.

    Raises:
        UsageError: the file cannot be used.
    """

    def __init__(
        self, path: str, parse: Callable[[str], T], noun: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = Path(path)
        self._parse = parse
        self._noun = noun
        self._clock = clock
        self._checked_at = clock()
        self._stamp_of_loaded = file_stamp(self._path)
        try:
            self._content = parse(read_file_text(self._path))
        except (OSError, UnicodeDecodeError) as error:
            raise unreadable_file_error(self._path, error, noun) from None
        except ValueError as error:
            raise UsageError(f"the {noun} file {path} cannot be used: {error}") from None

    @property
    def content(self) -> T:
        """The current content."""
        now = self._clock()
        if now - self._checked_at >= _POLL_SECONDS:
            self._checked_at = now
            self._reload_if_changed()
        return self._content

    def _reload_if_changed(self) -> None:
        stamp = file_stamp(self._path)
        if stamp == self._stamp_of_loaded:
            return
        self._stamp_of_loaded = stamp
        try:
            self._content = self._parse(read_file_text(self._path))
        except (OSError, ValueError) as error:
            _LOG.error("the %s file %s cannot be used, so those known before stay: %s", self._noun, self._path, error)
        else:
            _LOG.info("the %s file %s was read again", self._noun, self._path)
