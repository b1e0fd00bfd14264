"""Schema files of a git revision or another folder, compared with in the place of a registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from contractlog.clients.calls import ResponseBody, SubjectLike, VersionLike
from contractlog.clients.calls.schemas import resolve_subject
from contractlog.clients.cli.schema_folder.resolver import FileResolver, parse_draft
from contractlog.clients.cli.schema_folder.schema_files import SchemaFile
from contractlog.clients.registry import Registry
from contractlog.compatibility.compatibility_policy import Policy
from contractlog.compatibility.errors import (
    NotFound,
    RegistryError,
    SchemaNotUnderSubject,
    SubjectNotFound,
    UsageError,
    VersionNotFound,
)
from contractlog.compatibility.formats import parse_schema
from contractlog.compatibility.identifiers import SchemaId, Subject, Version
from contractlog.compatibility.level import Level
from contractlog.compatibility.mode import Mode
from contractlog.compatibility.schema import ParsedSchema, Reference, RegisteredSchema, SchemaDraft

__all__ = ["FileRegistry"]


@dataclass
class _FileVersion:
    name: str  #: for users: the file that it comes from, or the number of a locked version
    schema: RegisteredSchema
    parsed: ParsedSchema
    texts: Mapping[str, str]  #: name -> text of its direct and indirect dependencies


@dataclass
class FileRegistry:
    """Versions of subjects that come from files: the part of a registry that checks need."""

    name: str  #: as the user wrote it
    compatibility_level: Level
    subjects: dict[str, list[_FileVersion]] = field(default_factory=dict)
    unnamed: set[str] = field(default_factory=set)  #: subjects without a file below the paths that the user named
    #: opens the registry, for references to versions that no file has; None: there is none
    open_registry: Callable[[], Registry] | None = None

    @classmethod
    def of_lock(cls, name: str, level: Level, locked: Iterable[SchemaFile]) -> FileRegistry:
        """Make the versions of a lock, with their numbers there, each after its dependencies.

        Raises:
            UsageError: one is not a valid schema, or the lock does not name what it depends on.
        """
        baseline = cls(name, level)
        for file in locked:
            try:
                texts = baseline.referenced(file.draft, subject=file.subject)
            except NotFound as error:
                raise UsageError(f"{file.path}: the lock does not have what it depends on: {error}") from None
            parsed = parse_draft(file, texts, strict=False)
            schema = RegisteredSchema(
                SchemaId(0),
                file.draft.text,
                file.draft.type,
                Subject.parse(file.subject),
                Version(file.version or 0),
                references=file.draft.references,
            )
            versions = baseline.subjects.setdefault(file.subject, [])
            versions.append(_FileVersion(f"version {schema.version}", schema, parsed, texts))
        return baseline

    @classmethod
    def of_files(
        cls,
        name: str,
        level: Level,
        files: Iterable[tuple[SchemaFile, str]],
        *,
        normalize: bool,
        open_registry: Callable[[], Registry] | None = None,
    ) -> FileRegistry:
        """Make the versions of files, each with its name for users; files come after their dependencies.

        Raises:
            UsageError: a file is not a valid schema.
        """
        baseline = cls(name, level, open_registry=open_registry)
        resolver = FileResolver(baseline, normalize)
        for file, path in files:
            resolved = resolver.resolve(file)
            versions = baseline.subjects.setdefault(file.subject, [])
            if resolved.registered is None:
                draft, number = resolved.file.draft, Version(len(versions) + 1)
                schema = RegisteredSchema(
                    SchemaId(0),
                    draft.text,
                    draft.type,
                    Subject.parse(file.subject),
                    number,
                    references=draft.references,
                )
                versions.append(_FileVersion(path, schema, resolved.parsed, resolved.texts))
                resolver.record(file, schema)
        return baseline

    def describe_version(self, subject: str, number: int) -> str:
        """Return the name of a version for users."""
        return self._version(subject, number).name

    def lookup(self, subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False) -> RegisteredSchema:
        """Return the version with this content.

        Raises:
            SubjectNotFound: no file has this subject.
            SchemaNotUnderSubject: no file of the subject has this content.
        """
        versions = self._versions(subject)
        context = Subject.parse(str(subject)).context
        parsed = parse_schema(draft, self.referenced(draft, subject=subject), strict=False)
        for version in reversed(versions):
            same_text = (
                version.parsed.normalized == parsed.normalized
                if normalize
                else version.parsed.canonical == parsed.canonical
            )
            if same_text and _targets(version.schema.references, context) == _targets(draft.references, context):
                return version.schema
        raise SchemaNotUnderSubject

    def lookup_many(
        self, schemas: Iterable[tuple[SubjectLike, SchemaDraft]], *, normalize: bool = False
    ) -> Sequence[RegisteredSchema | RegistryError]:
        """Look up each schema."""
        results: list[RegisteredSchema | RegistryError] = []
        for subject, draft in schemas:
            try:
                results.append(self.lookup(subject, draft, normalize=normalize))
            except RegistryError as error:
                results.append(error)
        return results

    def referenced(self, draft: SchemaDraft, *, subject: SubjectLike | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft by name; those that no file has are of the registry.

        Raises:
            SubjectNotFound, VersionNotFound: one of them is nowhere.
        """
        context = Subject.parse(str(subject)).context if subject is not None else ""
        texts: dict[str, str] = {}
        for reference in draft.references:
            try:
                target = self._version(str(resolve_subject(reference.subject, context)), reference.version)
            except NotFound:
                if self.open_registry is None:
                    raise
                single = replace(draft, references=(reference,))
                texts |= self.open_registry().referenced(single, subject=subject)
                continue
            texts |= target.texts
            texts[reference.name] = target.schema.text
        return texts

    def versions(self, subject: SubjectLike) -> list[int]:
        """Return the numbers of the versions."""
        return [int(each.schema.version or 0) for each in self._versions(subject)]

    def version(self, subject: SubjectLike, version: VersionLike) -> RegisteredSchema:
        """Return a version."""
        return self._version(str(subject), -1 if version == "latest" else int(version)).schema

    def level(self, subject: SubjectLike) -> Level:  # noqa: ARG002 - as of a registry
        """Return the level that the user chose."""
        return self.compatibility_level

    def policy(self, subject: SubjectLike) -> Policy:  # noqa: ARG002
        """Return the default policy."""
        return Policy.STRICT

    def mode(self, subject: SubjectLike) -> Mode:  # noqa: ARG002
        """Return READWRITE."""
        return Mode.READWRITE

    def permissions(self, subject: SubjectLike) -> ResponseBody:  # noqa: ARG002
        """Return nothing: files have no permissions."""
        return {}

    def _versions(self, subject: SubjectLike) -> list[_FileVersion]:
        if str(subject) not in self.subjects:
            raise SubjectNotFound(subject=str(subject))
        return self.subjects[str(subject)]

    def _version(self, subject: str, number: int) -> _FileVersion:
        versions = self._versions(subject)
        if number == -1:
            return versions[-1]
        version = next((each for each in versions if each.schema.version == number), None)
        if version is None:
            raise VersionNotFound(version=number)
        return version


def _targets(references: Iterable[Reference], context: str) -> set[tuple[str, str, int]]:
    return {(each.name, str(resolve_subject(each.subject, context)), each.version) for each in references}
