"""Git as a command, and the repository of a folder."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.limits import truncate_message

__all__ = ["find_repository", "git_top", "is_repository_top", "run_git"]


def git_top(folder: Path) -> Path:
    """Return the root folder of the git repository of a folder.

    Raises:
        UsageError: there is no repository.
    """
    return Path(run_git(find_repository(folder), "rev-parse", "--show-toplevel").decode().rstrip("\n"))


def find_repository(folder: Path) -> Path:
    """Return the nearest folder with a ``.git``, from this one upwards.

    Git itself would also take a folder that looks like a bare repository, with the commands in its configuration. A
    pull request can contain such a folder, but no ``.git``.

    Raises:
        UsageError: there is none.
    """
    if "GIT_DIR" in os.environ:  # set by git for hooks, or by the user
        return folder
    absolute = folder.resolve()
    for each in (absolute, *absolute.parents):
        if is_repository_top(each):
            return each
    raise UsageError(f"`{folder}` is in no git repository")


def is_repository_top(folder: Path) -> bool:
    """Return whether a folder has a ``.git``."""
    return os.path.lexists(folder / ".git")


def run_git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run a git command in a folder, and return its output.

    Raises:
        UsageError: git is not installed, or the command fails.
    """
    try:
        command = ["git", "-c", "safe.bareRepository=explicit", "-C", str(folder), *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)  # noqa: S603 - no shell
    except OSError as error:
        raise UsageError(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(
            f"git cannot read what to compare with: {truncate_message(reason[0]) if reason else arguments[0]}"
        )
    return done.stdout
