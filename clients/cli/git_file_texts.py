"""History of a file in git."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Final

from contractlog.clients.cli.git_repository import find_repository, run_git
from contractlog.clients.cli.git_revision import MAX_REVISION_BYTES
from contractlog.clients.lock_file import MAX_SCHEMA_FILE_BYTES
from contractlog.compatibility.errors import UsageError

__all__ = ["list_earlier_texts"]

_MAX_COMMITS: Final = 100  #: of the history of a file


def list_earlier_texts(path: Path) -> Iterator[str]:
    """Yield the texts that a file had in its last commits, newest first; none outside of git.

    Texts larger than a schema file may be are left out, as are the oldest if all of them are larger than a revision.
    """
    try:
        folder = find_repository(path.parent)
        name = str(path.resolve().relative_to(folder.resolve()))
        history = ("log", f"--max-count={_MAX_COMMITS}", "--follow", "--raw", "--no-abbrev", "-z", "--format=")
        changes = run_git(folder, "--literal-pathspecs", *history, "--", name).decode("utf-8", "replace")
        ids = [
            each
            for facts in changes.split("\0")
            if facts.lstrip("\n").startswith(":")
            for each in facts.split()[3:1:-1]
        ]
        objects = _select_small(folder, [each for each in dict.fromkeys(ids) if each.strip("0")])
        blobs = BytesIO(run_git(folder, "cat-file", "--batch", stdin="".join(f"{each}\n" for each in objects).encode()))
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
    sizes = run_git(folder, "cat-file", "--batch-check=%(objectsize)", stdin=listed).decode().splitlines()
    for each, size in zip(objects, sizes, strict=True):
        number = int(size) if size.isdigit() else 0  # `missing` in a partial clone
        if number > MAX_SCHEMA_FILE_BYTES:
            continue
        total += number
        if total > MAX_REVISION_BYTES:
            break
        selected.append(each)
    return selected
