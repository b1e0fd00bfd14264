"""Names and globs of topics; needs neither Kafka nor Arrow."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Final

from contractlog.compatibility.text.terminal_text import escape_line

__all__ = ["describe_nearest", "find_common_prefix", "is_glob", "match_topics"]

_MAX_NEAREST: Final = 3  #: names in a message
_WILDCARDS: Final = re.compile(r"[*?\[]")


def match_topics(pattern: str, names: Iterable[str]) -> list[str]:
    """Return the names that a name or glob matches; topics that start with ``_`` only if it does, too."""
    return [
        name
        for name in names
        if name == pattern or (fnmatchcase(name, pattern) and (pattern.startswith("_") or not name.startswith("_")))
    ]


def is_glob(text: str) -> bool:
    """Return true if a text has wildcards."""
    return _WILDCARDS.search(text) is not None


def find_common_prefix(patterns: Iterable[str]) -> str:
    """Return the beginning that all names matching one of some names and globs have.

    >>> find_common_prefix(["orders-*", "order*"]), find_common_prefix(["a*", "[ab]*"]), find_common_prefix([])
    ('order', '', '')
    """
    prefixes = [_WILDCARDS.split(pattern, maxsplit=1)[0] for pattern in patterns]
    common, last = min(prefixes, default=""), max(prefixes, default="")
    while not last.startswith(common):
        common = common[:-1]
    return common


def describe_nearest(text: str, names: Iterable[str]) -> str:
    """Return a sentence with the names that are most like a name or glob; empty if none is."""
    plain = _WILDCARDS.sub("", text)
    nearest = get_close_matches(plain, sorted(names), _MAX_NEAREST, 0.5)
    return f"; nearest: {', '.join(f'`{escape_line(name)}`' for name in nearest)}" if nearest else ""
