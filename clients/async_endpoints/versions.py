# made by docs/generate.py from clients/endpoints/versions.py: change that, then `make docs`

"""Versions of a subject."""

from __future__ import annotations

from typing import Any

from contractlog.clients import calls
from contractlog.clients.async_endpoints.sender import AsyncSender
from contractlog.clients.calls import SubjectLike, VersionLike
from contractlog.compatibility.data_contract import Metadata, RuleSet
from contractlog.compatibility.schema import RegisteredSchema

__all__ = ["AsyncVersionEndpoints"]


class AsyncVersionEndpoints(AsyncSender):
    """Client methods for versions."""

    async def version(
        self,
        subject: SubjectLike,
        version: VersionLike,
        *,
        deleted: bool = False,
        format: str | None = None,  # noqa: A002 - as it is sent
        qualified: bool = False,
    ) -> RegisteredSchema:
        """Return one version of a subject, or its latest, from the registry, not from the cache.

        Raises:
            SubjectNotFound: the subject has no versions.
            VersionNotFound: the subject has no such version.
        """
        return await self.send(calls.version(subject, version, deleted=deleted, format=format, qualified=qualified))

    async def latest(self, subject: SubjectLike) -> RegisteredSchema:
        """Return the latest version of a subject.

        Cached for ``Caching.latest_seconds``, or until this client writes to the subject.

        Raises:
            SubjectNotFound: the subject has no versions.
        """
        return await self.send_sequence(self._lookups.latest(subject))

    async def text_of_version(
        self,
        subject: SubjectLike,
        version: VersionLike,
        *,
        deleted: bool = False,
        format: str | None = None,  # noqa: A002 - as it is sent
    ) -> str:
        """Return only the text of a version."""
        return await self.send(calls.text_of_version(subject, version, deleted=deleted, format=format))

    async def versions(
        self,
        subject: SubjectLike,
        *,
        deleted: bool = False,
        deleted_only: bool = False,
        deleted_as_negative: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """Return the version numbers of a subject, ascending."""
        return await self.send(
            calls.versions(
                subject,
                deleted=deleted,
                deleted_only=deleted_only,
                deleted_as_negative=deleted_as_negative,
                offset=offset,
                limit=limit,
            )
        )

    async def referenced_by(
        self,
        subject: SubjectLike,
        version: VersionLike,
        *,
        deleted: bool = False,
        offset: int = 0,
        limit: int = -1,
    ) -> list[int]:
        """Return the ids of the schemas that reference a version."""
        return await self.send(calls.referenced_by(subject, version, deleted=deleted, offset=offset, limit=limit))

    async def derive(
        self,
        subject: SubjectLike,
        version: VersionLike,
        *,
        new_version: int | None = None,
        tags_to_add: list[dict[str, Any]] | None = None,
        tags_to_remove: list[dict[str, Any]] | None = None,
        metadata: Metadata | None = None,
        rule_set: RuleSet | None = None,
        rules_to_merge: RuleSet | None = None,
        rules_to_remove: list[str] | None = None,
    ) -> RegisteredSchema:
        """Register a new version derived from an existing one, with other tags, metadata or rules."""
        return await self.send(
            calls.derive(
                subject,
                version,
                version=new_version,
                tags_to_add=tags_to_add,
                tags_to_remove=tags_to_remove,
                metadata=metadata,
                rule_set=rule_set,
                rules_to_merge=rules_to_merge,
                rules_to_remove=rules_to_remove,
            )
        )

    async def delete_version(self, subject: SubjectLike, version: VersionLike, *, permanent: bool = False) -> int:
        """Soft delete a version, or hard delete it if ``permanent``; return its number."""
        return await self.send(calls.delete_version(subject, version, permanent=permanent))
