"""Output of verbs: results on stdout, messages on stderr, without terminal controls and CI commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

from contractlog.compatibility.terminal_text import escape_json_line, escape_line

__all__ = [
    "Tone",
    "count_noun",
    "print_json",
    "print_json_line",
    "print_message",
    "print_result",
    "quote_word",
    "shell_command",
    "with_tone",
]


class Tone(Enum):
    """Tone of a verdict: a symbol, and a terminal colour."""

    GOOD = ("✓", "32")
    BAD = ("✗", "31")
    PLAIN = ("·", "2")


_COLOURED_LINE: Final = re.compile(r"(\x1b\[\d+m)(.*)(\x1b\[0m)", re.DOTALL)  # output of `with_tone`


def print_result(text: str) -> None:
    """Print one line of the result, with control characters escaped."""
    _print_line(text, sys.stdout)


def print_json(value: Mapping[str, Any]) -> None:
    """Print the result as one JSON document, ASCII only."""
    for line in json.dumps(value, indent=2, ensure_ascii=True).split("\n"):
        print(escape_json_line(line))


def print_json_line(text: str) -> None:
    """Print one JSON document, given as one line of text."""
    _print_text(escape_json_line(text), sys.stdout)


def print_message(text: str) -> None:
    """Print one message line to stderr, with control characters escaped."""
    sys.stdout.flush()
    _print_line(text, sys.stderr)


def with_tone(tone: Tone, text: str) -> str:
    """Return a text with its symbol, in colour if stdout is a terminal and colours are not disabled."""
    symbol, colour = tone.value
    marked = f"{symbol} {text}"
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return marked if plain else f"\x1b[{colour}m{marked}\x1b[0m"


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
    arguments = ["contractlog", verb]
    arguments += [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
    arguments += ["--"] if any(str(path).startswith("-") for path in paths) else []
    return " ".join(quote_word(word) for word in (*arguments, *map(str, paths)))


def count_noun(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun: ``1 file``, ``2,000 files``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def _print_line(text: str, stream: Any) -> None:
    coloured = _COLOURED_LINE.fullmatch(text)
    if coloured:
        _print_text(f"{coloured[1]}{escape_line(coloured[2])}{coloured[3]}", stream)
        return
    line = text.removesuffix("\r")  # a diff line may end in CRLF, which `patch` needs unescaped
    _print_text(escape_line(line) + text[len(line) :], stream)


def _print_text(text: str, stream: Any) -> None:
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)
