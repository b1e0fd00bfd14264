"""Schema files of a git revision."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final

from contractlog.clients.cli.git_repository import git_top, run_git
from contractlog.compatibility.errors import UsageError

__all__ = ["GIT", "MAX_REVISION_BYTES", "checked_out", "is_git_revision"]

GIT: Final = "git:"
_IGNORE_FILE: Final = ".contractlogignore"  #: also read from the folders above
_READ_SUFFIXES: Final = (".avsc", ".json", _IGNORE_FILE, "contractlog.toml")
_REGULAR_FILE_MODES: Final = (b"100644", b"100755")
MAX_REVISION_BYTES: Final = 256 * 1024 * 1024  #: of the files of a revision


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
    revision = name.removeprefix(GIT)
    if not revision:
        raise UsageError(f"`{name}` names no revision: write {GIT}main")
    top = git_top(start or (paths[0] if paths[0].is_dir() else paths[0].parent))
    try:
        tree = run_git(top, "rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}").decode().strip()
    except UsageError:
        raise UsageError(
            f"git has no revision `{revision}` in `{top}`; fetch it first (a shallow clone lacks the history)"
        ) from None
    relative = {path: _relative_path(path, top) for path in paths}
    with tempfile.TemporaryDirectory(prefix="contractlog-") as folder:
        _write_files(top, tree, [str(each) for each in relative.values()], Path(folder))
        Path(folder, ".git").touch()  # the top of a repository, above which no manifest or ignore file is read
        yield {path: Path(folder, inner) for path, inner in relative.items()}


def _relative_path(path: Path, top: Path) -> Path:
    try:
        return path.resolve().relative_to(top.resolve())
    except ValueError:
        raise UsageError(f"`{path}` is not in the git repository `{top}`") from None


def _write_files(top: Path, tree: str, paths: Sequence[str], folder: Path) -> None:
    above = {str(folder / _IGNORE_FILE) for path in paths for folder in Path(path).parents}
    below = () if "." in paths else ("--", *paths, *sorted(above))
    listing = run_git(top, "ls-tree", "-r", "-l", "-z", "--full-tree", tree, *below)
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
        if total > MAX_REVISION_BYTES:
            raise UsageError(
                f"the schema files of the revision are larger than {MAX_REVISION_BYTES // 1024 // 1024} MiB"
            )
        contents.append((path, object_id, int(size)))
    blobs = BytesIO(run_git(top, "cat-file", "--batch", stdin=b"".join(each + b"\n" for _, each, _ in contents)))
    for path, _, length in contents:
        blobs.readline()  # id, type and size
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blobs.read(length))
        blobs.read(1)
