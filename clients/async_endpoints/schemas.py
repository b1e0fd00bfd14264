# made by docs/generate.py from clients/endpoints/schemas.py: change that, then `make docs`

"""Schemas by id and by guid, lists of them, compatibility, and dependencies."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping

from contractlog.clients import calls
from contractlog.clients.async_endpoints.sender import AsyncSender
from contractlog.clients.calls import CompatibilityAnswer, SubjectLike, VersionLike
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["AsyncSchemaEndpoints"]


class AsyncSchemaEndpoints(AsyncSender):
    """Client methods for schemas."""

    async def schema_by_id(self, schema_id: int, *, subject: SubjectLike | None = None) -> RegisteredSchema:
        """Return the schema with this id; cached without expiry.

        Raises:
            SchemaNotFound: no schema has this id.
        """
        return await self.send_sequence(self._lookups.schema_by_id(schema_id, subject))

    async def schema_by_guid(self, guid: str) -> RegisteredSchema:
        """Return the schema with this guid; cached without expiry. Its id is 0 if the registry sends none.

        Raises:
            SchemaNotFound: no schema has this guid.
        """
        return await self.send_sequence(self._lookups.schema_by_guid(guid))

    async def text_of_id(
        self,
        schema_id: int,
        *,
        subject: SubjectLike | None = None,
        format: str | None = None,  # noqa: A002 - as it is sent
    ) -> str:
        """Return only the text of a schema."""
        return await self.send(calls.text_of_id(schema_id, subject=subject, format=format))

    async def subjects_of_id(
        self,
        schema_id: int,
        *,
        subject: SubjectLike | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """Return all subjects with a version of this id."""
        return await self.send(
            calls.subjects_of_id(schema_id, subject=subject, deleted=deleted, offset=offset, limit=limit)
        )

    async def versions_of_id(
        self,
        schema_id: int,
        *,
        subject: SubjectLike | None = None,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[tuple[str, int]]:
        """Return the (subject, version) of all versions with this id."""
        return await self.send(
            calls.versions_of_id(schema_id, subject=subject, deleted=deleted, offset=offset, limit=limit)
        )

    async def ids_of_guid(self, guid: str) -> list[tuple[str, int]]:
        """Return every (context, id) of the content with this guid; an empty list if there is none."""
        return await self.send(calls.ids_of_guid(guid))

    async def schemas(
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
        return await self.send(
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

    async def each_schema(
        self, *, prefix: str | None = None, deleted: bool = False, latest_only: bool = False, page: int = 1_000
    ) -> AsyncIterator[RegisteredSchema]:
        """Iterate over all versions with their schemas, page by page; servers send at most 1,000 per page."""
        offset = 0
        while True:
            schemas = await self.schemas(
                prefix=prefix, deleted=deleted, latest_only=latest_only, offset=offset, limit=page
            )
            for item in schemas:
                yield item
            if not schemas:
                return
            offset += len(schemas)

    async def types(self) -> list[str]:
        """Return the schema formats that the registry supports."""
        return await self.send(calls.types())

    async def check(
        self, subject: SubjectLike, draft: SchemaDraft, *, version: VersionLike | None = None, normalize: bool = False
    ) -> CompatibilityAnswer:
        """Check a candidate against one version, or all versions that the level of the subject selects."""
        return await self.send(calls.check(subject, draft, number=version, normalize=normalize))

    async def referenced(self, draft: SchemaDraft, *, subject: SubjectLike | None = None) -> Mapping[str, str]:
        """Return the texts of all dependencies of a draft by name, each after its own dependencies."""
        return await self.send_sequence(calls.referenced(draft, subject=subject))
