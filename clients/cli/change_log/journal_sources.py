"""Change logs that ``contractlog journal`` reads: of a registry, of a database, or an exported file."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, TextIO

from contractlog.clients.cli.options import connect, select_context
from contractlog.clients.functions_by_name import import_function
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UnreadableResponse, UsageError
from contractlog.contracts.change_log.cloud_events import parse_cloud_event
from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange

__all__ = ["ChangeLogSource", "open_source"]

_DATABASE: Final = "contractlog.registry.maintenance.change_log_reader:open_change_log"
_MARKER: Final = '"specversion"'  #: in each event
_PAGE: Final = 1_000  #: the limit of the API
_MAX_LINE: Final = 64 * 1024 * 1024  #: characters; a file without line ends would fill the memory


@dataclass(frozen=True, slots=True)
class ChangeLogSource:
    """A change log that can be read."""

    end: ChangeLogHead | None  #: where it ends; None if the source does not say
    read: Callable[[int], Iterable[RecordedChange]]  #: the entries after a number; ``ValueError`` if one is unreadable


@contextmanager
def open_source(options: Namespace) -> Iterator[ChangeLogSource]:
    """Open the change log that the options name.

    Raises:
        UsageError: two are named, or it cannot be read.
    """
    file = getattr(options, "file", None)
    if sum(value is not None for value in (file, options.database_url, options.registry)) > 1:
        raise UsageError("name one source: a file, --database-url or --registry")
    if file is not None:
        with _open_text(file) as lines:
            yield ChangeLogSource(None, lambda _since: _parse_lines(lines, file))
    elif options.database_url is not None:
        with _find_database_reader()(options.database_url) as (end, read):
            yield ChangeLogSource(end, read)
    else:
        select_context(options)
        with connect(options) as registry:
            end = _read_head(registry)
            yield ChangeLogSource(end, lambda since: _read_registry(registry, since, end))


def _find_database_reader() -> Any:
    try:
        return import_function(_DATABASE)
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("contractlog"):
            raise
        raise UsageError("--database-url needs an extra: pip install 'contractlog[server]'") from None


def _read_head(registry: Registry) -> ChangeLogHead:
    page = registry.changes("latest")
    head = page.get("head")
    if not isinstance(head, int) or (head and not isinstance(page.get("head_hash"), str | None)):
        raise UnreadableResponse("`head` and `head_hash` are not those of a change log")
    if "head_hash" not in page:
        raise UsageError("this registry has no hashes in its change log: upgrade it")
    return ChangeLogHead(head, page["head_hash"])


def _read_registry(registry: Registry, since: int, end: ChangeLogHead) -> Iterator[RecordedChange]:
    """Yield the entries up to the end that was read first: later ones may be written at any time."""
    changes = map(RecordedChange.from_body, registry.each_change(since, page=_PAGE))
    return takewhile(lambda change: change.sequence <= end.sequence, changes)


@contextmanager
def _open_text(file: str) -> Iterator[TextIO]:
    if file == "-":
        yield sys.stdin
        return
    try:
        with Path(file).open(encoding="utf-8") as lines:
            yield lines
    except OSError as error:
        raise UsageError(f"`{file}` cannot be read: {error.strerror}") from None


def _parse_lines(lines: TextIO, file: str) -> Iterator[RecordedChange]:
    """Parse the lines of an export.

    Raises:
        UsageError: the file is no export.
        ValueError: a line is none.
    """
    number = 0
    while line := _read_first(lines, file) if not number else lines.readline(_MAX_LINE + 1):
        number += 1
        if len(line) > _MAX_LINE:
            raise ValueError(f"line {number} has more than {_MAX_LINE:,} characters")
        try:
            change = parse_cloud_event(line)
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        yield change


def _read_first(lines: TextIO, file: str) -> str:
    """Return the first line, which in every export has the marker of CloudEvents."""
    try:
        line = lines.readline(_MAX_LINE + 1)
    except UnicodeDecodeError as error:
        if _MARKER.encode() in error.object:  # an export with a changed byte
            raise
        line = "\0"
    if line and _MARKER not in line:
        name = "stdin" if file == "-" else f"`{file}`"
        raise UsageError(f"{name} is not an export of a change log: write one with contractlog journal export")
    return line
