"""Versions that files of a subject are compared with: registered ones, and preceding files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from contractlog.clients.cli.schema_folder.file_registry import FileRegistry
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.cli.subject_settings import PlannedSettings
from contractlog.clients.registry import Registry
from contractlog.compatibility.data_contract import Metadata
from contractlog.compatibility.engine import ParsedVersion
from contractlog.compatibility.errors import InvalidSchema, NotFound, SubjectNotFound
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.level import Level
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema

__all__ = ["SubjectHistory"]


@dataclass
class SubjectHistory:
    """Versions of a subject that a level compares with, oldest first, fetched once."""

    registry: Registry | FileRegistry
    subject: str
    level: Level
    planned: PlannedSettings
    notes: list[str] = field(default_factory=list)  #: about versions that cannot be read here
    _registered: list[ParsedVersion] | None = None
    _files: list[tuple[SchemaFile, ParsedSchema]] = field(default_factory=list)
    _texts: dict[int, str] = field(default_factory=dict)  #: of the registered versions

    @property
    def registered(self) -> list[ParsedVersion]:
        """Versions of the registry; none if the level compares with none."""
        if self._registered is None:
            self._registered = [] if self.level is Level.NONE else list(self._fetch())
        return self._registered

    @property
    def pending(self) -> list[ParsedVersion]:
        """Files that were checked before, with the numbers that they would get."""
        return [
            ParsedVersion(number, parsed) for number, (_, parsed) in enumerate(self._files, self._first_file_number())
        ]

    def list_all(self) -> list[ParsedVersion]:
        """Return the versions of the registry, then the files."""
        return [*self.registered, *self.pending]

    def list_compared(self) -> list[ParsedVersion]:
        """Return the versions that the level compares with a new one."""
        versions = self.list_all()
        return versions if self.level.transitive else versions[-1:]

    def add(self, file: SchemaFile, parsed: ParsedSchema) -> None:
        """Add a file, with which those after it are compared."""
        self._files.append((file, parsed))

    def describe(self) -> dict[int, tuple[str, str]]:
        """Return name and text of each version by its number."""
        texts = {
            each.version: (self._name_version(each.version), self._texts[each.version]) for each in self.registered
        }
        files = enumerate(self._files, self._first_file_number())
        return texts | {number: (str(file.path), file.draft.text) for number, (file, _) in files}

    def _first_file_number(self) -> int:
        return self.registered[-1].version + 1 if self.registered else 1

    def _name_version(self, number: int) -> str:
        if isinstance(self.registry, FileRegistry):
            return self.registry.describe_version(self.subject, number)
        return f"version {number}"

    def _fetch(self) -> Iterator[ParsedVersion]:
        try:
            versions = self.registry.versions(self.subject)
        except SubjectNotFound:
            return
        for number, stored in self._select(versions):
            try:
                referenced = self.registry.referenced(stored.draft, subject=self.subject)
                earlier = ParsedVersion(number, parse_schema(stored.draft, referenced, strict=False))
            except (InvalidSchema, NotFound) as error:
                self.notes.append(f"version {number} cannot be read here, so the registry alone judges it: {error}")
                continue
            self._texts[number] = stored.draft.text
            yield earlier

    def _select(self, versions: Sequence[int]) -> list[tuple[int, RegisteredSchema]]:
        """Return the versions of the compatibility group: all of them, or the latest."""
        group, value = self.planned.group, self.planned.group_value
        latest = self.registry.version(self.subject, versions[-1]) if group is not None else None
        if group is not None and value is None and latest is not None and latest.metadata is not None:
            value = latest.metadata.properties.get(group)  # a new version has the metadata of the latest one
        selected = []
        for number in versions if self.level.transitive else reversed(versions):
            stored = self.registry.version(self.subject, number)
            if group is None or (stored.metadata or Metadata()).properties.get(group) == value:
                selected.append((number, stored))
                if not self.level.transitive:
                    break
        return selected
