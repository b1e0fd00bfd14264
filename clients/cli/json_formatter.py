"""Formatter of JSON texts that changes only the whitespace between tokens."""

from __future__ import annotations

import json
from typing import Final

from contractlog.compatibility.json_positions import TOKEN

__all__ = ["format_json"]

_DEEPEST_INDENT: Final = 40
_INDENT: Final = "  "


def format_json(text: str) -> str:
    """Return the text with one member per line; number formats, escapes and order are preserved.

    A text with comments, and any other that is not JSON or is nested too deep to be parsed, is returned unchanged.

    >>> print(format_json('{"a":[1.0,{}]}'), end="")
    {
      "a": [
        1.0,
        {}
      ]
    }
    """
    if not _is_json(text):
        return text
    pieces: list[str] = []
    depth = 0
    before = ""
    for match in TOKEN.finditer(text):
        piece = match[0]
        empty = piece in "}]" and before in ("{", "[")
        depth -= piece in "}]"
        if (before in ("{", "[", ",") or piece in "}]") and not empty and before:
            pieces.append("\n" + _INDENT * min(max(depth, 0), _DEEPEST_INDENT))
        pieces.append(": " if piece == ":" else piece)
        depth += piece in "{["
        before = piece
    return "".join(pieces) + "\n"


def _is_json(text: str) -> bool:
    """Return whether a text is JSON, whatever the number of digits in its numbers."""
    try:
        json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True
