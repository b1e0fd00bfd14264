"""Versions that ``contractlog.lock`` names, with their texts, for ``check --against lock``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from contractlog.clients.bounded_file import read_bounded_file
from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.pull.pulled_text import format_file_text, format_text
from contractlog.clients.cli.schema_folder.schema_files import FileDependency, SchemaFile
from contractlog.clients.file_errors import ControlFile, FileError, control_file_error
from contractlog.clients.lock_file import (
    LOCK,
    MAX_SCHEMA_FILE_BYTES,
    LockedSchema,
    lock_path,
    locked_context,
    read_lock_entries,
)
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import NotFound, Unreachable, UsageError
from contractlog.compatibility.identifiers import Subject, qualify_subject

__all__ = ["find_folder_of_subject", "find_lock_folder", "find_nearest_lock", "read_locked_files"]

Connect = Callable[[], AbstractContextManager[Registry]]


def find_nearest_lock(path: Path) -> Path | None:
    """Return the nearest folder above a file with a lock."""
    return next((above for above in path.parents if lock_path(above).is_file()), None)


def find_lock_folder(paths: Iterable[Path]) -> Path:
    """Return the folder with the lock of these paths: the nearest above, else the only one below.

    Raises:
        UsageError: there is none, or there are several.
    """
    folders: dict[Path, None] = {}
    for path in paths:
        start = path if path.is_dir() else path.parent
        above = [start.joinpath(*[".."] * number) for number in range(len(start.resolve().parts))]
        folder = next((each for each in above if lock_path(each).is_file()), None)
        below = [] if folder is not None else _list_locks_below(start)
        if folder is None and not below:
            message = (
                f"`{start / LOCK}` does not exist, nor does a lock in a folder above or below: `contractlog pull` "
                "writes it; or pass --against git:REVISION"
            )
            raise control_file_error([FileError(ControlFile.LOCK, start / LOCK, message)])
        folders |= dict.fromkeys(below if folder is None else [folder])
    if len({folder.resolve() for folder in folders}) > 1:
        raise UsageError(f"the files have several locks: {', '.join(map(str, folders))}; check one folder at a time")
    return next(iter(folders))


def find_folder_of_subject(top: Path, subject: str) -> Path:
    """Return the folder, in or below another one, whose lock names a subject.

    If none does, it is the only one with a lock, else the top.
    """
    folders = _list_locks_below(top)
    names = {subject, Subject.parse(subject).name}
    for folder in folders:
        if any(str(entry.schema.subject) in names for entry in read_lock_entries(folder)):
            return folder
    return folders[0] if len(folders) == 1 else top


def _list_locks_below(top: Path) -> list[Path]:
    """Return the folders below a folder that have a lock, without hidden ones."""
    folders = []
    for folder, names, _ in os.walk(top):
        names[:] = sorted(name for name in names if not name.startswith("."))
        if lock_path(Path(folder)).is_file():
            folders.append(Path(folder))
    return folders


def read_locked_files(folder: Path, connect: Connect, context: str = "") -> dict[str, list[SchemaFile]]:
    """Return the versions of each subject that a lock names, ascending.

    The text of a version is that of its file. If the file was edited or removed, the text is fetched from the registry,
    and must have the locked hash or guid.

    Args:
        folder: the folder of the lock.
        connect: opens the registry; called only if a text is not in the folder.
        context: the context that subjects of files get, as chosen with ``--environment``.

    Raises:
        UsageError: the lock is not valid, or a text cannot be found.
    """
    locked = read_lock_entries(folder)
    texts = {position: text for position, each in enumerate(locked) if (text := _read_text(folder, each)) is not None}
    missing = [(position, each) for position, each in enumerate(locked) if position not in texts]
    if missing:
        with connect() as registry:
            for position, each in missing:
                texts[position] = _fetch_text(registry, folder, each)
    paths = {_key(each): _path(folder, each) for each in locked}
    groups: dict[str, list[SchemaFile]] = {}
    for position, each in enumerate(locked):
        schema = replace(each.schema, text=texts[position])
        subject, version = _key(each)
        file = SchemaFile(paths[_key(each)], subject, schema.draft, version, _dependencies(each, paths))
        name = qualify_subject(subject, context)
        groups.setdefault(name, []).append(replace(file, subject=name))
    for versions in groups.values():
        versions.sort(key=lambda file: file.version or 0)
    return groups


def _key(locked: LockedSchema) -> tuple[str, int]:
    return str(locked.schema.subject), int(locked.schema.version or 0)


def _path(folder: Path, locked: LockedSchema) -> Path:
    """Return the path of a version, or a name for one that has its text in the lock."""
    if locked.file is not None:
        return folder / locked.file
    return Path(f"{folder / LOCK}:{locked.schema.subject}:{locked.schema.version}")


def _dependencies(locked: LockedSchema, paths: Mapping[tuple[str, int], Path]) -> tuple[FileDependency, ...]:
    home = locked.schema.subject or Subject.parse("")
    targets = (
        (each.name, paths.get((str(resolve_subject(each.subject, home.context)), each.version)))
        for each in locked.schema.references
    )
    return tuple(FileDependency(name, path) for name, path in targets if path is not None)


def _read_text(folder: Path, locked: LockedSchema) -> str | None:
    """Return the text of a version from the folder, or None if its file was edited or removed."""
    if locked.file is None:
        return locked.schema.text
    try:
        content = read_bounded_file(folder / locked.file, MAX_SCHEMA_FILE_BYTES)
    except OSError:
        return None
    return content.decode() if sha256(content).hexdigest() == locked.digest else None


def _fetch_text(registry: Registry, folder: Path, locked: LockedSchema) -> str:
    """Fetch the text of a version, which must have the locked hash or guid.

    Raises:
        UsageError: the registry has no such schema, or another one.
    """
    schema, path = locked.schema, _path(folder, locked)
    subject = schema.subject or Subject.parse("")
    home = Subject.parse(qualify_subject(str(subject), locked_context(folder)))
    texts: tuple[str, ...] = ()
    guid = None
    try:
        existing = registry.version(home, int(schema.version or 0), deleted=True)
        texts = format_file_text(registry, existing, str(home)), format_text(existing), existing.text
        guid = existing.guid
    except NotFound:
        pass
    except Unreachable as error:
        raise UsageError(
            f"`{path}` has changed since the pull; its earlier text is in the registry only, which is needed for "
            f"--against lock: {error}; or pass --against git:REVISION"
        ) from None
    for written in texts:  # the last two are of earlier releases
        if sha256(written.encode("utf-8", "surrogatepass")).hexdigest() == locked.digest:
            return written
    if guid is not None and guid == schema.guid:  # the pulled file had a formatting of its own
        return texts[-1]
    raise UsageError(
        f"`{path}` has changed since the pull, and the registry does not have version {schema.version} of "
        f"`{home}` as `{lock_path(folder)}` names it: name the registry that was pulled, or pull again"
    )
