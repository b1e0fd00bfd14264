"""Ignore files, ``.contractlogignore``, with the rules of ``.gitignore``.

An ignore file is for its folder and the folders below; a pattern with a slash is relative to its folder. The last
pattern that matches a path decides, and an ignore file in a folder further down takes precedence.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.git_repository import is_repository_top
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Manifest
from contractlog.clients.cli.schema_folder.path_patterns import PathPattern
from contractlog.clients.file_errors import ControlFile, FileError, control_file_error

__all__ = ["IGNORE_FILE", "IgnoreFiles", "IgnorePattern"]

IGNORE_FILE: Final = ".contractlogignore"
_MAX_IGNORE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class IgnorePattern:
    """A line of an ignore file."""

    pattern: PathPattern
    ignores: bool  #: False: the pattern begins with ``!``
    path: Path  #: of the ignore file, for users
    line: int

    @property
    def location(self) -> str:
        """File and line, for messages."""
        return f"{self.path}:{self.line}"


class IgnoreFiles:
    """The ignore files of the folders below a top, read when they are needed."""

    def __init__(self, folder: Path, manifest: Manifest | None = None) -> None:
        self._top = _find_top(folder.resolve(), manifest)
        self._patterns: dict[Path, Sequence[IgnorePattern]] = {}

    def matches(self, path: Path, *, is_folder: bool) -> bool:
        """Return whether the path, whose folders are resolved and not ignored, is ignored.

        Raises:
            UsageError: an ignore file cannot be read.
        """
        pattern = self._find_decisive(path, is_folder=is_folder)
        return pattern is not None and pattern.ignores

    def find_pattern(self, path: Path) -> IgnorePattern | None:
        """Return the pattern that ignores a path or a folder above it, or None.

        Raises:
            UsageError: an ignore file cannot be read.
        """
        location = _locate(path)
        for above in (*reversed(location.parents), location):
            if above != self._top and above.is_relative_to(self._top):
                is_folder = above != location or path.is_dir()
                pattern = self._find_decisive(above, is_folder=is_folder)
                if pattern is not None and pattern.ignores:
                    return pattern
        return None

    def suggest_path(self, folder: Path) -> Path:
        """Return the path of the nearest ignore file for a folder, or where to create one."""
        resolved = folder.resolve()
        above = [each for each in (resolved, *resolved.parents) if each.is_relative_to(self._top)]
        existing = (_shorten(each / IGNORE_FILE) for each in above if (each / IGNORE_FILE).is_file())
        return next(existing, folder / IGNORE_FILE)

    def _find_decisive(self, path: Path, *, is_folder: bool) -> IgnorePattern | None:
        """Return the pattern that decides about a path, apart from the folders above it."""
        for folder in path.parents:
            if not folder.is_relative_to(self._top):
                break
            patterns = self._read(folder)
            if patterns:
                relative = path.relative_to(folder).as_posix() + "/" * is_folder
                decisive = next((each for each in reversed(patterns) if each.pattern.matches(relative)), None)
                if decisive is not None:
                    return decisive
        return None

    def _read(self, folder: Path) -> Sequence[IgnorePattern]:
        if folder not in self._patterns:
            self._patterns[folder] = _read_patterns(folder / IGNORE_FILE)
        return self._patterns[folder]


def _find_top(folder: Path, manifest: Manifest | None) -> Path:
    """Return the topmost folder whose ignore file is for a folder.

    That is the folder of the manifest, else of the nearest one above, else the root of the git repository, else the
    folder itself: it does not depend on the folder that a command names, nor on the working directory.
    """
    if manifest is not None and folder.is_relative_to(manifest.path.parent.resolve()):
        return manifest.path.parent.resolve()
    for above in (folder, *folder.parents):
        if (above / MANIFEST).is_file() or is_repository_top(above):
            return above
    return folder


def _locate(path: Path) -> Path:
    """Return the absolute path, resolved except for its name: patterns are for the names of links."""
    return path.resolve() if path.name in {"", ".."} else path.parent.resolve() / path.name


def _shorten(path: Path) -> Path:
    """Return the path relative to the working directory, if it is below."""
    working = Path.cwd()
    return path.relative_to(working) if path.is_relative_to(working) else path


def _read_patterns(path: Path) -> Sequence[IgnorePattern]:
    if not os.path.lexists(path):
        return ()
    short_path = _shorten(path)
    try:
        lines = read_bounded_file(path, _MAX_IGNORE_BYTES).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        message = f"`{short_path}` cannot be read: {error}"
        raise control_file_error([FileError(ControlFile.IGNORE_FILE, short_path, message)]) from None
    return [
        IgnorePattern(PathPattern(text.removeprefix("!")), not text.startswith("!"), short_path, number)
        for number, text in enumerate(map(str.strip, lines), 1)
        if text and not text.startswith("#")
    ]
