"""Text from outside on one line of a terminal or a CI log."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

__all__ = ["escape_json_line", "escape_line"]

_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

# Lines that CI runners obey: `::name::` after any white space and `##[name]` anywhere (GitHub), `##vso[…]` anywhere
# (Azure), `##teamcity[…]`.
_RUNNER_COMMAND: Final = re.compile(r"^\s*:(?=:)|#(?=#(?:\[|vso\[|teamcity\[))", re.IGNORECASE)


def escape_line(text: str) -> str:
    r"""Escape what breaks a line, steers a terminal, hides, reorders, or is a command to a CI runner.

    Text that is escaped already stays as it is, and so do tabs.

    >>> print(escape_line("a\x1b[2Jb\n::error::c"))
    a\x1b[2Jb\n::error::c
    >>> print(escape_line("  ::error::c"), escape_line("##[error]"))
      \x3a:error::c \x23#[error]
    """
    if not text.isprintable():
        text = "".join(_escape(c) if c != "\t" and unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    return _RUNNER_COMMAND.sub(lambda match: match[0][:-1] + _escape_ascii(match[0][-1]), text)


def escape_json_line(text: str) -> str:
    r"""Escape the same in a JSON document of one line; its value stays what it was.

    >>> print(escape_json_line('"a\u202e##[error]"'))
    "a\u202e#\u0023[error]"
    """
    if not text.isprintable():
        text = "".join(_escape_json(c) if unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    return text.replace("##", r"#\u0023")


def _escape_json(character: str) -> str:
    return json.dumps(character)[1:-1]


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _escape_ascii(character: str) -> str:
    return f"\\x{ord(character):02x}"
