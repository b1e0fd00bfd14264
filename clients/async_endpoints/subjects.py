# made by docs/generate.py from clients/endpoints/subjects.py: change that, then `make docs`

"""Subjects: list, register, look up and delete."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from contractlog.clients import calls
from contractlog.clients.async_endpoints.sender import AsyncSender
from contractlog.clients.calls import SubjectLike
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["AsyncSubjectEndpoints"]


class AsyncSubjectEndpoints(AsyncSender):
    """Client methods for subjects."""

    async def register(
        self,
        subject: SubjectLike,
        draft: SchemaDraft,
        *,
        normalize: bool = False,
        schema_id: int | None = None,
        version: int | None = None,
    ) -> RegisteredSchema:
        """Register a schema under a subject, or return the existing version with its content.

        Args:
            subject: where the schema is registered.
            draft: the schema.
            normalize: whether to store the normalized text.
            schema_id: the requested id; the mode of the subject must be IMPORT.
            version: the requested version number.

        Raises:
            IncompatibleSchema: it is incompatible at the level of the subject.
            InvalidSchema: it is not a valid schema.
            OperationNotPermitted: the mode of the subject forbids it.
        """
        return await self.send(
            calls.register(subject, draft, normalize=normalize, schema_id=schema_id, version=version)
        )

    async def lookup(
        self, subject: SubjectLike, draft: SchemaDraft, *, normalize: bool = False, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the version of a subject that has this content.

        Raises:
            SubjectNotFound: the subject has no versions.
            SchemaNotFound: none of its versions has this content.
        """
        return await self.send(calls.lookup(subject, draft, normalize=normalize, deleted=deleted))

    async def latest_with_metadata(
        self, subject: SubjectLike, metadata: Mapping[str, str], *, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the latest version with all these metadata properties; cached for ``Caching.latest_seconds``.

        Raises:
            SubjectNotFound: the subject has no versions.
            SchemaNotFound: none of its versions has these properties.
        """
        return await self.send_sequence(self._lookups.latest_with_metadata(subject, metadata, deleted=deleted))

    async def subjects(
        self,
        *,
        prefix: str | None = None,
        deleted: bool = False,
        deleted_only: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[str]:
        """Return the names of all subjects, sorted."""
        return await self.send(
            calls.subjects(prefix=prefix, deleted=deleted, deleted_only=deleted_only, offset=offset, limit=limit)
        )

    async def each_subject(
        self, *, prefix: str | None = None, deleted: bool = False, page: int = 1_000
    ) -> AsyncIterator[str]:
        """Iterate over the names of all subjects, page by page."""
        offset = 0
        while True:
            names = await self.subjects(prefix=prefix, deleted=deleted, offset=offset, limit=page)
            for item in names:
                yield item
            if len(names) < page:
                return
            offset += len(names)

    async def delete_subject(self, subject: SubjectLike, *, permanent: bool = False) -> list[int]:
        """Soft delete a subject, or hard delete it if ``permanent``; return the deleted versions."""
        return await self.send(calls.delete_subject(subject, permanent=permanent))
