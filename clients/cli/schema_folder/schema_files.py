"""Schema files: their subject, version, format and text."""

from __future__ import annotations

import re
import stat
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from contractlog.clients.cli.schema_folder.file_names import (
    FOLDER_SUFFIXES,
    folder_version,
    format_of,
    has_topic_subject,
    subject_from_name,
)
from contractlog.clients.lock_file import LockedFile
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.json_positions import Position, find_syntax_error, position_at_offset
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

__all__ = [
    "MAX_FILE_BYTES",
    "MERGE_CONFLICT",
    "FileDependency",
    "FileKey",
    "LockedReference",
    "PlannedReference",
    "SchemaFile",
    "UnresolvedName",
    "describe_syntax_error",
    "find_merge_conflict",
    "index_by_path",
    "raise_all",
    "read_file",
    "read_stream",
]

_STANDARD_INPUT: Final = Path("-")
MAX_FILE_BYTES: Final = 16 * 1024 * 1024
_CONFLICT_MARKER: Final = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)
MERGE_CONFLICT: Final = "a merge conflict is not resolved: choose a side, and remove the markers"


FileKey = tuple[Path, str]  #: path and subject


class FileDependency(NamedTuple):
    """A reference to the schema in another file."""

    name: str  #: name of the reference
    target: Path


class UnresolvedName(NamedTuple):
    """A name that a file uses and that no file of the same call defines."""

    name: str  #: as written: a type, or the `$ref` without its fragment
    pointer: str  #: JSON Pointer to its first use
    message: str  #: the reason and the way out


class PlannedReference(NamedTuple):
    """A reference to a version that does not exist yet."""

    name: str
    subject: str


class LockedReference(NamedTuple):
    """A reference from ``contractlog.lock``: no file of the same call is its target."""

    name: str
    lock: Path
    removed_file: Path | None  #: the file that the lock names for its target, if that does not exist any more


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema file with its subject."""

    path: Path
    subject: str
    draft: SchemaDraft
    version: int | None = None  #: number that its folder is named by, if any; orders the files of a subject
    dependencies: tuple[FileDependency, ...] = ()  #: files of the same call that it refers to
    planned: tuple[PlannedReference, ...] = ()  #: to schemas that are not registered yet
    pinned: frozenset[str] = frozenset()  #: names of dependencies on versions that were not the latest when pulled
    unresolved: tuple[UnresolvedName, ...] = ()
    locked_references: tuple[LockedReference, ...] = ()  #: those of the draft that the lock gives
    edited: LockedFile | None = None  #: the pulled version with metadata or rules that the file was, if it was edited

    @property
    def key(self) -> FileKey:
        """The identity of the file in a command: a file may have several subjects."""
        return self.path, self.subject

    @property
    def version_order(self) -> tuple[bool, int]:
        """Sort key of the versions of a subject; a file outside of version folders is the last."""
        return self.version is None, self.version or 0

    def reference_bodies(self) -> list[dict[str, Any]]:
        """Return the references as JSON objects; planned ones have no version."""
        planned = [{"name": name, "subject": subject, "version": None} for name, subject in self.planned]
        return [*(reference.body() for reference in self.draft.references), *planned]


def index_by_path(files: Iterable[SchemaFile]) -> dict[Path, SchemaFile]:
    """Return the files by path; one that has several subjects with the first of them."""
    by_path: dict[Path, SchemaFile] = {}
    for file in files:
        by_path.setdefault(file.path, file)
    return by_path


def read_stream(path: Path, kind: SchemaType) -> SchemaFile:
    """Read a file without a known suffix, such as a pipe; ``-`` is standard input.

    Raises:
        UsageError: the file cannot be read.
    """
    return SchemaFile(path, "", SchemaDraft(_read_text(path), kind))


def read_file(path: Path, subject: str | None = None, references: tuple[Reference, ...] = ()) -> SchemaFile:
    """Read one file; the format, and by default the subject, follow from its name.

    The subject is empty if the name is not that of a topic's key or value.

    Raises:
        UsageError: the file cannot be read, or its name has no known suffix.
    """
    kind = format_of(path)
    if kind is None:
        raise UsageError(f"`{path}` has no known format: schema files end in {' or '.join(FOLDER_SUFFIXES)}")
    _reject_special(path)
    return SchemaFile(
        path=path,
        subject=(subject_from_name(path) if has_topic_subject(path) else "") if subject is None else subject,
        draft=SchemaDraft(_read_text(path), kind, references),
        version=folder_version(path),
    )


def raise_all(messages: Sequence[str]) -> None:
    """Raise the messages about a file as one error, which ``UnreadableFiles`` lists one by one.

    Raises:
        UsageError: there are messages.
    """
    if messages:
        raise UsageError(messages[0], others=tuple(messages[1:]))


def _reject_special(path: Path) -> None:
    """Reject pipes and devices, as opening one may block forever.

    Raises:
        UsageError: the path is neither a regular file nor a folder.
    """
    with suppress(OSError):  # reported when the file is read
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UsageError(f"`{path}` is a pipe, a socket or a device, not a regular file")


def _read_text(path: Path) -> str:
    try:
        with nullcontext(sys.stdin.buffer) if path == _STANDARD_INPUT else path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror or error}") from None
    if len(content) > MAX_FILE_BYTES:
        raise UsageError(
            f"`{path}` is larger than {MAX_FILE_BYTES // 1024 // 1024} MiB, the most that a registry accepts"
        )
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        position = position_at_offset(content[: error.start].decode("utf-8-sig", "replace") + "?", error.start)
        raise UsageError(f"{path}:{position}: the file is not UTF-8: save it as UTF-8") from None
    conflict = find_merge_conflict(text)
    if conflict is not None:
        raise UsageError(f"{path}:{conflict}: {MERGE_CONFLICT}")
    return text


def describe_syntax_error(file: SchemaFile, *, comments: bool) -> str | None:
    """Return the message for the first JSON syntax error of a file, or None if there is none."""
    if not file.draft.text.strip():
        return f"{file.path}: the file is empty"
    syntax = find_syntax_error(file.draft.text, comments=comments)
    if syntax is None:
        return None
    reason, position = syntax
    return f"{file.path}:{position}: the text is not JSON: {reason.removesuffix(' starting at')}"


def find_merge_conflict(text: str) -> Position | None:
    """Return the position of the first marker of a merge conflict, or None."""
    conflict = _CONFLICT_MARKER.search(text)
    return None if conflict is None else position_at_offset(text, conflict.start())
