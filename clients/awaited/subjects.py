# made by docs/generate.py from clients/blocking/subjects.py: change that, then `make docs`

"""Subjects: which there are, registering under them, finding in them, and their end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from contractlog.clients import calls
from contractlog.clients.awaited.sender import Sender
from contractlog.clients.calls import SubjectLike
from contractlog.compatibility.schema import RegisteredSchema, SchemaDraft

__all__ = ["Subjects"]


class Subjects(Sender):
    """Calls about subjects."""

    async def register(
        self,
        subject: SubjectLike,
        draft: SchemaDraft,
        *,
        normalize: bool = False,
        schema_id: int | None = None,
        version: int | None = None,
    ) -> RegisteredSchema:
        """Register a schema under a subject, or return the version it already is.

        Args:
            subject: that gets the schema.
            draft: the schema.
            normalize: whether its normalized text is stored.
            schema_id: the id that it must get; the mode of the subject must be IMPORT.
            version: the number that it must get.

        Raises:
            IncompatibleSchema: the level of the subject does not admit it.
            InvalidSchema: it is no schema.
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
            SchemaNotFound: it has, but none like this.
        """
        return await self.send(calls.lookup(subject, draft, normalize=normalize, deleted=deleted))

    async def latest_with_metadata(
        self, subject: SubjectLike, metadata: Mapping[str, str], *, deleted: bool = False
    ) -> RegisteredSchema:
        """Return the newest version that has all these properties; remembered for a while.

        Raises:
            SubjectNotFound: the subject has no versions.
            SchemaNotFound: it has, but none with these properties.
        """
        return await self.walk(self._known.latest_with_metadata(subject, metadata, deleted=deleted))

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
        """Go through the names of all subjects, a page at a time."""
        offset = 0
        while True:
            names = await self.subjects(prefix=prefix, deleted=deleted, offset=offset, limit=page)
            for one in names:
                yield one
            if len(names) < page:
                return
            offset += len(names)

    async def delete_subject(self, subject: SubjectLike, *, permanent: bool = False) -> list[int]:
        """Delete a subject, softly unless told otherwise; return the versions that went."""
        return await self.send(calls.delete_subject(subject, permanent=permanent))
