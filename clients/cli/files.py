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

from contractlog.clients.pulled import file_references
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.positions import position_of
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

__all__ = [
    "ENDINGS",
    "SchemaFile",
    "Unreadable",
    "collect",
    "file_name",
    "format_of",
    "named_subject",
    "read_file",
    "read_stream",
    "tells_its_subject",
]

ENDINGS: Final = {SchemaType.AVRO: ".avsc", SchemaType.JSON: ".schema.json", SchemaType.PROTOBUF: ".proto"}
_READ: Final = {".avsc": SchemaType.AVRO, ".schema.json": SchemaType.JSON, ".json": SchemaType.JSON}
_FOUND_IN_FOLDERS: Final = (".avsc", ".schema.json")
_PARTS: Final = ("-value", "-key")
_STANDARD_INPUT: Final = Path("-")
_MAX_BYTES: Final = 16 * 1024 * 1024
_MAX_NAME: Final = 255  #: bytes; the limit of common file systems
_KEPT: Final = 200  #: characters left of a name that is too long


class Unreadable:
    """Collector of the errors of unreadable files, so that the other files can be processed first."""

    def __init__(self, *, kept: bool = True) -> None:
        self._kept = kept
        self.problems: list[tuple[Path, UsageError]] = []

    @contextmanager
    def of(self, path: Path, *, otherwise: Callable[[], object] = lambda: None) -> Iterator[None]:
        """Collect a ``UsageError`` about a file and call ``otherwise``; without ``kept``, do not catch it."""
        try:
            yield
        except UsageError as error:
            if not self._kept:
                raise
            self.problems.append((path, error))
            otherwise()

    def refuse(self, consequence: str = "") -> None:
        """Raise all collected errors as one, with their consequence.

        Raises:
            UsageError: there are errors.
        """
        then = f"; {consequence}" if consequence else ""
        if len(self.problems) == 1:
            raise UsageError(f"{self.problems[0][1]}{then}")
        if self.problems:
            details = [str(error) for _, error in self.problems]
            raise UsageError(f"{len(self.problems):,} files cannot be read as schemas{then}:", details=details)


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema file with its subject."""

    path: Path
    subject: str
    draft: SchemaDraft
    version: int | None = None  #: number that its folder is named by, if any; orders the files of a subject


def collect(
    paths: Iterable[str],
    *,
    subject: str | None = None,
    references: Sequence[Reference] = (),
    unreadable: Unreadable | None = None,
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
    problems = Unreadable(kept=False) if unreadable is None else unreadable
    found: list[Path] = []
    for text in paths:
        with problems.of(Path(text)):
            found += _expand(Path(text))
    groups: dict[str, list[SchemaFile]] = {}
    for path in dict.fromkeys(found):
        with problems.of(path):
            file = read_file(path, subject, _references_of(path, references))
            groups.setdefault(file.subject, []).append(file)
    for named, files in list(groups.items()):
        files.sort(key=lambda file: (file.version is None, file.version or 0))
        with problems.of(files[0].path, otherwise=partial(groups.pop, named)):
            _refuse_twins(files, ordered_by_hand=subject is not None)
    return groups


def _references_of(path: Path, given: Sequence[Reference]) -> tuple[Reference, ...]:
    """Return the given references, and those of other names from the index of ``contractlog pull``."""
    named = {reference.name for reference in given}
    for folder in (path.parent, path.parent.parent):  # the index is above version folders 1/, 2/
        pulled = file_references(folder).get(path.relative_to(folder).as_posix(), ())
        if pulled:
            return (*given, *(reference for reference in pulled if reference.name not in named))
    return tuple(given)


def format_of(path: Path) -> SchemaType | None:
    """Return the format by the suffix of a file name, or None if it is unknown."""
    return next((kind for ending, kind in _READ.items() if path.name.endswith(ending)), None)


def named_subject(path: Path) -> str:
    """Return the subject in a file name, without checking that it is one.

    >>> named_subject(Path("schemas/2/orders-value.avsc"))
    'orders-value'
    """
    return unquote(path.name.removesuffix(next((ending for ending in _READ if path.name.endswith(ending)), "")))


def read_stream(path: Path, kind: SchemaType) -> SchemaFile:
    """Read a file without a known suffix, such as a pipe; ``-`` is standard input.

    Raises:
        UsageError: the file cannot be read.
    """
    return SchemaFile(path, "", SchemaDraft(_text(path), kind))


def read_file(path: Path, subject: str | None = None, references: tuple[Reference, ...] = ()) -> SchemaFile:
    """Read one file; the format, and by default the subject, follow from its name.

    Raises:
        UsageError: the file cannot be read, or its name has no known suffix or no subject.
    """
    ending = next((ending for ending in _READ if path.name.endswith(ending)), None)
    if ending is None:
        raise UsageError(f"`{path}` has no known format: schema files end in {' or '.join(_FOUND_IN_FOLDERS)}")
    named = named_subject(path)
    if subject is None and not (named.endswith(_PARTS) and named not in _PARTS):
        raise UsageError(
            f"schema file `{path}` has no subject: rename it to <topic>-value{ending} or <topic>-key{ending}, "
            "or pass --subject"
        )
    _refuse_special(path)
    folder = path.absolute().parent.name
    return SchemaFile(
        path=path,
        subject=named if subject is None else subject,
        draft=SchemaDraft(_text(path), _READ[ending], references),
        version=int(folder) if folder.isascii() and folder.isdigit() and len(folder) <= len(str(2**31)) else None,
    )


def file_name(subject: str, kind: SchemaType) -> str:
    """Return the file name for a subject.

    >>> file_name("a/b-value", SchemaType.JSON)
    'a%2Fb-value.schema.json'

    A name that is too long for a file system is truncated, and a hash is appended.
    """
    name = quote(subject, safe=" ") + ENDINGS[kind]
    if len(name) <= _MAX_NAME:
        return name
    return f"{name[:_KEPT]}~{sha256(name.encode()).hexdigest()[:16]}{ENDINGS[kind]}"


def tells_its_subject(subject: str) -> bool:
    """Return whether the subject can be recovered from its file name."""
    longest = len(quote(subject, safe=" ")) + max(map(len, ENDINGS.values()))
    return subject.endswith(_PARTS) and subject not in _PARTS and longest <= _MAX_NAME


def _expand(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        with suppress(PermissionError):
            _refuse_missing(path)
        yield path
        return
    found = [
        Path(folder, name)
        for folder, folders, names in _walk(path)
        for name in sorted(names)
        if name.endswith(_FOUND_IN_FOLDERS)
    ]
    if not found:
        raise UsageError(f"`{path}` holds no schema files: their names end in {' or '.join(_FOUND_IN_FOLDERS)}")
    yield from found


def _refuse_missing(path: Path) -> None:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"`{path}` does not exist") from None


def _refuse_special(path: Path) -> None:
    """Reject pipes and devices, as opening one may block forever.

    Raises:
        UsageError: the path is neither a regular file nor a folder.
    """
    with suppress(OSError):  # reported when the file is read
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise UsageError(f"`{path}` is a pipe, a socket or a device, not a regular file")


def _walk(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    def refuse(error: OSError) -> None:
        raise UsageError(f"`{error.filename}` cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(path, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, folders, names


def _text(path: Path) -> str:
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
        place = position_of(content[: error.start].decode("utf-8-sig", "replace") + "?", error.start)
        raise UsageError(f"{path}:{place}: the file is not UTF-8: save it as UTF-8") from None


def _refuse_twins(files: list[SchemaFile], *, ordered_by_hand: bool) -> None:
    for first, second in pairwise(files):
        if first.version == second.version and not (ordered_by_hand and first.version is None):
            which = "" if first.version is None else f"version {first.version} of "
            raise UsageError(
                f"`{first.path}` and `{second.path}` are both {which}`{first.subject}`: "
                "put versions into folders 1/, 2/ or name one file"
            )
