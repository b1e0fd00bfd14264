"""Schema files: which subject and version a file stands for, and what is in it.

The name tells: ``<topic>-value.avsc``, ``<topic>-key.avsc``, ``<topic>-value.schema.json``, percent-encoded where a
subject holds what a file name cannot. A folder named by a number holds that version.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.positions import position_of
from contractlog.compatibility.schema import Reference, SchemaDraft, SchemaType

__all__ = ["ENDINGS", "SchemaFile", "collect", "file_name", "read_file", "tells_its_subject"]

ENDINGS: Final = {SchemaType.AVRO: ".avsc", SchemaType.JSON: ".schema.json", SchemaType.PROTOBUF: ".proto"}
_READ: Final = {".avsc": SchemaType.AVRO, ".schema.json": SchemaType.JSON, ".json": SchemaType.JSON}
_FOUND_IN_FOLDERS: Final = (".avsc", ".schema.json")
_PARTS: Final = ("-value", "-key")
_MAX_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema in a file, and the subject it is meant for."""

    path: Path
    subject: str
    draft: SchemaDraft
    version: int | None = None  #: the number of its folder, where it has one; orders the files of a subject


def collect(
    paths: Iterable[str], *, subject: str | None = None, references: Sequence[Reference] = ()
) -> dict[str, list[SchemaFile]]:
    """Read files and folders; return the files of each subject in the order of their versions.

    Raises:
        UsageError: a path that cannot be read, a name that tells no subject, a version that is there twice.
    """
    groups: dict[str, list[SchemaFile]] = {}
    for path in dict.fromkeys(found for text in paths for found in _expand(Path(text))):
        file = read_file(path, subject, tuple(references))
        groups.setdefault(file.subject, []).append(file)
    for files in groups.values():
        files.sort(key=lambda file: (file.version is None, file.version or 0))
        _refuse_twins(files, ordered_by_hand=subject is not None)
    return groups


def read_file(path: Path, subject: str | None = None, references: tuple[Reference, ...] = ()) -> SchemaFile:
    """Read one file; its name tells the format, and the subject where none is given.

    Raises:
        UsageError: it cannot be read, or its name does not tell.
    """
    ending = next((ending for ending in _READ if path.name.endswith(ending)), None)
    if ending is None:
        raise UsageError(f"`{path}` tells no format: schema files end in {' or '.join(_FOUND_IN_FOLDERS)}")
    named = unquote(path.name.removesuffix(ending))
    if subject is None and not (named.endswith(_PARTS) and named not in _PARTS):
        raise UsageError(
            f"`{path}` tells no subject: name it <topic>-value{ending} or <topic>-key{ending}, or give --subject"
        )
    folder = path.absolute().parent.name
    return SchemaFile(
        path=path,
        subject=named if subject is None else subject,
        draft=SchemaDraft(_text(path), _READ[ending], references),
        version=int(folder) if folder.isascii() and folder.isdigit() and len(folder) <= len(str(2**31)) else None,
    )


def file_name(subject: str, kind: SchemaType) -> str:
    """Return the name of the file that holds a subject.

    >>> file_name("a/b-value", SchemaType.JSON)
    'a%2Fb-value.schema.json'
    """
    return quote(subject, safe=" ") + ENDINGS[kind]


def tells_its_subject(subject: str) -> bool:
    """Say whether a file of this subject can be found by its name alone."""
    return subject.endswith(_PARTS)


def _expand(path: Path) -> Iterator[Path]:
    if not path.is_dir():
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


def _walk(path: Path) -> Iterator[tuple[str, list[str], list[str]]]:
    def refuse(error: OSError) -> None:
        raise UsageError(f"`{error.filename}` cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(path, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield folder, folders, names


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(f"`{path}` cannot be read: {error.strerror or error}") from None
    if len(content) > _MAX_BYTES:
        raise UsageError(f"`{path}` is larger than {_MAX_BYTES // 1024 // 1024} MiB, which no registry takes")
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
