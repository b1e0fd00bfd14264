"""Files of Avro types that no other file of a folder uses, and that have no subject of their own."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from contractlog.clients.cli.schema_folder.discovery import discover_files
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import read_file
from contractlog.clients.lock_file import list_locked_files
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.formats import list_names
from contractlog.compatibility.reference_names import SchemaNames

__all__ = ["find_unused_types"]


def find_unused_types(manifest: Manifest | None, paths: Iterable[Path]) -> frozenset[Path]:
    """Return those of the files whose types no file of the manifest's folder uses.

    A file has a subject of its own by its name, by the manifest or by ``contractlog.lock``; by convention,
    every named type has one. Without a manifest, it is not known which files belong together.
    """
    if manifest is None:
        return frozenset()
    candidates = {path: names for path in paths if (names := _list_names(path)).type_name}
    candidates = {path: names for path, names in candidates.items() if not _has_subject(manifest, path)}
    if not candidates:
        return frozenset()
    used: dict[str, set[str]] = {}  # name -> the types whose files use it
    for path in (*discover_files(manifest.path.parent, manifest).schemas, *candidates):
        names = _list_names(path)
        for external in names.external:
            for name in (external.name, external.simple_name):
                used.setdefault(name, set()).add(names.type_name)
    return frozenset(
        path
        for path, names in candidates.items()
        if all(used.get(each, set()) <= {names.type_name} for each in names.defined)
    )


def _list_names(path: Path) -> SchemaNames:
    """Return the names in a schema file; none if it cannot be read, which is reported elsewhere."""
    with suppress(UsageError):
        draft = read_file(path).draft
        return list_names(draft.type, draft.text)
    return SchemaNames()


def _has_subject(manifest: Manifest, path: Path) -> bool:
    rule = manifest.find_rule(path)
    if read_file(path).subject or (rule is not None and rule.names_subjects):
        return True
    folder = next((folder for folder in path.parents if list_locked_files(folder)), None)
    return folder is not None and path.relative_to(folder).as_posix() in list_locked_files(folder)
