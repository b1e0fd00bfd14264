"""One side of ``contractlog diff`` from a schema file.

The file has a subject, and types that its folder defines.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from contractlog.clients.cli.diff.sides import FileSide
from contractlog.clients.cli.schema_folder.collection import UnreadableFiles, collect_files
from contractlog.clients.cli.schema_folder.dependencies import order_files
from contractlog.clients.cli.schema_folder.file_names import folder_version
from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.manifest import MANIFEST, Manifest, load_manifest
from contractlog.clients.cli.schema_folder.resolver import parse_draft
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile, read_file
from contractlog.clients.lock_file import lock_path
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import NotFound, UsageError
from contractlog.compatibility.formats import list_names
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema_diff import DiffSide

__all__ = ["find_schema_folder", "own_folder", "read_file_side"]


@dataclass
class _Folder:
    """The files of a folder, without those that cannot be read."""

    files: Sequence[SchemaFile] = ()
    problems: UnreadableFiles = field(default_factory=UnreadableFiles)

    @classmethod
    def read(cls, path: Path, manifest: Manifest | None) -> _Folder:
        problems = UnreadableFiles()
        groups = collect_files([str(path)], manifest=manifest, unreadable=problems, name_subject=str)
        return cls(order_files(groups, problems.collect), problems)

    def find(self, path: Path) -> SchemaFile | None:
        """Return a file, with the first of its subjects."""
        return next((file for file in self.files if file.path.resolve() == path.resolve()), None)

    def list_dependencies(self, file: SchemaFile) -> list[SchemaFile]:
        """Return the direct and indirect dependencies of a file, each after its own.

        Raises:
            UsageError: one of them cannot be read.
        """
        by_path = {each.path: each for each in reversed(self.files)}
        pending = [target for _, target in file.dependencies]
        needed: set[Path] = set()
        while pending:
            path = pending.pop()
            if path not in needed:
                needed.add(path)
                pending += [target for _, target in by_path[path].dependencies] if path in by_path else []
        for path, error in self.problems.problems:
            if path in needed:
                raise error
        return [each for each in self.files if each.path in needed]


def find_schema_folder(path: Path) -> Path | None:
    """Return the nearest folder above a file, in its repository, with a manifest or a lock."""
    for above in path.resolve().parents:
        if (above / MANIFEST).is_file() or lock_path(above).is_file():
            return above if path.is_absolute() else Path(os.path.relpath(above))
        if (above / ".git").exists():
            break
    return None


def own_folder(path: Path) -> Path:
    """Return the folder of a file, above version folders 1/, 2/."""
    return path.parent if folder_version(path) is None else path.parent.parent


def read_file_side(
    path: Path,
    name: str,
    folder: Path | None,
    referenced: Mapping[str, str],
    open_registry: Callable[[], Registry],
    *,
    strict: bool,
) -> FileSide:
    """Read a schema file, with types from its folder.

    Args:
        path: the file.
        name: its name for users.
        folder: the folder with the manifest or the lock; None: its own one, if it uses types that it does not define.
        referenced: texts of types that the user gave, in place of those of the folder; empty if there are none.
        open_registry: opens the registry, for types that no file has.
        strict: as for ``parse_draft``.

    Raises:
        UsageError: it cannot be read, or it is not a valid schema.
    """
    plain = read_file(path, "")
    has_manifest = folder is not None and (folder / MANIFEST).is_file()
    manifest = load_manifest(folder / MANIFEST) if folder is not None and has_manifest else None
    uses_types = bool(list_names(plain.draft.type, plain.draft.text).external) and not referenced
    schemas = _Folder.read(folder or (own_folder(path) if uses_types else path), manifest)
    file = schemas.find(path)
    texts = _read_types(file, schemas, open_registry) if file is not None and not referenced else referenced
    try:
        parsed = parse_draft(replace(plain, path=Path(name)), texts, strict=strict)
    except UsageError as error:
        for _, problem in schemas.problems.problems:  # the unreadable file may define what this one lacks
            raise problem from error
        raise
    subject = None if file is None or file.subject == str(file.path) else file.subject
    return FileSide(DiffSide(name, plain.draft.text, parsed), subject, manifest)


def _read_types(file: SchemaFile, folder: _Folder, open_registry: Callable[[], Registry]) -> dict[str, str]:
    """Return the texts of all that a file refers to, by name."""
    needed = folder.list_dependencies(file)
    named = [(each, str(each.path)) for each in needed]
    baseline = FileRegistry.of_files("the folder", Level.NONE, named, normalize=False, open_registry=open_registry)
    by_path = {version.name: version for versions in baseline.subjects.values() for version in versions}
    try:
        texts = dict(baseline.referenced(file.draft, subject=file.subject))
    except NotFound as error:
        raise UsageError(f"{file.path}: a schema that it refers to is not registered: {error}") from None
    for name, target in file.dependencies:
        if str(target) in by_path:
            texts |= by_path[str(target)].texts
            texts[name] = by_path[str(target)].schema.text
    return texts
