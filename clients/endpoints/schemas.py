"""Schemas by id and by guid, lists of them, compatibility, and dependencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from contractlog.clients import calls
from contractlog.clients.calls import CompatibilityAnswer, SubjectLike, VersionLike
from contractlog.clients.endpoints.sender import Sender
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["SchemaEndpoints"]


class SchemaEndpoints(Sender):
    """Client methods for schemas."""

    def schema_by_id(self, schema_id: int, *, subject: SubjectLike | None = None) -> RegisteredSchema:
        """Return the schema with this id; cached without expiry.

        Raises:
            SchemaNotFound: no schema has this id.
        """
        return self.send_sequence(self._lookups.schema_by_id(schema_id, subject))

    def schema_by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema with this guid; cached without expiry. Its id is 0 if the registry sends none.

        Raises:
            SchemaNotFound: no schema has this guid.
        """
        return self.send_sequence(self._lookups.schema_by_guid(guid))

    def text_of_id(
        self,
        schema_id: int,
        *,
        subject: SubjectLike | None = None,
        format: str | None = None,  # noqa: A002 - as it is sent
    ) -> str:
        """Return only the text of a schema."""
        return self.send(calls.text_of_id(schema_id, subject=subject, format=format))

    def subjects_of_id(
        self,
        schema_id: int,
        *,
        subject: SubjectLike | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """Return all subjects with a version of this id."""
        return self.send(calls.subjects_of_id(schema_id, subject=subject, deleted=deleted, offset=offset, limit=limit))

    def versions_of_id(
        self,
        schema_id: int,
        *,
        subject: SubjectLike | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[tuple[str, int]]:
        """Return the (subject, version) of all versions with this id."""
        return self.send(calls.versions_of_id(schema_id, subject=subject, deleted=deleted, offset=offset, limit=limit))

    def ids_of_guid(self, guid: str) -> list[tuple[str, int]]:
        """Return every (context, id) of the content with this guid; an empty list if there is none."""
        return self.send(calls.ids_of_guid(guid))

    def schemas(
        self,
        *,
        prefix: str | None = None,
        deleted: bool = False,
        latest_only: bool = False,
        aliases: bool = False,
        rule_type: str | None = None,
        resource_type: str | None = None,
        association_types: Iterable[str] = (),
        lifecycles: Iterable[str] = (),
        offset: int = 0,
        limit: int = -1,
    ) -> list[RegisteredSchema]:
        """Return versions with their schemas; the registry truncates long lists, ``each_schema`` does not."""
        return self.send(
            calls.schemas(
                prefix=prefix,
                deleted=deleted,
                latest_only=latest_only,
                aliases=aliases,
                rule_type=rule_type,
                resource_type=resource_type,
                association_types=association_types,
                lifecycles=lifecycles,
                offset=offset,
                limit=limit,
            )
        )

    def each_schema(
        self, *, prefix: str | None = None, deleted: bool = False, latest_only: bool = False, page: int = 1_000
    ) -> Iterator[RegisteredSchema]:
        """Iterate over all versions with their schemas, page by page; servers send at most 1,000 per page."""
        offset = 0
        while True:
            schemas = self.schemas(prefix=prefix, deleted=deleted, latest_only=latest_only, offset=offset, limit=page)
            yield from schemas
            if not schemas:
                return
            offset += len(schemas)

    def types(self) -> list[str]:
        """Return the schema formats that the registry supports."""
        return self.send(calls.types())

    def check(
        self, subject: SubjectLike, draft: SchemaDraft, *, version: VersionLike | None = None, normalize: bool = False
    ) -> CompatibilityAnswer:
        """Check a candidate against one version, or all versions that the level of the subject selects."""
        return self.send(calls.check(subject, draft, number=version, normalize=normalize))

    def referenced(self, draft: SchemaDraft, *, subject: SubjectLike | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft by name, each after its own dependencies."""
        return self.send_sequence(calls.referenced(draft, subject=subject))
