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
            name, *below = (part.strip("\"' ") for part in header[1].split("."))
            if line.lstrip().startswith("[[") and not below:  # not a list below an entry of one
                counts[name] = counts.get(name, -1) + 1
            index = [counts[name]] if name in counts else []
            table = [name, *index, *below]
            path = table
        else:
            key = line.partition("=")[0]
            path = [*table, key.strip().strip("\"'")]
        length = min(len(path), len(keys))
        common = length if path[:length] == list(keys[:length]) else -1
        if common > best:
            best, position = common, (number, len(line) - len(line.lstrip()) + 1)
    return position
