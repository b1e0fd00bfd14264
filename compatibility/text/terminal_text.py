"""Untrusted text in one line of a terminal or a CI log, and in commands to paste into a shell."""

from __future__ import annotations

import json
import re
import shlex
import unicodedata
from collections.abc import Sequence
from typing import Final

__all__ = ["add_flags", "escape_json_line", "escape_line", "quote_word", "shell_command"]

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


def quote_word(word: str) -> str:
    r"""Quote a word for a shell; if it has unprintable characters, as bash's ``$'…'``.

    >>> print(quote_word("a b"), quote_word("a\nb"))
    'a b' $'a\U0000000ab'
    """
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + "'"


def shell_command(verb: str, *paths: object, **options: str | None) -> str:
    """Return a command to paste into a shell; paths that begin with a dash are not read as options.

    >>> shell_command("check", "--out.avsc", subject="--all")
    'contractlog check --subject=--all -- --out.avsc'
    """
    arguments = ["contractlog", *verb.split()]
    arguments += [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
    arguments += ["--"] if any(str(path).startswith("-") for path in paths) else []
    return " ".join(quote_word(word) for word in (*arguments, *map(str, paths)))


def add_flags(words: Sequence[str], *flags: str) -> list[str]:
    """Return the words of a command with additional flags, before a ``--``.

    >>> add_flags(["apply", "--", "-x"], "--prune")
    ['apply', '--prune', '--', '-x']
    """
    end = words.index("--") if "--" in words else len(words)
    return [*words[:end], *flags, *words[end:]]


def _escape_json(character: str) -> str:
    return json.dumps(character)[1:-1]


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


def _escape_ascii(character: str) -> str:
    return f"\\x{ord(character):02x}"
