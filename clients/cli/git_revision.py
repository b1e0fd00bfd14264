"""Schema files of a git revision."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final

from contractlog.clients.lock_file import MAX_SCHEMA_FILE_BYTES
from contractlog.compatibility.errors import UsageError

__all__ = ["GIT", "checked_out", "git_top", "is_git_revision", "list_earlier_texts"]

GIT: Final = "git:"
_READ_SUFFIXES: Final = (".avsc", ".json", ".contractlogignore", "contractlog.toml")
_REGULAR_FILE_MODES: Final = (b"100644", b"100755")
_MAX_BYTES: Final = 256 * 1024 * 1024  #: of the files of a revision
_MAX_COMMITS: Final = 100  #: of the history of a file


def is_git_revision(name: str) -> bool:
    """Return whether ``--against`` names a git revision, not a folder."""
    return name.startswith(GIT)


@contextmanager
def checked_out(name: str, paths: Sequence[Path], start: Path | None = None) -> Iterator[Mapping[Path, Path]]:
    """Write the schema files of a git revision to a temporary folder.

    Args:
        name: ``git:REVISION``.
        paths: files and folders in a git repository; of folders, only schema files are written.
        start: a folder of the repository (default: the folder of the first path).

    Yields:
        where each of the paths is in the temporary folder.

    Raises:
        UsageError: there is no repository, no such revision, or the files are too large.
    """
    top = git_top(start or (paths[0] if paths[0].is_dir() else paths[0].parent))
    revision = name.removeprefix(GIT)
    try:
        tree = _git(top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}").decode().strip()
    except UsageError:
        raise UsageError(
            f"git has no revision `{revision}` in `{top}`; fetch it first (a shallow clone lacks the history)"
        ) from None
    relative = {path: _relative_path(path, top) for path in paths}
    with tempfile.TemporaryDirectory(prefix="contractlog-") as folder:
        _write_files(top, tree, [str(each) for each in relative.values()], Path(folder))
        yield {path: Path(folder, inner) for path, inner in relative.items()}


def git_top(folder: Path) -> Path:
    """Return the root folder of the git repository of a folder.

    Raises:
        UsageError: there is no repository.
    """
    return Path(_git(_find_repository(folder), "rev-parse", "--show-toplevel").decode().rstrip("\n"))


def list_earlier_texts(path: Path) -> Iterator[str]:
    """Yield the texts that a file had in its last commits, newest first; none outside of git.

    Texts larger than a schema file may be are left out, as are the oldest if all of them are larger than a revision.
    """
    try:
        folder = _find_repository(path.parent)
        name = str(path.resolve().relative_to(folder.resolve()))
        history = ("log", f"--max-count={_MAX_COMMITS}", "--follow", "--raw", "--no-abbrev", "-z", "--format=")
        changes = _git(folder, "--literal-pathspecs", *history, "--", name).decode("utf-8", "replace")
        ids = [
            each
            for facts in changes.split("\0")
            if facts.lstrip("\n").startswith(":")
            for each in facts.split()[3:1:-1]
        ]
        objects = _select_small(folder, [each for each in dict.fromkeys(ids) if each.strip("0")])
        blobs = BytesIO(_git(folder, "cat-file", "--batch", stdin="".join(f"{each}\n" for each in objects).encode()))
        for _ in objects:
            kind, _, size = blobs.readline().partition(b" ")[2].partition(b" ")
            if kind == b"blob":
                yield blobs.read(int(size) + 1)[:-1].decode("utf-8-sig", "replace")
            elif size:
                blobs.read(int(size) + 1)
    except (UsageError, ValueError):
        return


def _select_small(folder: Path, objects: Sequence[str]) -> list[str]:
    """Return the objects that are no larger than a schema file may be, up to the limit of a revision."""
    total = 0
    selected = []
    listed = "".join(f"{each}\n" for each in objects).encode()
    sizes = _git(folder, "cat-file", "--batch-check=%(objectsize)", stdin=listed).decode().splitlines()
    for each, size in zip(objects, sizes, strict=True):
        number = int(size) if size.isdigit() else 0  # `missing` in a partial clone
        if number > MAX_SCHEMA_FILE_BYTES:
            continue
        total += number
        if total > _MAX_BYTES:
            break
        selected.append(each)
    return selected


def _find_repository(folder: Path) -> Path:
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
        if os.path.lexists(each / ".git"):
            return each
    raise UsageError(f"`{folder}` is in no git repository")


def _relative_path(path: Path, top: Path) -> Path:
    try:
        return path.resolve().relative_to(top.resolve())
    except ValueError:
        raise UsageError(f"`{path}` is not in the git repository `{top}`") from None


def _write_files(top: Path, tree: str, paths: Sequence[str], folder: Path) -> None:
    below = () if "." in paths else ("--", *paths)
    listing = _git(top, "ls-tree", "-r", "-l", "-z", "--full-tree", tree, *below)
    total = 0
    contents: list[tuple[Path, bytes, int]] = []
    for entry in filter(None, listing.split(b"\0")):
        facts, _, name = entry.partition(b"\t")
        mode, _, object_id, size = facts.split()
        relative = name.decode("utf-8", "surrogateescape")
        path = folder / relative
        if mode not in _REGULAR_FILE_MODES or not (path.name.endswith(_READ_SUFFIXES) or relative in paths):
            continue
        total += int(size)
        if total > _MAX_BYTES:
            raise UsageError(f"the schema files of the revision are larger than {_MAX_BYTES // 1024 // 1024} MiB")
        contents.append((path, object_id, int(size)))
    blobs = BytesIO(_git(top, "cat-file", "--batch", stdin=b"".join(each + b"\n" for _, each, _ in contents)))
    for path, _, length in contents:
        blobs.readline()  # id, type and size
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blobs.read(length))
        blobs.read(1)


def _git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    try:
        command = ["git", "-c", "safe.bareRepository=explicit", "-C", str(folder), *arguments]
        done = subprocess.run(command, input=stdin, capture_output=True, check=False)  # noqa: S603 - no shell
    except OSError as error:
        raise UsageError(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"git cannot read what to compare with: {reason[0] if reason else arguments[0]}")
    return done.stdout
