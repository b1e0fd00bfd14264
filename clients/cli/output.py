"""Output of verbs: results on stdout, messages on stderr, without terminal controls and CI commands."""

from __future__ import annotations

import json
import os
import re
import sys
import unicodedata
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Any, Final, Literal

from contractlog.clients.cli.suggested_commands import clear_repeated_options
from contractlog.compatibility.errors import ContractlogError
from contractlog.compatibility.text.terminal_text import escape_json_line, escape_line

__all__ = [
    "Tone",
    "align_columns",
    "apply_output_options",
    "continue_without_reader",
    "count_noun",
    "is_quiet",
    "is_verbose",
    "print_document",
    "print_error",
    "print_json",
    "print_json_line",
    "print_json_message",
    "print_message",
    "print_result",
    "print_table",
    "table_lines",
    "with_tone",
]


class Tone(Enum):
    """Tone of a verdict: a symbol, and a terminal colour."""

    GOOD = ("✓", "32")
    BAD = ("✗", "31")
    WARNING = ("!", "33")
    PLAIN = ("·", "2")


_COLOR: Final[ContextVar[Literal["auto", "always", "never"]]] = ContextVar("color", default="auto")
_QUIET: Final = ContextVar("quiet", default=False)
_VERBOSE: Final = ContextVar("verbose", default=False)
_COLOURED_LINE: Final = re.compile(r"(\x1b\[\d+m)(.*)(\x1b\[0m)", re.DOTALL)  # output of `with_tone`
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]+")
_PASSING: Final = tuple(
    f"{start}{tone.value[0]} " for tone in (Tone.GOOD, Tone.PLAIN) for start in ("", f"\x1b[{tone.value[1]}m")
)  #: beginnings of the lines that `with_tone` returns for verdicts other than bad ones


@contextmanager
def apply_output_options(options: Namespace) -> Iterator[None]:
    """Apply ``--color``, ``--quiet`` and ``--verbose`` to what is printed within the block.

    Errors get the fact ``environment``, the environment of the manifest that the command uses.
    """
    color, quiet, verbose = _COLOR.set(options.color), _QUIET.set(options.quiet), _VERBOSE.set(options.verbose)
    try:
        with clear_repeated_options():
            yield
    except ContractlogError as error:
        error.facts.setdefault("environment", getattr(options, "environment", None))
        raise
    finally:
        _COLOR.reset(color)
        _QUIET.reset(quiet)
        _VERBOSE.reset(verbose)


def is_quiet() -> bool:
    """Return whether only findings and errors are printed."""
    return _QUIET.get()


def is_verbose() -> bool:
    """Return whether details are printed that are left out otherwise."""
    return _VERBOSE.get()


def print_result(text: str) -> None:
    """Print one line of the result, with control characters escaped; if quiet, no passing verdict."""
    if not (is_quiet() and text.startswith(_PASSING)):
        _print_line(text, sys.stdout)


def print_document(text: str) -> None:
    """Print a rendered report, whose lines are escaped already."""
    for line in text.removesuffix("\n").split("\n"):
        _print_text(line, sys.stdout)


def print_json(value: Mapping[str, Any]) -> None:
    """Print the result as one JSON document, ASCII only."""
    for line in json.dumps(value, indent=2, ensure_ascii=True).split("\n"):
        print(escape_json_line(line))


def print_json_line(text: str) -> None:
    """Print one JSON document, given as one line of text."""
    _print_json_text(text, sys.stdout)


def print_json_message(text: str) -> None:
    """Print one JSON document, given as one line of text, to stderr, unless quiet."""
    if not is_quiet():
        sys.stdout.flush()
        _print_json_text(text, sys.stderr)


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as a table with aligned columns; nothing if there are none."""
    for line in table_lines(header, rows):
        print_result(line)


def table_lines(header: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    r"""Return the lines of a table, or none if it has no rows.

    None is a dash; columns of numbers are right-aligned.

    >>> print(*table_lines(("name", "id"), [("orders", 9), ("線路", 10), ("a\tb", None)]), sep="\n")
    name    id
    orders   9
    線路    10
    a\tb     -
    """
    values = list(rows)
    if not values:
        return []
    texts = [[_format_cell(cell) for cell in row] for row in values]
    right = [all(isinstance(cell, int | None) for cell in column) for column in zip(*values, strict=True)]
    return align_columns((header, *texts), right)


def align_columns(lines: Sequence[Sequence[str]], right: Sequence[bool] = ()) -> list[str]:
    """Return lines of cells with aligned columns; empty columns are left out.

    Widths are those on a terminal, where some characters take two columns.

    Args:
        lines: the cells of each line, without characters that a terminal interprets.
        right: whether each column is aligned to the right; empty: none is.

    >>> align_columns([("線路", "", "a"), ("orders", "", "b")])
    ['線路    a', 'orders  b']
    """
    widths = [max(map(_display_width, column)) for column in zip(*lines, strict=True)]
    columns = [(width, is_right) for width, is_right in zip(widths, right or [False] * len(widths), strict=True)]
    return [
        "  ".join(_pad_cell(cell, *column) for cell, column in zip(line, columns, strict=True) if column[0]).rstrip()
        for line in lines
    ]


def _format_cell(cell: object) -> str:
    return "-" if cell is None else escape_line(str(cell)).replace("\t", r"\t")


def _pad_cell(text: str, width: int, right: bool) -> str:  # noqa: FBT001 - mapped
    padding = " " * (width - _display_width(text))
    return padding + text if right else text + padding


def _display_width(text: str) -> int:
    """Return the number of terminal columns: two for wide characters, none for combining ones."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.category(c) in {"Mn", "Me"} else 1 + (unicodedata.east_asian_width(c) in "WF") for c in text
    )


@contextmanager
def continue_without_reader() -> Iterator[None]:
    """Continue if nobody reads the output any more, so that a change that was begun is completed."""
    try:
        yield
    except BrokenPipeError:
        for stream in (sys.stdout, sys.stderr):
            try:
                stream.flush()
            except BrokenPipeError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_message(text: str) -> None:
    """Print one message line to stderr, with control characters escaped, unless quiet."""
    if not is_quiet():
        print_error(text)


def print_error(text: str) -> None:
    """Print one line of an error to stderr, with control characters escaped."""
    sys.stdout.flush()
    _print_line(text, sys.stderr)


def with_tone(tone: Tone, text: str, indent: str = "") -> str:
    """Return a text with its symbol, in colour if ``--color``, the environment or the terminal say so."""
    symbol, colour = tone.value
    marked = f"{indent}{symbol} {text}"
    return f"\x1b[{colour}m{marked}\x1b[0m" if _uses_color() else marked


def count_noun(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun: ``1 file``, ``2,000 files``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def _uses_color() -> bool:
    """Return whether verdicts are coloured.

    ``--color`` decides; if it is ``auto``, NO_COLOR, then CLICOLOR_FORCE, then the terminal.
    """
    color = _COLOR.get()
    if color != "auto" or os.environ.get("NO_COLOR"):
        return color == "always"
    if os.environ.get("CLICOLOR_FORCE", "0") != "0":
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _print_line(text: str, stream: Any) -> None:
    coloured = _COLOURED_LINE.fullmatch(text)
    if coloured:
        _print_text(f"{coloured[1]}{escape_line(coloured[2])}{coloured[3]}", stream)
        return
    line = text.removesuffix("\r")  # a diff line may end in CRLF, which `patch` needs unescaped
    _print_text(escape_line(line) + text[len(line) :], stream)


def _print_json_text(text: str, stream: Any) -> None:
    line = escape_json_line(text)
    try:
        line.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        line = _NOT_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], line)
    print(line, file=stream)


def _print_text(text: str, stream: Any) -> None:
    encoding = stream.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream)
