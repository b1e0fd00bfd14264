"""Tags of a schema's metadata, by paths with wildcards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from contractlog.serdes.errors import RuleError

__all__ = ["TagPaths"]

_SEPARATOR: Final = "."
_WILDCARDS: Final = frozenset({"?", "*", "**"})
_MAX_PATH: Final = 1_000  #: characters of a pattern, and of a name; longer ones only match literally
_MAX_STEPS: Final = 1_000_000  #: of all lookups in the paths of a schema; about half a second


class TagPaths:
    """Tags by paths with wildcards, for the names of one schema.

    In a path, ``?`` stands for a character, ``*`` for any characters within a segment, ``**`` for any characters, and a
    backslash takes the next character literally.

    Args:
        paths: the tags of each path.
        steps: bound on the comparisons of names with paths.
    """

    def __init__(self, paths: Mapping[str, Iterable[str]], *, steps: int = _MAX_STEPS) -> None:
        self._patterns = [(_Pattern(path), frozenset(tags or ())) for path, tags in paths.items()]
        self._steps = steps
        self._tags: dict[str, frozenset[str]] = {}  #: of each name that was looked up

    def find(self, full_name: str) -> frozenset[str]:
        """Return the tags of all paths that match a full name.

        Raises:
            RuleError: the paths are too many or too complex for the names of the schema.
        """
        tags = self._tags.get(full_name)
        if tags is None:
            tags = self._tags[full_name] = frozenset(self._list_tags(full_name))
        return tags

    def _list_tags(self, full_name: str) -> Iterable[str]:
        for pattern, tags in self._patterns:
            self._steps -= pattern.count_steps(full_name)
            if self._steps < 0:
                raise RuleError(
                    "the paths of the schema's metadata tags are too many or too complex for its fields; use fewer or "
                    "simpler paths, or tags in the text of the schema"
                )
            if pattern.matches(full_name):
                yield from tags


class _Pattern:
    """A path that is split into wildcards and characters."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._parts = _split_path(path) if len(path) <= _MAX_PATH else ()
        wildcards = [at for at, part in enumerate(self._parts) if part in _WILDCARDS]
        literals = [part[-1] for part in self._parts]
        self._is_literal = not wildcards
        self._prefix = "".join(literals[: wildcards[0]] if wildcards else literals)
        self._suffix = "".join(literals[wildcards[-1] + 1 :]) if wildcards else ""

    def count_steps(self, name: str) -> int:
        """Return the number of steps of comparing a name."""
        return len(self._parts) if self._needs_steps(name) else 1

    def matches(self, name: str) -> bool:
        """Return true if a name matches the path."""
        if len(self._path) > _MAX_PATH or len(name) > _MAX_PATH:
            return name == self._path
        return self._matches_parts(name) if self._needs_steps(name) else self._is_literal and name == self._prefix

    def _needs_steps(self, name: str) -> bool:
        return (
            not self._is_literal
            and len(name) <= _MAX_PATH
            and name.startswith(self._prefix)
            and name.endswith(self._suffix)
        )

    def _matches_parts(self, name: str) -> bool:
        """Compare part by part; bit ``n`` of ``reached`` says that the path so far matches ``n`` characters."""
        positions: dict[str, int] = {}
        for at, character in enumerate(name):
            positions[character] = positions.get(character, 0) | 1 << at
        every = (1 << len(name)) - 1
        within = every & ~positions.get(_SEPARATOR, 0)
        reached = 1
        for part in self._parts:
            if part == "**":
                lowest = reached & -reached
                reached = (every << 1 | 1) & ~(lowest - 1)
            elif part == "*":  # the carry of the addition runs through the rest of each segment
                reached |= ((reached & within) + within) ^ within
            elif part == "?":
                reached = (reached & within) << 1
            else:
                reached = (reached & positions.get(part[-1], 0)) << 1
            if not reached:
                return False
        return bool(reached >> len(name))


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
