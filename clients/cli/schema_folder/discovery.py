"""Search of folders for schema files.

Schema files end in ``.avsc`` or ``.schema.json``, or in ``.json``, if they have a ``$schema`` of JSON Schema or a rule
of the manifest is for ``.json`` files. Hidden folders and other hidden files are left out, and what
``.contractlogignore`` at the top of a folder lists (as in ``.gitignore``).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.cli.schema_folder.file_names import FOLDER_SUFFIXES
from contractlog.clients.cli.schema_folder.folder_warnings import FolderRule, FolderWarning
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Manifest
from contractlog.clients.cli.schema_folder.path_patterns import PathPattern
from contractlog.clients.file_errors import ControlFile, FileError, control_file_error
from contractlog.clients.lock_file import LOCK_FORMATS
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.json_schema.vocabulary import is_meta_schema_uri

__all__ = ["DiscoveredFiles", "discover_files"]

IGNORE_FILE: Final = ".contractlogignore"
_AVRO_IDL: Final = ".avdl"
_MAX_IGNORE_BYTES: Final = 1024 * 1024
_MAX_PEEK_BYTES: Final = 1024 * 1024  #: a larger `.json` file in a folder is data, not a schema
_OWN_DOCUMENT: Final = re.compile(rb'\s*\{\s*"format":\s*"contractlog\.[a-z-]+/[0-9]+"')
_OWN_DOCUMENT_BYTES: Final = 200  #: of a file that tell whether it is one
_MAX_NAMED: Final = 3  #: most ignored files that a message names


@dataclass(frozen=True, slots=True)
class DiscoveredFiles:
    """The files in a folder."""

    folder: Path
    schemas: tuple[Path, ...]
    others: tuple[Path, ...]  #: files that are no schemas
    linked_folders: tuple[Path, ...] = ()  #: symbolic links to folders outside

    def find_warnings(self) -> Iterator[FolderWarning]:
        """Yield warnings about the files that are not read; those that are no schemas are counted in one."""
        for path in self.linked_folders:
            message = (
                f"{path} is a symbolic link to a folder outside, and is not followed: name {path.resolve()} itself, or "
                f"list the link in {IGNORE_FILE}"
            )
            yield FolderWarning(FolderRule.LINK, path, message)
        for path in self.others:
            if path.suffix == _AVRO_IDL:
                message = f"{path}: Avro IDL is not read: convert it with `avro-tools idl2schemata {path} DIR`"
                yield FolderWarning(FolderRule.AVRO_IDL, path, message)
        ignored = [path for path in self.others if path.suffix != _AVRO_IDL]
        if ignored:
            names = ", ".join(str(path) for path in ignored[:_MAX_NAMED])
            more = f" and {len(ignored) - _MAX_NAMED:,} more" if len(ignored) > _MAX_NAMED else ""
            message = f"files without the name of a schema are left out: {names}{more}; {IGNORE_FILE} silences this"
            yield FolderWarning(FolderRule.FILES_LEFT_OUT, self.folder, message)


def discover_files(folder: Path, manifest: Manifest | None = None) -> DiscoveredFiles:
    """List the files in a folder and the folders below, in order of their names.

    Raises:
        UsageError: a folder cannot be read, or a link leads to a file outside.
    """
    ignore = _read_ignore_file(folder)
    schemas: list[Path] = []
    others: list[Path] = []
    linked_folders: list[Path] = []
    for path in _walk_files(folder, ignore):
        if path.is_dir():
            linked_folders += [] if path.resolve().is_relative_to(folder.resolve()) else [path]
            continue
        _reject_link_outside(path, folder)
        if _is_schema_file(path, manifest):
            schemas.append(path)
        elif not _is_own_document(path):
            others.append(path)
    return DiscoveredFiles(folder, tuple(schemas), tuple(others), tuple(linked_folders))


def _walk_files(top: Path, ignore: _IgnoreRules) -> Iterator[Path]:
    """Yield the files below a folder, and symbolic links to folders, which are not followed."""

    def raise_error(error: OSError) -> None:
        raise UsageError(f"`{error.filename}` cannot be read: {error.strerror}")

    for folder, folders, names in os.walk(top, onerror=raise_error):
        relative = Path(folder).relative_to(top)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".") and not ignore.matches(f"{(relative / name).as_posix()}/")
        )
        yield from (Path(folder, name) for name in folders if Path(folder, name).is_symlink())
        for name in sorted(names):
            hidden = name.startswith(".") and not name.endswith(FOLDER_SUFFIXES)
            if (
                not hidden
                and name not in {*LOCK_FORMATS, MANIFEST}
                and not ignore.matches((relative / name).as_posix())
            ):
                yield Path(folder, name)


def _is_schema_file(path: Path, manifest: Manifest | None) -> bool:
    if path.suffix != ".json" or path.name.endswith(FOLDER_SUFFIXES):
        return path.name.endswith(FOLDER_SUFFIXES)
    return (manifest is not None and manifest.names_json_file(path)) or _names_meta_schema(path)


def _names_meta_schema(path: Path) -> bool:
    with suppress(OSError, ValueError, RecursionError):
        if path.is_file() and path.stat().st_size <= _MAX_PEEK_BYTES:
            value = json.loads(path.read_bytes())
            named = value.get("$schema") if isinstance(value, dict) else None
            return isinstance(named, str) and is_meta_schema_uri(named.removesuffix("#"))
    return False


def _is_own_document(path: Path) -> bool:
    """Return whether a file is a JSON document of contractlog, such as a saved plan, by its first member."""
    with suppress(OSError):
        if path.suffix == ".json" and path.is_file():
            with path.open("rb") as file:
                return _OWN_DOCUMENT.match(file.read(_OWN_DOCUMENT_BYTES)) is not None
    return False


def _reject_link_outside(path: Path, folder: Path) -> None:
    if path.is_symlink() and not path.exists():
        raise UsageError(f"`{path}` is a symbolic link to `{path.readlink()}`, which does not exist: remove the link")
    if path.is_symlink() and path.is_file() and not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"`{path}` is a symbolic link to a file outside `{folder}`: copy the file, or name it itself")


class _IgnoreRules:
    """Patterns of an ignore file; the last one that matches a path decides."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._patterns = [
            (PathPattern(line.removeprefix("!")), not line.startswith("!"))
            for line in map(str.strip, lines)
            if line and not line.startswith("#")
        ]

    def matches(self, path: str) -> bool:
        """Return True if a relative path is ignored; paths of folders end in a slash."""
        return next((ignores for pattern, ignores in reversed(self._patterns) if pattern.matches(path)), False)


def _read_ignore_file(folder: Path) -> _IgnoreRules:
    path = folder / IGNORE_FILE
    try:
        return _IgnoreRules(read_bounded_file(path, _MAX_IGNORE_BYTES).decode().splitlines())
    except FileNotFoundError:
        return _IgnoreRules(())
    except (OSError, UnicodeDecodeError) as error:
        raise control_file_error(
            [FileError(ControlFile.IGNORE_FILE, path, f"`{path}` cannot be read: {error}")]
        ) from None
