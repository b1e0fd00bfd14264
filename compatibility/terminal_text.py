"""Escaping of untrusted text for one line of a terminal or a CI log."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Final

__all__ = ["escape_json_line", "escape_line"]

_UNPRINTABLE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

# CI runner commands: `::name::` after any white space and `##[name]` anywhere (GitHub), `##vso[…]` anywhere (Azure),
# `##teamcity[…]`.
_RUNNER_COMMAND: Final = re.compile(r"^\s*:(?=:)|#(?=#(?:\[|vso\[|teamcity\[))", re.IGNORECASE)


def escape_line(text: str) -> str:
    r"""Escape line breaks, terminal controls, invisible or reordering characters, and CI runner commands.

    Text that is already escaped stays unchanged, and so do tabs.

    >>> print(escape_line("a\x1b[2Jb\n::error::c"))
    a\x1b[2Jb\n::error::c
    >>> print(escape_line("  ::error::c"), escape_line("##[error]"))
      \x3a:error::c \x23#[error]
    """
    if not text.isprintable():
        text = "".join(_escape(c) if c != "\t" and unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    return _RUNNER_COMMAND.sub(lambda match: match[0][:-1] + _escape_ascii(match[0][-1]), text)


def escape_json_line(text: str) -> str:
    r"""Escape the same characters in a line of a JSON document without changing its value.

    Tabs stay, because JSON has them between its tokens only.

    >>> print(escape_json_line('"a\u202e##[error]"'))
    "a\u202e#\u0023[error]"
    """
    if not text.isprintable():
        text = "".join(_escape_json(c) if c != "\t" and unicodedata.category(c) in _UNPRINTABLE else c for c in text)
    return text.replace("##", r"#\u0023")


def _escape_json(character: str) -> str:
    return json.dumps(character)[1:-1]


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _escape_ascii(character: str) -> str:
    return f"\\x{ord(character):02x}"
