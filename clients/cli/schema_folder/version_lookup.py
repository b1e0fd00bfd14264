"""Lookup of schema files in a registry: one by one, or in few requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final

from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.schema_files import FileKey, SchemaFile
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import (
    Denied,
    InvalidSchema,
    PayloadTooLarge,
    RegistryError,
    SchemaNotFound,
    SchemaTooLarge,
    SubjectNotFound,
    UsageError,
)
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema

if TYPE_CHECKING:
    from contractlog.clients.cli.schema_folder.file_registry import FileRegistry

__all__ = ["VersionLookup"]

_MAX_LOOKUPS: Final = 100  #: files in one request; the server limits the work of a request
_MAX_LOOKUP_CHARACTERS: Final = 1_000_000  #: of the texts in one request


@dataclass
class VersionLookup:
    """Searches for the registered versions of files, and notes subjects without versions."""

    registry: Registry | FileRegistry
    normalize: bool = False  #: of all subjects
    manifest: Manifest | None = None
    new_subjects: set[str] = field(default_factory=set)  #: without a version when they were looked up
    _normalized: dict[str, bool] = field(default_factory=dict)  #: by subject, as the manifest has it
    _has_batches: bool = True

    def normalizes(self, subject: str) -> bool:
        """Return whether normalized texts of a subject are compared and stored."""
        if self.normalize or self.manifest is None:
            return self.normalize
        if subject not in self._normalized:
            self._normalized[subject] = self.manifest.find_settings(subject).get("normalize") is True
        return self._normalized[subject]

    def find(self, file: SchemaFile) -> RegisteredSchema | None:
        """Return the version of the file's subject that has its content, or None."""
        try:
            registered = self.registry.lookup(file.subject, file.draft, normalize=self.normalizes(file.subject))
            return _require_context(file, registered)
        except (SubjectNotFound, SchemaNotFound) as error:
            self._take_note_of_missing(file, error)
            return None
        except Denied as error:
            error.facts.setdefault("details", [f"it is the subject of {file.path}"])
            raise
        except (InvalidSchema, PayloadTooLarge, SchemaTooLarge) as error:
            raise UsageError(f"{file.path}: rejected by the registry: {error}") from None

    def find_many(self, files: Sequence[SchemaFile]) -> Iterator[tuple[FileKey, RegisteredSchema | None]]:
        """Yield the files whose registered version, or None, was told in few requests."""
        for batch in self._split_batches(files) if self._has_batches and len(files) > 1 else ():
            try:
                results = self.registry.lookup_many(
                    [(file.subject, file.draft) for file in batch], normalize=self.normalizes(batch[0].subject)
                )
            except RegistryError:  # an extension of contractlog
                self._has_batches = False
                return
            for file, result in zip(batch, results, strict=True):
                if isinstance(result, RegisteredSchema):
                    yield file.key, _require_context(file, result)
                elif isinstance(result, (SubjectNotFound, SchemaNotFound)):
                    self._take_note_of_missing(file, result)
                    yield file.key, None

    def _take_note_of_missing(self, file: SchemaFile, error: RegistryError) -> None:
        if isinstance(error, SubjectNotFound):
            self.new_subjects.add(file.subject)

    def find_all(self, files: Sequence[SchemaFile]) -> dict[FileKey, RegisteredSchema | None]:
        """Return the registered version of each file; none for a file that the registry rejects."""
        versions = dict(self.find_many(files))
        for file in files:
            if file.key not in versions:
                with suppress(UsageError):
                    versions[file.key] = self.find(file)
        return versions

    def _split_batches(self, files: Sequence[SchemaFile]) -> Iterator[list[SchemaFile]]:
        """Yield the files of each request, which all are normalized or none."""
        for normalized in (False, True):
            remaining = (file for file in files if self.normalizes(file.subject) is normalized)
            while batch := list(islice(remaining, _MAX_LOOKUPS)):
                if sum(len(file.draft.text) for file in batch) <= _MAX_LOOKUP_CHARACTERS:
                    yield batch


def _require_context(file: SchemaFile, registered: RegisteredSchema) -> RegisteredSchema | None:
    """Return the version, or None if it is in another context.

    For a name without a context, registries look in all contexts if the default one does not have the schema.
    """
    wanted, subject = Subject.parse(file.subject), registered.subject
    if subject is not None and subject.name == wanted.name and subject.context != wanted.context:
        return None
    return registered
