"""Positions of keys in a TOML text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["locate_key"]

_HEADER: Final = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]\]?")


def locate_key(text: str, keys: Sequence[str | int]) -> tuple[int, int]:
    """Return line and column of the last key that is written in the text, both from 1."""
    position = (1, 1)
    table: list[str | int] = []
    counts: dict[str, int] = {}
    best = -1
    for number, line in enumerate(text.split("\n"), 1):
        header = _HEADER.match(line)
        if header:
            name = header[1].split(".")[0].strip("\"' ")
            if line.lstrip().startswith("[["):
                counts[name] = counts.get(name, -1) + 1
            index = [counts[name]] if name in counts else []
            table = [name, *index, *(part.strip("\"' ") for part in header[1].split(".")[1:])]
            path = table
        else:
            key = line.partition("=")[0]
            path = [*table, key.strip().strip("\"'")]
        common = len(keys) if keys and path[: len(keys)] == list(keys) else -1  # the header of a table below it
        common = len(path) if path == list(keys[: len(path)]) else common
        if common > best:
            best, position = common, (number, len(line) - len(line.lstrip()) + 1)
    return position
