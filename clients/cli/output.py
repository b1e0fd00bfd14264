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

from contractlog.compatibility.terminal_text import escape_json_line
from contractlog.compatibility.terminal_text import escape_line as harmless

__all__ = [
    "Tone",
    "command",
    "count",
    "harmless",
    "quoted",
    "result",
    "result_json",
    "result_json_line",
    "say",
    "toned",
]


class Tone(Enum):
    """Tone of a verdict: a symbol, and a terminal colour."""

    GOOD = ("✓", "32")
    BAD = ("✗", "31")
    PLAIN = ("·", "2")


_COLOURED: Final = re.compile(r"(\x1b\[\d+m)(.*)(\x1b\[0m)", re.DOTALL)  # output of `toned`


def result(text: str) -> None:
    """Print one line of the result, with control characters escaped."""
    _print(text, sys.stdout)


def result_json(value: Mapping[str, Any]) -> None:
    """Print the result as one JSON document, ASCII only."""
    for line in json.dumps(value, indent=2, ensure_ascii=True).split("\n"):
        print(escape_json_line(line))


def result_json_line(text: str) -> None:
    """Print one JSON document, given as one line of text."""
    _write(escape_json_line(text), sys.stdout)


def say(text: str) -> None:
    """Print one message line to stderr, with control characters escaped."""
    sys.stdout.flush()
    _print(text, sys.stderr)


def toned(tone: Tone, text: str) -> str:
    """Return a text with its symbol, in colour if stdout is a terminal and colours are not disabled."""
    shape, colour = tone.value
    marked = f"{shape} {text}"
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return marked if plain else f"\x1b[{colour}m{marked}\x1b[0m"


def quoted(word: str) -> str:
    r"""Quote a word for a shell; if it has unprintable characters, as bash's ``$'…'``.

    >>> print(quoted("a b"), quoted("a\nb"))
    'a b' $'a\U0000000ab'
    """
    if word.isprintable():
        return shlex.quote(word)
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    return "$'" + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + "'"


def command(verb: str, *paths: object, **options: str | None) -> str:
    """Return a command to paste into a shell; paths that begin with a dash are not read as options.

    >>> command("check", "--out.avsc", subject="--all")
    'contractlog check --subject=--all -- --out.avsc'
    """
    words = ["contractlog", verb]
    words += [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
    words += ["--"] if any(str(path).startswith("-") for path in paths) else []
    return " ".join(quoted(word) for word in (*words, *map(str, paths)))


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: ``1 file``, ``2,000 files``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _print(text: str, stream: Any) -> None:
    coloured = _COLOURED.fullmatch(text)
    if coloured:
        _write(f"{coloured[1]}{harmless(coloured[2])}{coloured[3]}", stream)
        return
    line = text.removesuffix("\r")  # a diff line may end in CRLF, which `patch` needs unescaped
    _write(harmless(line) + text[len(line) :], stream)


def _write(text: str, stream: Any) -> None:
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)
