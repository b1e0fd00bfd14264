"""Files that options name for reports and plans."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["find_output_problem"]


def find_output_problem(path: Path) -> str | None:
    """Return why a report or plan cannot be written to a path, or None.

    A relative path inside the working directory must not lead outside: its folder may be a link from a pull request.
    Absolute paths, and those that begin with ``..``, are meant as they are.
    """
    if not path.parent.is_dir():
        return f"there is no folder `{path.parent}`"
    if path.is_symlink() or (path.exists() and not path.is_file()):  # /dev/stdout must not be replaced
        return "it is not a regular file"
    folder = path.parent.resolve()
    leaves = Path(os.path.normpath(path)).parts[0] == os.pardir
    if not path.is_absolute() and not leaves and not folder.is_relative_to(Path.cwd().resolve()):
        return f"a link leads outside the working directory; if that is meant, pass `{folder / path.name}`"
    return None
