"""Compatibility of promoted versions with those of the target, with the waivers of the manifest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path

from contractlog.clients.cli.check.file_check import FileCheck
from contractlog.clients.cli.check.subject_checker import SubjectChecker
from contractlog.clients.cli.promotion.references import ReferenceMap
from contractlog.clients.cli.schema_folder.manifest import Manifest
from contractlog.clients.cli.schema_folder.resolver import ResolvedFile
from contractlog.clients.cli.schema_folder.schema_files import PlannedReference, SchemaFile
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["SubjectPreview", "check_version"]


@dataclass
class SubjectPreview:
    """Checks the missing versions of a subject in order, each as if those before it were registered."""

    references: ReferenceMap
    subject: str  #: the name that both environments share
    manifest: Manifest | None
    _unchecked: list[ResolvedFile] = field(default_factory=list)
    _checker: SubjectChecker | None = None

    def add(self, schema: RegisteredSchema, draft: SchemaDraft, missing: Collection[tuple[str, int]]) -> None:
        """Add the next version; ``missing`` has those that it may refer to and that the target lacks.

        Raises:
            InvalidSchema: it cannot be parsed here.
        """
        self._unchecked.append(_resolve(self.references, self.subject, schema, draft, missing))

    def check(self) -> FileCheck:
        """Check the version that was added last.

        Raises:
            UsageError: a waiver covers it, and the manifest has no level to return to.
        """
        if self._checker is None:
            self._checker = _make_checker(self.references, self.subject, self.manifest)
        while len(self._unchecked) > 1:
            self._checker.check(self._unchecked.pop(0))
        return self._checker.check(self._unchecked.pop())


def check_version(
    references: ReferenceMap, subject: str, schema: RegisteredSchema, draft: SchemaDraft, manifest: Manifest
) -> FileCheck:
    """Check a version of the source as a file that would be registered in the target.

    Args:
        references: the versions of both environments.
        subject: the name that both environments share.
        schema: the version in the source.
        draft: the version with references to versions of the target.
        manifest: the manifest, whose `[[checks]]` are not applied.

    Raises:
        UsageError: a waiver covers it, and the manifest has no level to return to.
    """
    return _make_checker(references, subject, manifest).check(_resolve(references, subject, schema, draft, ()))


def _make_checker(references: ReferenceMap, subject: str, manifest: Manifest | None) -> SubjectChecker:
    target = references.target
    if manifest is not None:
        level = manifest.environment(target.name).level
        manifest = replace(manifest, checks=(), default_level=level)
    return SubjectChecker(target.registry, target.qualify(subject), manifest=manifest)


def _resolve(
    references: ReferenceMap,
    subject: str,
    schema: RegisteredSchema,
    draft: SchemaDraft,
    missing: Collection[tuple[str, int]],
) -> ResolvedFile:
    """Return a version as a file of the target, with the source's texts of its dependencies."""
    source, target = references.source, references.target
    keys = [key for key, _ in references.list_references(subject, schema)]
    planned = tuple(
        PlannedReference(reference.name, target.qualify(key[0]))
        for key, reference in zip(keys, draft.references, strict=True)
        if key in missing
    )
    existing = tuple(reference for key, reference in zip(keys, draft.references, strict=True) if key not in missing)
    texts = source.registry.referenced(schema.draft, subject=source.qualify(subject))
    path, qualified = Path(f"{subject}:{schema.version}"), target.qualify(subject)
    file = SchemaFile(path, qualified, replace(draft, references=existing), planned=planned)
    subjects = references.list_dependencies(subject, schema)
    return ResolvedFile(file, file, parse_schema(draft, texts, strict=False), texts, subjects=subjects)
