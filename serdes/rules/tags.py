"""Tags of a schema's metadata, by paths with wildcards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final

__all__ = ["find_path_tags", "matches_path"]

_SEPARATOR: Final = "."
_MAX_PATH: Final = 1_000  #: characters of a pattern, and of a name; longer ones only match literally


def find_path_tags(paths: Mapping[str, Iterable[str]], full_name: str) -> frozenset[str]:
    """Return the tags of all paths that match a full name."""
    return frozenset(tag for path, tags in paths.items() if matches_path(full_name, path) for tag in tags or ())


def matches_path(name: str, path: str) -> bool:
    """Return true if a dotted name matches a path.

    In a path, ``?`` stands for a character, ``*`` for any characters within a segment, ``**`` for any characters, and a
    backslash takes the next character literally. Takes at most as many steps as the lengths multiplied.
    """
    if len(name) > _MAX_PATH or len(path) > _MAX_PATH:
        return name == path
    reached = {0}  # positions in the name up to which the path matches so far
    for part in _split_path(path):
        if part == "**":
            reached = set(range(min(reached), len(name) + 1))
        elif part == "*":
            reached = _extend_in_segments(name, reached)
        elif part == "?":
            reached = {at + 1 for at in reached if at < len(name) and name[at] != _SEPARATOR}
        else:
            reached = {at + 1 for at in reached if at < len(name) and name[at] == part[-1]}
        if not reached:
            return False
    return len(name) in reached


@lru_cache(maxsize=1_000)
def _split_path(path: str) -> tuple[str, ...]:
    """Split a path into wildcards and characters; a literal wildcard keeps its backslash."""
    path = path.replace("**.*", "**")
    parts: list[str] = []
    at = 0
    while at < len(path):
        size = 2 if path.startswith("**", at) or (path[at] == "\\" and at + 1 < len(path)) else 1
        parts.append(path[at : at + size])
        at += size
    return tuple(parts)


def _extend_in_segments(name: str, reached: set[int]) -> set[int]:
    """Return the positions that follow those reached without a separator between."""
    extended: set[int] = set()
    within = False
    for at in range(len(name) + 1):
        within = within or at in reached
        if within:
            extended.add(at)
        within = within and at < len(name) and name[at] != _SEPARATOR
    return extended
