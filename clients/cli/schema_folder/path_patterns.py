"""Patterns of paths, in the syntax of ``.gitignore``."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

__all__ = ["PathPattern"]

_ANY_FOLDERS: Final = "**"
_NEVER: Final = re.compile("(?!)")


class PathPattern:
    """A pattern that relative paths match or not; paths of folders end in a slash.

    A pattern with a slash in it is relative to the top, another one matches at every depth; one that ends in a slash
    matches folders only. Matching takes time in proportion to pattern and path: both may come from a pull request.

    >>> [PathPattern(pattern).matches("a/b.avsc") for pattern in ("*.avsc", "/*.avsc", "a/", "**/b.*", "a/**")]
    [True, False, False, True, True]
    """

    def __init__(self, pattern: str) -> None:
        names = pattern.strip("/").split("/")
        if "/" not in pattern.rstrip("/"):
            names.insert(0, _ANY_FOLDERS)
        self._folders_only = pattern.endswith("/")
        self._names = [
            None if name == _ANY_FOLDERS else _compile_name(name)
            for position, name in enumerate(names)
            if name != _ANY_FOLDERS or position == 0 or names[position - 1] != _ANY_FOLDERS
        ]

    def matches(self, path: str) -> bool:
        """Return True if a relative path matches."""
        if self._folders_only and not path.endswith("/"):
            return False
        end = len(self._names)
        positions = {0}  #: in the pattern, after the names of the path so far
        for name in path.rstrip("/").split("/"):
            following: set[int] = set()
            for position in self._with_skipped(positions):
                pattern = self._names[position] if position < end else _NEVER
                if pattern is None:
                    following |= {position} | ({end} if position == end - 1 else set())
                elif pattern.fullmatch(name):
                    following.add(position + 1)
            positions = following
        return end in positions

    def _with_skipped(self, positions: set[int]) -> set[int]:
        """Return the positions, and those after a ``**`` that stands for no folder."""
        any_folders = {each for each in positions if each < len(self._names) and self._names[each] is None}
        return positions | {each + 1 for each in any_folders}


@cache
def _compile_name(pattern: str) -> re.Pattern[str]:
    """Translate the pattern of one name to a regular expression without backtracking.

    Each part between two ``*`` is matched where it occurs first, which is never worse than later.
    """
    first, *others = (
        "".join("[^/]" if character == "?" else re.escape(character) for character in part)
        for part in re.split(r"\*+", pattern)
    )
    if not others:
        return re.compile(first)
    *inner, last = others
    return re.compile(first + "".join(f"(?>.*?{part})" for part in inner) + f".*{last}", re.DOTALL)
