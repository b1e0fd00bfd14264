"""Schema files: their subject, version, format and text.

The subject and the format follow from the name: ``<topic>-value.avsc``, ``<topic>-key.avsc``,
``<topic>-value.schema.json``; characters not allowed in file names are percent-encoded. The version is the name of the
folder, if that is a number.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from contractlog.clients.pull_index import file_references
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.json_positions import position_at_offset
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

__all__ = [
    "SUFFIXES",
    "SchemaFile",
    "UnreadableFiles",
    "collect_files",
    "file_name",
    "format_of",
    "has_subject_in_name",
    "read_file",
    "read_stream",
    "subject_from_name",
]

SUFFIXES: Final = {SchemaType.AVRO: ".avsc", SchemaType.JSON: ".schema.json", SchemaType.PROTOBUF: ".proto"}
_FORMATS: Final = {".avsc": SchemaType.AVRO, ".schema.json": SchemaType.JSON, ".json": SchemaType.JSON}
_FOLDER_SUFFIXES: Final = (".avsc", ".schema.json")
_SUBJECT_SUFFIXES: Final = ("-value", "-key")
_STANDARD_INPUT: Final = Path("-")
_MAX_BYTES: Final = 16 * 1024 * 1024
_MAX_NAME: Final = 255  #: bytes; the limit of common file systems
_TRUNCATED_LENGTH: Final = 200  #: characters left of a name that is too long


class UnreadableFiles:
    """Collector of the errors of unreadable files, so that the other files can be processed first."""

    def __init__(self, *, deferred: bool = True) -> None:
        self._deferred = deferred
        self.problems: list[tuple[Path, UsageError]] = []

    @contextmanager
    def collect(self, path: Path, *, otherwise: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Collect a ``UsageError`` about a file and call ``otherwise``; unless ``deferred``, do not catch it."""
        try:
            yield
        except UsageError as error:
            if not self._deferred:
                raise
            self.problems.append((path, error))
            otherwise()

    def raise_errors(self, consequence: str = "") -> None:
        """Raise all collected errors as one, with their consequence.

        Raises:
            UsageError: there are errors.
        """
        suffix = f"; {consequence}" if consequence else ""
        if len(self.problems) == 1:
            raise UsageError(f"{self.problems[0][1]}{suffix}")
        if self.problems:
            details = [str(error) for _, error in self.problems]
            raise UsageError(f"{len(self.problems):,} files cannot be read as schemas{suffix}:", details=details)


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema file with its subject."""

    path: Path
    subject: str
    draft: SchemaDraft
    version: int | None = None  #: number that its folder is named by, if any; orders the files of a subject


def collect_files(
    paths: Iterable[str],
    *,
    subject: str | None = None,
    references: Sequence[Reference] = (),
    unreadable: UnreadableFiles | None = None,
) -> dict[str, list[SchemaFile]]:
    """Read files and folders; return the files of each subject in the order of their versions.

    Args:
        paths: files, and folders that are searched for schema files.
        subject: the subject of all files, instead of the one in their names.
        references: references of all files, besides those in the index of `contractlog pull`.
        unreadable: collects errors, so that the other files are returned; None: the first error is raised.

    Raises:
        UsageError: a path cannot be read, a name has no subject, or two files are the same version.
    """
    problems = UnreadableFiles(deferred=False) if unreadable is None else unreadable
    file_paths: list[Path] = []
    for text in paths:
        with problems.collect(Path(text)):
            file_paths += _list_files(Path(text))
    groups: dict[str, list[SchemaFile]] = {}
    for path in dict.fromkeys(file_paths):
        with problems.collect(path):
            file = read_file(path, subject, _add_pulled_references(path, references))
            groups.setdefault(file.subject, []).append(file)
    for group, files in list(groups.items()):
        files.sort(key=lambda file: (file.version is None, file.version or 0))
        with problems.collect(files[0].path, otherwise=partial(groups.pop, group)):
            _reject_duplicates(files, ordered_by_hand=subject is not None)
    return groups


def _add_pulled_references(path: Path, given: Sequence[Reference]) -> tuple[Reference, ...]:
    """Return the given references, and those of other names from the index of ``contractlog pull``."""
    names = {reference.name for reference in given}
    for folder in (path.parent, path.parent.parent):  # the index is above version folders 1/, 2/
        pulled = file_references(folder).get(path.relative_to(folder).as_posix(), ())
        if pulled:
            return (*given, *(reference for reference in pulled if reference.name not in names))
    return tuple(given)


def format_of(path: Path) -> SchemaType | None:
    """Return the format by the suffix of a file name, or None if it is unknown."""
    return next((kind for ending, kind in _FORMATS.items() if path.name.endswith(ending)), None)


def subject_from_name(path: Path) -> str:
    """Return the subject in a file name, without checking that it is one.

    >>> subject_from_name(Path("schemas/2/orders-value.avsc"))
    'orders-value'
    """
    return unquote(path.name.removesuffix(next((ending for ending in _FORMATS if path.name.endswith(ending)), "")))


def read_stream(path: Path, kind: SchemaType) -> SchemaFile:
    """Read a file without a known suffix, such as a pipe; ``-`` is standard input.

    Raises:
        UsageError: the file cannot be read.
    """
    return SchemaFile(path, "", SchemaDraft(_read_text(path), kind))


def read_file(path: Path, subject: str | None = None, references: tuple[Reference, ...] = ()) -> SchemaFile:
    """Read one file; the format, and by default the subject, follow from its name.

    Raises:
        UsageError: the file cannot be read, or its name has no known suffix or no subject.
    """
    ending = next((ending for ending in _FORMATS if path.name.endswith(ending)), None)
    if ending is None:
        raise UsageError(f"`{path}` has no known format: schema files end in {' or '.join(_FOLDER_SUFFIXES)}")
    name = subject_from_name(path)
    if subject is None and not (name.endswith(_SUBJECT_SUFFIXES) and name not in _SUBJECT_SUFFIXES):
        raise UsageError(
            f"schema file `{path}` has no subject: rename it to <topic>-value{ending} or <topic>-key{ending}, "
            "or pass --subject"
        )
    _reject_special(path)
    folder = path.absolute().parent.name
    return SchemaFile(
        path=path,
        subject=name if subject is None else subject,
        draft=SchemaDraft(_read_text(path), _FORMATS[ending], references),
        version=int(folder) if folder.isascii() and folder.isdigit() and len(folder) <= len(str(2**31)) else None,
    )


def file_name(subject: str, kind: SchemaType) -> str:
    """Return the file name for a subject.

    >>> file_name("a/b-value", SchemaType.JSON)
    'a%2Fb-value.schema.json'

    A name that is too long for a file system is truncated, and a hash is appended.
    """
    name = quote(subject, safe=" ") + SUFFIXES[kind]
    if len(name) <= _MAX_NAME:
        return name
    return f"{name[:_TRUNCATED_LENGTH]}~{sha256(name.encode()).hexdigest()[:16]}{SUFFIXES[kind]}"


def has_subject_in_name(subject: str) -> bool:
    """Return whether the subject can be recovered from its file name."""
    longest = len(quote(subject, safe=" ")) + max(map(len, SUFFIXES.values()))
    return subject.endswith(_SUBJECT_SUFFIXES) and subject not in _SUBJECT_SUFFIXES and longest <= _MAX_NAME


def _list_files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        with suppress(PermissionError):
            _require_existing(path)
        yield path
        return
    files = [
        Path(folder, name)
        for folder, folders, names in _walk_folders(path)
        for name in sorted(names)
        if name.endswith(_FOLDER_SUFFIXES)
    ]
    if not files:
        raise UsageError(f"`{path}` contains no schema files: their names end in {' or '.join(_FOLDER_SUFFIXES)}")
    yield from files


def _require_existing(path: Path) -> None:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"`{path}` does not exist") from None


def _reject_special(path: Path) -> None:
    """Reject pipes and devices, as opening one may block forever.

    Raises:
        UsageError: the path is neither a regular file nor a folder.
    """
    with suppress(OSError):  # reported when the file is read
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UsageError(f"`{path}` is a pipe, a socket or a device, not a regular file")


def _walk_folders(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    def raise_error(error: OSError) -> None:
        raise UsageError(f"`{error.filename}` cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(path, onerror=raise_error):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, folders, names


def _read_text(path: Path) -> str:
    try:
        with nullcontext(sys.stdin.buffer) if path == _STANDARD_INPUT else path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror or error}") from None
    if len(content) > _MAX_BYTES:
        raise UsageError(f"`{path}` is larger than {_MAX_BYTES // 1024 // 1024} MiB, the most that a registry accepts")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        position = position_at_offset(content[: error.start].decode("utf-8-sig", "replace") + "?", error.start)
        raise UsageError(f"{path}:{position}: the file is not UTF-8: save it as UTF-8") from None


def _reject_duplicates(files: list[SchemaFile], *, ordered_by_hand: bool) -> None:
    for first, second in pairwise(files):
        if first.version == second.version and not (ordered_by_hand and first.version is None):
            version = "" if first.version is None else f"version {first.version} of "
            raise UsageError(
                f"`{first.path}` and `{second.path}` are both {version}`{first.subject}`: "
                "put versions into folders 1/, 2/ or name one file"
            )
