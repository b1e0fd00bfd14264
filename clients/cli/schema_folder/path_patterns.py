"""Patterns of paths, in the syntax of ``.gitignore``."""

from __future__ import annotations

import re

__all__ = ["pattern_regex"]


def pattern_regex(pattern: str) -> str:
    """Translate a pattern to a regular expression for relative paths; paths of folders end in a slash.

    A pattern with a slash in it is relative to the top, another one matches at every depth.

    >>> [bool(re.fullmatch(pattern_regex(pattern), "a/b.avsc")) for pattern in ("*.avsc", "/*.avsc", "a/", "**/b.*")]
    [True, False, False, True]
    """
    anchored = "/" in pattern.rstrip("/")
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", pattern.strip("/"))
    replaced = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    body = "".join(replaced.get(token) or re.escape(token) for token in tokens)
    return ("" if anchored else "(?:.*/)?") + body + ("/" if pattern.endswith("/") else "/?")
