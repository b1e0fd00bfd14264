"""Search of folders for schema files.

Schema files end in ``.avsc`` or ``.schema.json``, or in ``.json``, if they have a ``$schema`` of JSON Schema, a rule of
the manifest is for ``.json`` files, or the lock lists them. A ``.json`` file that cannot be parsed is one if it may
have been a schema before: it is reported, not left out. Hidden folders and other hidden files are left out, and what
``.contractlogignore`` lists.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from contractlog.clients.cli.schema_folder.file_names import CONTRACT_SUFFIX, FOLDER_SUFFIXES, has_topic_subject
from contractlog.clients.cli.schema_folder.folder_warnings import FolderRule, FolderWarning
from contractlog.clients.cli.schema_folder.ignore_files import IGNORE_FILE, IgnoreFiles
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Manifest
from contractlog.clients.lock_file import LOCK_FORMATS, file_digests
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.json_schema.vocabulary import is_meta_schema_uri
from contractlog.compatibility.name_lists import list_first

__all__ = ["DiscoveredFiles", "discover_files"]

_AVRO_IDL: Final = ".avdl"
_MAX_PEEK_BYTES: Final = 1024 * 1024  #: a larger `.json` file in a folder is data, not a schema
_META_SCHEMA: Final = re.compile(rb'"\$schema"\s*:\s*"([^"\n]*)"')
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
    ignore_file: Path = Path(IGNORE_FILE)  #: the nearest one, or where to create one

    def find_warnings(self) -> Iterator[FolderWarning]:
        """Yield warnings about the files that are not read; those that are no schemas are counted in one."""
        for path in self.linked_folders:
            message = (
                f"{path} is a symbolic link to a folder outside, and is not followed: name {path.resolve()} itself, or "
                f"list the link in `{self.ignore_file}`"
            )
            yield FolderWarning(FolderRule.LINK, path, message)
        for path in self.others:
            if path.suffix == _AVRO_IDL:
                message = f"{path}: Avro IDL is not read: convert it with `avro-tools idl2schemata {path} DIR`"
                yield FolderWarning(FolderRule.AVRO_IDL, path, message)
        ignored = [path for path in self.others if path.suffix != _AVRO_IDL]
        if ignored:
            names = list_first([str(path) for path in ignored], _MAX_NAMED)
            are = "1 file is not a schema file" if len(ignored) == 1 else f"{len(ignored):,} files are not schema files"
            was, it = ("was", "it") if len(ignored) == 1 else ("were", "them")
            message = (
                f"{are} (`.avsc`, `.schema.json`, `.json` with `$schema`) and {was} left out: {names}; "
                f"list {it} in `{self.ignore_file}`"
            )
            yield FolderWarning(FolderRule.FILES_LEFT_OUT, self.folder, message)


def discover_files(folder: Path, manifest: Manifest | None = None) -> DiscoveredFiles:
    """List the files in a folder and the folders below, in order of their names.

    Raises:
        UsageError: a folder cannot be read, or a link leads to a file outside.
    """
    ignore = IgnoreFiles(folder, manifest)
    list_locked = cache(_list_locked_names)
    schemas: list[Path] = []
    others: list[Path] = []
    linked_folders: list[Path] = []
    for path in _walk_files(folder, ignore):
        if path.is_dir():
            linked_folders += [] if path.resolve().is_relative_to(folder.resolve()) else [path]
            continue
        _reject_link_outside(path, folder)
        if _is_schema_file(path, manifest, list_locked):
            schemas.append(path)
        elif not (_is_own_document(path) or path.name.endswith(CONTRACT_SUFFIX)):
            others.append(path)
    suggested = ignore.suggest_path(folder)
    return DiscoveredFiles(folder, tuple(schemas), tuple(others), tuple(linked_folders), suggested)


def _walk_files(top: Path, ignore: IgnoreFiles) -> Iterator[Path]:
    """Yield the files below a folder, and symbolic links to folders, which are not followed."""

    def raise_error(error: OSError) -> None:
        raise UsageError(f"`{error.filename}` cannot be read: {error.strerror}")

    resolved_top = top.resolve()
    for folder, folders, names in os.walk(top, onerror=raise_error):
        resolved = resolved_top / Path(folder).relative_to(top)
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and not ignore.matches(resolved / name, is_folder=True)
        )
        yield from (Path(folder, name) for name in folders if Path(folder, name).is_symlink())
        for name in sorted(names):
            hidden = name.startswith(".") and not name.endswith(FOLDER_SUFFIXES)
            if (
                not hidden
                and name not in {*LOCK_FORMATS, MANIFEST}
                and not ignore.matches(resolved / name, is_folder=False)
            ):
                yield Path(folder, name)


def _is_schema_file(path: Path, manifest: Manifest | None, list_locked: Callable[[Path], Collection[str]]) -> bool:
    if path.suffix != ".json" or path.name.endswith(FOLDER_SUFFIXES):
        return path.name.endswith(FOLDER_SUFFIXES)
    if manifest is not None and manifest.names_json_file(path):
        return True
    return _names_meta_schema(path) or _is_locked(path, list_locked)


def _names_meta_schema(path: Path) -> bool:
    """Return whether a JSON file is a JSON schema, or may be one that cannot be read."""
    try:
        if not path.is_file() or path.stat().st_size > _MAX_PEEK_BYTES:
            return False
        content = path.read_bytes()
    except OSError:
        return True
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return has_topic_subject(path) or _mentions_meta_schema(content)
    return isinstance(value, dict) and _is_meta_schema(value.get("$schema"))


def _mentions_meta_schema(content: bytes) -> bool:
    """Return whether a text with syntax errors has a ``$schema``, and not that of other files."""
    named = _META_SCHEMA.findall(content)
    return any(_is_meta_schema(uri.decode(errors="replace")) for uri in named) or (
        not named and b'"$schema"' in content
    )


def _is_meta_schema(uri: object) -> bool:
    return isinstance(uri, str) and is_meta_schema_uri(uri.removesuffix("#"))


def _is_locked(path: Path, list_locked: Callable[[Path], Collection[str]]) -> bool:
    """Return whether the nearest lock above a file lists it."""
    folder = next((above for above in path.parents if list_locked(above)), None)
    return folder is not None and path.relative_to(folder).as_posix() in list_locked(folder)


def _list_locked_names(folder: Path) -> Collection[str]:
    """Return the files that a lock lists; none if it is invalid, which is reported elsewhere."""
    with suppress(UsageError):
        return file_digests(folder).keys()
    return ()


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
        raise UsageError(
            f"`{path}` is a symbolic link to a file outside `{folder}`: copy the file into the folder, or pass its own "
            "path as an argument"
        )
