"""Edits of the users file: one at a time, and atomic.

A lock file beside it serializes commands that run at the same time. The new text is written to a temporary file,
flushed to disk, and renamed over the old one, so that servers and crashes see either the old text or the new one.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import tomlkit

from contractlog.compatibility.errors import UsageError
from contractlog.registry.access.passwords import HashedPassword
from contractlog.registry.access.reloaded_file import read_file_text, unreadable_file_error
from contractlog.registry.access.users_file import Users, parse_users

__all__ = [
    "add_user",
    "format_entry",
    "read_users",
    "remove_entry",
    "remove_user",
    "require_file",
    "user_exists_error",
]

_HEAD: Final = "# Who may read and write which subjects; made by `contractlog users`, read again when it changes.\n\n"
_OWNER_ONLY: Final = 0o600
_LOCK_SECONDS: Final = 30.0  #: a change holds the lock for milliseconds
_RETRY_SECONDS: Final = 0.02


def read_users(path: Path) -> tuple[str, Users]:
    """Read a file, and return its text and its users.

    Raises:
        UsageError: it cannot be read, or is invalid.
    """
    try:
        text = read_file_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise unreadable_file_error(path, error) from None
    try:
        return text, parse_users(text)
    except ValueError as error:
        raise UsageError(f"the users file {path} cannot be used: {error}") from None


def format_entry(
    name: str,
    password: HashedPassword | None,
    read: list[str],
    write: list[str],
    *,
    read_keys: Sequence[str] = (),
    write_keys: Sequence[str] = (),
    break_glass: Sequence[str] = (),
) -> str:
    """Format a user as an entry of the file."""
    members = {"password": None if password is None else str(password), "read": read, "write": write}
    members |= {"read_keys": list(read_keys), "write_keys": list(write_keys), "break_glass": list(break_glass)}
    return tomlkit.dumps({"users": {name: {member: value for member, value in members.items() if value}}})


def remove_entry(text: str, name: str) -> str:
    """Return a file's text without one user; everything else stays, comments included."""
    document: dict[str, Any] = tomlkit.parse(text)
    del document["users"][name]
    return tomlkit.dumps(document)


def require_file(path: Path) -> None:
    """Raise unless a path leads to a regular file, or to none yet: a pipe or a device cannot be replaced.

    Raises:
        UsageError: it leads to something else, or nowhere.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unwritable_file_error(path, error) from None
    if not stat.S_ISREG(mode):
        raise UsageError(f"the users file `{path}` cannot be written: it is not a regular file")


def add_user(path: Path, name: str, entry: str, *, replace: bool) -> bool:
    """Add a user, creating the file if it does not exist; return True if an existing user was replaced.

    Raises:
        UsageError: the user exists and ``replace`` is not set, or the file cannot be changed.
    """
    require_file(path)
    _require_valid(path, entry)  # before the lock file is created, as an invalid entry changes nothing
    with _lock(path):
        text, users = read_users(path) if path.exists() else (_HEAD, Users())
        existing = name in users.by_name
        if existing and not replace:
            raise user_exists_error(path, name)
        rest = _remove_entry(path, text, name) if existing else text
        new = f"{rest.rstrip()}\n\n{entry}"
        _verify(path, new, users, name, present=True)
        _write(path, new)
    return existing


def user_exists_error(path: Path, name: str) -> UsageError:
    """Return the error for a user that exists, which says how to replace it."""
    return UsageError(
        f"`{path}` already has a user `{name}`. Pass --replace to give the user a new password and new permissions."
    )


def remove_user(path: Path, name: str) -> None:
    """Remove a user.

    Raises:
        UsageError: there is no such user, or the file cannot be changed.
    """
    require_file(path)
    read_users(path)  # before the lock file is created, as an unreadable file is not changed
    with _lock(path):
        text, users = read_users(path)
        if name not in users.by_name:
            raise UsageError(f"`{path}` has no user `{name}`")
        new = _remove_entry(path, text, name)
        _verify(path, new, users, name, present=False)
        _write(path, new)


def _remove_entry(path: Path, text: str, name: str) -> str:
    try:
        return remove_entry(text, name)
    except (ValueError, KeyError):  # tomllib read it, and tomlkit does not
        raise _edit_error(path, name) from None


def _require_valid(path: Path, text: str) -> Users:
    try:
        return parse_users(text)
    except ValueError as error:
        raise UsageError(f"{error}; {path} stays as it was") from None


def _verify(path: Path, text: str, before: Users, name: str, *, present: bool) -> None:
    """Verify that a new text differs from the old one in this user alone.

    Raises:
        UsageError: it does not.
    """
    after = _require_valid(path, text)
    others = [
        {user_name: user for user_name, user in users.by_name.items() if user_name != name} for users in (before, after)
    ]
    if others[0] != others[1] or (name in after.by_name) != present:
        raise _edit_error(path, name)


def _edit_error(path: Path, name: str) -> UsageError:
    return UsageError(f"`{path}` cannot be changed for user `{name}` alone, so it stays as it was. Edit it by hand.")


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold the lock of a users file.

    Raises:
        UsageError: it cannot be created, or another command has held it for too long.
    """
    target = path.resolve()
    lock = target.with_name(f"{target.name}-lock")
    try:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, _OWNER_ONLY)
    except OSError as error:
        raise _unwritable_file_error(path, error) from None
    try:
        _acquire(handle, lock)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, lock: Path) -> None:
    until = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise UsageError(
                    f"another command has held `{lock}` for {_LOCK_SECONDS:g} seconds: end it, and try again"
                ) from None
            time.sleep(_RETRY_SECONDS)
        else:
            return


def _write(path: Path, text: str) -> None:
    target = path.resolve()
    # One name, under the lock: what a killed command left, hashes of passwords, goes with the next one.
    aside = target.with_name(f".{target.name}-new")
    try:
        aside.unlink(missing_ok=True)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
        try:
            with os.fdopen(handle, "wb") as file:
                _copy_ownership(target, handle)
                file.write(text.encode())
                file.flush()
                os.fsync(handle)
            aside.replace(target)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        _flush_folder(target.parent)
    except OSError as error:
        raise _unwritable_file_error(path, error) from None


def _copy_ownership(target: Path, handle: int) -> None:
    """Copy mode and, as far as permitted, owner of the file that will be replaced to a new one."""
    with suppress(FileNotFoundError):
        existing = target.stat()
        with suppress(PermissionError):
            os.fchown(handle, existing.st_uid, existing.st_gid)
        os.fchmod(handle, existing.st_mode & 0o777)


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable_file_error(path: Path, error: OSError) -> UsageError:
    return UsageError(f"the users file `{path}` cannot be written: {error.strerror}")
