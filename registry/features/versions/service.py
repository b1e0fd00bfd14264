"""Versions of a subject: read, listed, rendered, and found by their metadata."""

from __future__ import annotations

from collections.abc import Mapping

from contractlog.compatibility.errors import SchemaNotUnderSubject, SubjectNotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.current_caller import current_permissions
from contractlog.registry.access.permissions import Permission
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.features.schemas.renderer import AS_STORED, RenderedSchema, View, ViewRenderer
from contractlog.registry.features.versions import queries
from contractlog.registry.registration.version_lookup import missing_version_error
from contractlog.registry.storage import name_and_id_lookup
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page

__all__ = ["VersionService"]


class VersionService(ReadService):
    """Reads the versions of subjects; the name of a subject may be an alias."""

    def __init__(self, store: Store, threads: ThreadPools, renderer: ViewRenderer) -> None:
        super().__init__(store, threads)
        self._renderer = renderer

    async def list_versions(
        self, subject: Subject, deleted: DeletedFilter, page: Page = WHOLE_LIST
    ) -> list[tuple[int, bool]]:
        """List versions as (number, whether soft-deleted).

        Raises:
            SubjectNotFound: there are none; for ``DeletedFilter.ONLY``, no live ones either.
        """
        required = DeletedFilter.INCLUDED if deleted is DeletedFilter.ONLY else deleted

        def query(snapshot: Snapshot) -> list[tuple[int, bool]]:
            resolved = name_and_id_lookup.resolve_alias(snapshot, subject, current_permissions.get(), Permission.READ)
            versions = queries.list_versions(snapshot, resolved, deleted, page)
            if not versions and not queries.list_versions(snapshot, resolved, required, Page(limit=1)):
                raise SubjectNotFound(subject=str(resolved))
            return versions

        return await self._query(query)

    async def version(
        self,
        subject: Subject,
        number: int | None,
        deleted: DeletedFilter = DeletedFilter.EXCLUDED,
        view: View = AS_STORED,
    ) -> RenderedSchema:
        """Return one version; None is the newest live one, whatever ``deleted`` says.

        Raises:
            SubjectNotFound, VersionNotFound: it does not exist.
        """

        def query(snapshot: Snapshot) -> RenderedSchema:
            return self._renderer.show(snapshot, _require_version(snapshot, subject, number, deleted), view)

        return await self._query_view(query, view)

    async def render(self, schema: RegisteredSchema, view: View) -> RegisteredSchema:
        """Return a version that was read before, in the requested view.

        Raises:
            InvalidSchema: with its references inlined, the text is too long.
        """
        if view.plain:
            return schema
        return (await self._query_view(lambda snapshot: self._renderer.show(snapshot, schema, view), view)).schema

    async def list_referencing_ids(
        self, subject: Subject, number: int | None, deleted: DeletedFilter, page: Page = WHOLE_LIST
    ) -> list[int]:
        """List the ids of schemas that reference a version.

        Raises:
            SubjectNotFound, VersionNotFound: it does not exist, not even soft-deleted.
        """

        def query(snapshot: Snapshot) -> list[int]:
            version = _require_version(snapshot, subject, number, DeletedFilter.INCLUDED)
            return queries.list_referencing_ids(
                snapshot, version.subject or subject, version.version or 0, deleted, page
            )

        return await self._query(query)

    async def find_by_properties(
        self, subject: Subject, properties: Mapping[str, str], deleted: DeletedFilter, view: View = AS_STORED
    ) -> RenderedSchema:
        """Return the newest version whose metadata has all these properties.

        Raises:
            SubjectNotFound, SchemaNotUnderSubject: there is none.
        """

        def query(snapshot: Snapshot) -> RenderedSchema:
            resolved = name_and_id_lookup.resolve_alias(snapshot, subject, current_permissions.get(), Permission.READ)
            number = queries.find_version_with_properties(snapshot, resolved, properties, deleted)
            version = None if number is None else snapshot.version(resolved, number, deleted)
            if version is not None:
                return self._renderer.show(snapshot, version, view)
            if not queries.list_versions(snapshot, resolved, deleted, Page(limit=1)):
                raise SubjectNotFound(subject=str(resolved))
            raise SchemaNotUnderSubject

        return await self._query_view(query, view)


def _require_version(
    snapshot: Snapshot, subject: Subject, number: int | None, deleted: DeletedFilter
) -> RegisteredSchema:
    version = name_and_id_lookup.find_version(snapshot, subject, number, deleted, current_permissions.get())
    if version is not None:
        return version
    raise missing_version_error(snapshot, name_and_id_lookup.follow_alias(snapshot, subject), number, deleted)
