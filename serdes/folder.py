"""Offline source of schemas: the folder that ``contractlog pull --all --history --out DIR`` wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from contractlog.clients.lock_file import load_locked_schemas
from contractlog.compatibility.errors import SchemaNotFound, SchemaNotUnderSubject, SubjectNotFound, VersionNotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import ParsedSchema, RegisteredSchema, SchemaDraft
from contractlog.serdes.client_sources import fetch_references
from contractlog.serdes.schema_source import fetch_and_parse
from contractlog.serdes.source_requests import run_sync

__all__ = ["FolderSource"]


class FolderSource:
    """The schemas of a folder, by id, guid, subject and version; it is read once, and registers nothing.

    It serves sync and async serializers alike.

    Args:
        folder: the folder that ``contractlog pull`` wrote.

    Raises:
        UsageError: it is not such a folder, or a file has changed since the pull.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._subjects: dict[str, dict[int, RegisteredSchema]] = {}
        self._by_id: dict[tuple[str, int], RegisteredSchema] = {}
        self._by_guid: dict[str, RegisteredSchema] = {}
        for pulled in load_locked_schemas(self._folder):
            schema = pulled.schema
            subject = schema.subject or Subject.parse("")
            self._subjects.setdefault(str(subject), {})[int(schema.version or 0)] = schema
            self._by_id.setdefault((subject.context, int(schema.schema_id)), schema)
            if schema.guid:
                self._by_guid.setdefault(schema.guid, schema)

    def register(self, subject: str, draft: SchemaDraft, *, normalize: bool = False) -> RegisteredSchema:
        """Return the existing version with a schema's content.

        Raises:
            NotFound: the folder has no such version; nothing can be registered in it.
        """
        return self.lookup(subject, draft, normalize=normalize)

    def lookup(
        self, subject: str, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the version of a subject that has this content; raise ``NotFound`` if there is none."""
        del deleted
        requested = fetch_and_parse(self, draft)
        for schema in reversed(self._versions_of(subject).values()):
            if _has_same_content(requested, fetch_and_parse(self, schema.draft), normalize=normalize):
                return schema
        message = f"`{self._folder}` contains no such schema of `{subject}`, and nothing can be registered there"
        raise SchemaNotUnderSubject(message)

    def schema_by_id(self, schema_id: int, *, subject: str | None = None) -> RegisteredSchema:
        """Return the schema of an id, in the subject's context; raise ``NotFound`` if there is none."""
        schema = self._by_id.get((Subject.parse(subject or "").context, schema_id))
        if schema is None:
            message = f"`{self._folder}` contains no schema of the id {schema_id}: pull it again"
            raise SchemaNotFound(message, schema=schema_id)
        return schema

    def schema_by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema of a guid; raise ``NotFound`` if there is none."""
        schema = self._by_guid.get(guid)
        if schema is None:
            raise SchemaNotFound(f"`{self._folder}` contains no schema of the guid {guid}: pull it again", schema=guid)
        return schema

    def version(self, subject: str, version: int | Literal["latest"], *, deleted: bool = False) -> RegisteredSchema:
        """Return a version of a subject; raise ``NotFound`` if there is none."""
        del deleted
        versions = self._versions_of(subject)
        schema = versions.get(max(versions) if version == "latest" else version)
        if schema is None:
            message = (
                f"`{self._folder}` contains no version {version} of `{subject}`; it has {', '.join(map(str, versions))}"
            )
            raise VersionNotFound(message, version=version)
        return schema

    def versions(self, subject: str, *, deleted: bool = False) -> Sequence[int]:
        """Return the versions of a subject, ascending; raise ``NotFound`` if there is none."""
        del deleted
        return list(self._versions_of(subject))

    def latest_with_metadata(
        self, subject: str, metadata: Mapping[str, str], *, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the newest version with these properties; raise ``NotFound`` if there is none."""
        del deleted
        for schema in reversed(self._versions_of(subject).values()):
            properties = {} if schema.metadata is None else schema.metadata.properties
            if metadata.items() <= properties.items():
                return schema
        raise SchemaNotUnderSubject(f"`{self._folder}` contains no version of `{subject}` with {dict(metadata)}")

    def associations_by_resource_name(self, name: str, **which: str | Iterable[str] | None) -> Sequence[Any]:
        """Return no associations: a folder has none."""
        del name, which
        return ()

    def referenced(self, draft: SchemaDraft, *, subject: str | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft by name, each after its own dependencies."""
        return run_sync(fetch_references(draft, subject), self)

    def _versions_of(self, subject: str) -> dict[int, RegisteredSchema]:
        """Return the versions of a subject, ascending."""
        versions = self._subjects.get(str(Subject.parse(subject)))
        if not versions:
            message = f"`{self._folder}` contains no version of the subject `{subject}`: pull it again"
            raise SubjectNotFound(message, subject=subject)
        return dict(sorted(versions.items()))


def _has_same_content(left: ParsedSchema, right: ParsedSchema, *, normalize: bool) -> bool:
    if normalize:
        return left.normalized == right.normalized
    return (left.canonical, left.references) == (right.canonical, right.references)
