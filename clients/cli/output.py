"""How verbs speak: results on stdout, words on stderr, nothing that a terminal would obey."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

__all__ = ["Tone", "count", "harmless", "result", "result_json", "say", "toned"]


class Tone(Enum):
    """What a verdict feels like: a shape, and a colour on terminals."""

    GOOD = ("✓", "32")
    BAD = ("✗", "31")
    PLAIN = ("·", "2")


_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def result(text: str) -> None:
    """Print a line of the result."""
    _print(text, sys.stdout)


def result_json(value: Mapping[str, Any]) -> None:
    """Print the result as one JSON document."""
    print(json.dumps(value, indent=2, ensure_ascii=True))


def say(text: str) -> None:
    """Print words that are not the result."""
    sys.stdout.flush()
    _print(text, sys.stderr)


def toned(tone: Tone, text: str) -> str:
    """Return a text with its shape, coloured where stdout is a terminal that may be coloured."""
    shape, colour = tone.value
    marked = f"{shape} {text}"
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return marked if plain else f"\x1b[{colour}m{marked}\x1b[0m"


def harmless(text: str) -> str:
    r"""Return a text from outside with everything escaped that could steer a terminal or hide.

    >>> print(harmless("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    if text.isprintable():
        return text
    return "".join(c.encode("unicode_escape").decode() if unicodedata.category(c) in _HIDDEN else c for c in text)


def count(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun: ``1 file``, ``2,000 files``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _print(text: str, stream: Any) -> None:
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)
