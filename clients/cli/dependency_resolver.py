"""References of schema files to other files: to registered versions, or to planned ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from contractlog.clients.cli.file_check import find_registered, parse_draft, read_referenced
from contractlog.clients.cli.schema_files import PlannedReference, SchemaFile
from contractlog.clients.registry import Registry
from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.schema import ParsedSchema, Reference

__all__ = ["DependencyResolver"]


@dataclass
class _ResolvedFile:
    """A file that others may depend on."""

    file: SchemaFile
    texts: Mapping[str, str]  #: name -> text of its direct and indirect dependencies
    version: int | None = None  #: its registered version
    looked_up: bool = False


@dataclass
class DependencyResolver:
    """Replaces the dependencies of files by references; files come after those that they depend on."""

    registry: Registry
    normalize: bool = False
    _resolved: dict[Path, _ResolvedFile] = field(default_factory=dict)

    def resolve(self, file: SchemaFile) -> tuple[SchemaFile, ParsedSchema]:
        """Return a file with references to its dependencies, and its schema.

        Raises:
            UsageError: it is not a valid schema, a reference is not registered, or a dependency cannot be read.
        """
        texts = dict(read_referenced(file, self.registry))
        references = list(file.draft.references)
        planned: list[PlannedReference] = []
        for name, path in file.dependencies:
            target = self._resolved.get(path)
            if target is None:
                raise UsageError(f"{file.path}: it depends on `{path}`, which cannot be read as a schema")
            for inner, text in (*target.texts.items(), (name, target.file.draft.text)):
                if texts.setdefault(inner, text) != text:
                    raise UsageError(
                        f"{file.path}: the name `{inner}` means two schemas in what it depends on; rename one of them"
                    )
            version = self._find_version(target)
            if version is None:
                planned.append(PlannedReference(name, target.file.subject))
            else:
                references.append(Reference(name, target.file.subject, version))
        draft = replace(file.draft, references=tuple(references))
        complete = replace(file, draft=draft, planned=tuple(planned))
        parsed = parse_draft(complete, texts, strict=True)
        self._resolved[file.path] = _ResolvedFile(complete, texts)
        return complete, parsed

    def record(self, file: SchemaFile, version: int | None) -> None:
        """Take note of the registered version of a resolved file."""
        resolved = self._resolved[file.path]
        resolved.version, resolved.looked_up = version, version is not None

    def _find_version(self, target: _ResolvedFile) -> int | None:
        if not target.looked_up:
            target.looked_up = True
            registered = find_registered(self.registry, target.file, normalize=self.normalize)
            target.version = None if registered is None else registered.version
        return target.version
