"""Earlier versions in version folders: matched with the registered versions that they are.

A file in an older version folder is not registered again because a type that it uses has changed since: it keeps the
references that it was registered with. The last version of each subject refers to the current versions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from contractlog.clients.cli.schema_folder.schema_files import FileKey, SchemaFile, index_by_path
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import NotFound
from contractlog.compatibility.schema import Reference, RegisteredSchema

if TYPE_CHECKING:
    from contractlog.clients.cli.schema_folder.file_registry import FileRegistry

__all__ = ["EarlierVersionMatcher", "list_earlier_versions"]

LookUp = Callable[[Sequence[SchemaFile]], Mapping[FileKey, RegisteredSchema | None]]


def list_earlier_versions(files: Iterable[SchemaFile]) -> list[SchemaFile]:
    """Return the files with references that are not the last version of their subject, ascending."""
    by_subject: dict[str, list[SchemaFile]] = {}
    for file in files:
        by_subject.setdefault(file.subject, []).append(file)
    return [
        file
        for versions in by_subject.values()
        for file in sorted(versions, key=lambda file: file.version_order)[:-1]
        if file.version is not None and (file.dependencies or file.draft.references)
    ]


@dataclass
class EarlierVersionMatcher:
    """Search for the registered versions of files, by text and the references of each version."""

    registry: Registry | FileRegistry
    look_up: LookUp  #: returns the version of each file with its text and its references
    #: files by their subject and version; each version is that of one file, or of equal ones
    matched: dict[tuple[str, int], SchemaFile]
    files: Mapping[Path, SchemaFile]  #: all files of the command
    registered_files: set[FileKey] = field(default_factory=set)  #: files that are registered as they are
    _references: dict[str, dict[int, tuple[Reference, ...]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        registry: Registry | FileRegistry,
        look_up: LookUp,
        files: Iterable[SchemaFile],
        looked_up: Iterable[tuple[SchemaFile, RegisteredSchema | None]],
    ) -> EarlierVersionMatcher:
        """Make a matcher after a look-up of files with the references that they have in the folder."""
        matcher = cls(registry, look_up, {}, index_by_path(files))
        for file, existing in looked_up:
            if existing is not None and existing.version is not None:
                matcher.matched[file.subject, int(existing.version)] = file
                matcher.registered_files.add(file.key)
        return matcher

    def pin(self, files: Sequence[SchemaFile]) -> dict[FileKey, SchemaFile]:
        """Return the files that are registered, with the references that they were registered with.

        Args:
            files: earlier versions of subjects, ascending.
        """
        pinned: dict[FileKey, SchemaFile] = {}
        sources = {file.key: file for file in files}
        attempts = {file.key: self._list_attempts(file) for file in files if file.key not in self.registered_files}
        while current := [remaining.pop(0) for key, remaining in attempts.items() if remaining and key not in pinned]:
            versions = self.look_up(current)
            for file in current:
                existing = versions.get(file.key)
                if existing is None or existing.version is None:
                    continue
                source = sources[file.key]
                if self._are_equal(self.matched.setdefault((file.subject, existing.version), source), source):
                    pinned[file.key] = file
        return pinned

    def _list_attempts(self, file: SchemaFile) -> list[SchemaFile]:
        """Return the file with the references of each registered version.

        The version with the number of its folder is the first.
        """
        by_version = self._fetch_references(file.subject)
        numbers = sorted(by_version, key=lambda number: (number != file.version, -number))
        distinct = dict.fromkeys(by_version[number] for number in numbers)
        return [replace(file, draft=replace(file.draft, references=each), dependencies=()) for each in distinct]

    def _fetch_references(self, subject: str) -> dict[int, tuple[Reference, ...]]:
        if subject not in self._references:
            self._references[subject] = {}
            with suppress(NotFound):
                for number in self.registry.versions(subject):
                    self._references[subject][number] = self.registry.version(subject, number).references
        return self._references[subject]

    def _are_equal(self, file: SchemaFile, other: SchemaFile) -> bool:
        """Return whether two files have the same text, and refer to the same files or to equal ones."""
        pending, compared = [(file, other)], set()
        while pending:
            first, second = pending.pop()
            names = [each.name for each in first.dependencies]
            if first.draft != second.draft or names != [each.name for each in second.dependencies]:
                return False
            for (_, target), (_, counterpart) in zip(first.dependencies, second.dependencies, strict=True):
                if target == counterpart or (target, counterpart) in compared:
                    continue
                if not {target, counterpart} <= self.files.keys():
                    return False
                compared.add((target, counterpart))
                pending.append((self.files[target], self.files[counterpart]))
        return True
