"""Look-up of contexts, subjects and versions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from contractlog.compatibility.errors import SchemaNotUnderSubject, SubjectNotFound, VersionNotFound
from contractlog.compatibility.names import Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.actor import may_read_in
from contractlog.registry.services.asking import Asking, readable_page
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.viewing import AS_STORED, Shown, View, Viewing
from contractlog.registry.storage import finding, listing
from contractlog.registry.storage.extended import Extended, Wanted, extended
from contractlog.registry.storage.paging import EVERYTHING, Page
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen

__all__ = ["Lookup"]

_PAGE_OF_SCHEMAS: Final = 1_000  #: the default, and the maximum


class Lookup(Asking):
    """Look-ups by subject name; a name may be an alias."""

    def __init__(self, store: Store, threads: Threads, viewing: Viewing) -> None:
        super().__init__(store, threads)
        self._viewing = viewing

    async def contexts(self, prefix: str = "", page: Page = EVERYTHING) -> list[str]:
        """List the contexts in which the caller may read anything, the default one first."""

        def question(snapshot: Snapshot) -> list[str]:
            return readable_page(partial(listing.contexts, snapshot, prefix=prefix), page, may_read_in)

        return await self._ask(question)

    async def subjects(self, prefix: str, seen: Seen, page: Page = EVERYTHING) -> list[str]:
        """List qualified names, sorted; the prefix ``:*:`` means every context."""
        return await self._ask(listing.subjects, prefix, seen, page)

    async def versions(self, subject: Subject, seen: Seen, page: Page = EVERYTHING) -> list[tuple[int, bool]]:
        """List versions as (number, whether soft-deleted).

        Raises:
            SubjectNotFound: there are none; for ``Seen.DELETED``, no live ones either.
        """
        known_by = Seen.ALL if seen is Seen.DELETED else seen

        def question(snapshot: Snapshot) -> list[tuple[int, bool]]:
            meant = finding.aliased(snapshot, subject)
            found = listing.versions(snapshot, meant, seen, page)
            if not found and not listing.versions(snapshot, meant, known_by, Page(limit=1)):
                raise SubjectNotFound(subject=str(meant))
            return found

        return await self._ask(question)

    async def version(
        self, subject: Subject, number: int | None, seen: Seen = Seen.LIVE, view: View = AS_STORED
    ) -> Shown:
        """Return one version; None is the newest live one, whatever ``seen`` says.

        Raises:
            SubjectNotFound, VersionNotFound: it does not exist.
        """

        def question(snapshot: Snapshot) -> Shown:
            return self._viewing.show(snapshot, _version(snapshot, subject, number, seen), view)

        return await self._view(question, view)

    async def shown(self, schema: RegisteredSchema, view: View) -> RegisteredSchema:
        """Return a version that was read before, in the requested view.

        Raises:
            InvalidSchema: with its references inlined, the text is too long.
        """
        if view.plain:
            return schema
        return (await self._view(lambda snapshot: self._viewing.show(snapshot, schema, view), view)).schema

    async def referenced_by(
        self, subject: Subject, number: int | None, seen: Seen, page: Page = EVERYTHING
    ) -> list[int]:
        """List the ids of schemas that reference a version.

        Raises:
            SubjectNotFound, VersionNotFound: it does not exist, not even soft-deleted.
        """

        def question(snapshot: Snapshot) -> list[int]:
            held = _version(snapshot, subject, number, Seen.ALL)
            return listing.referencing(snapshot, held.subject or subject, held.version or 0, seen, page)

        return await self._ask(question)

    async def with_properties(
        self, subject: Subject, properties: Mapping[str, str], seen: Seen, view: View = AS_STORED
    ) -> Shown:
        """Return the newest version whose metadata has all these properties.

        Raises:
            SubjectNotFound, SchemaNotUnderSubject: there is none.
        """

        def question(snapshot: Snapshot) -> Shown:
            meant = finding.aliased(snapshot, subject)
            number = listing.version_with_properties(snapshot, meant, properties, seen)
            found = None if number is None else snapshot.version(meant, number, seen)
            if found is not None:
                return self._viewing.show(snapshot, found, view)
            if not listing.versions(snapshot, meant, seen, Page(limit=1)):
                raise SubjectNotFound(subject=str(meant))
            raise SchemaNotUnderSubject

        return await self._view(question, view)

    async def extended(self, wanted: Wanted, page: Page) -> list[Extended]:
        """List versions of many subjects, with their aliases and associations; at most 1,000 at a time."""
        return await self._ask(extended, wanted, page.within(_PAGE_OF_SCHEMAS, _PAGE_OF_SCHEMAS))


def _version(snapshot: Snapshot, subject: Subject, number: int | None, seen: Seen) -> RegisteredSchema:
    found = finding.version(snapshot, subject, number, seen)
    if found is not None:
        return found
    meant = finding.aliased(snapshot, subject)
    if not listing.versions(snapshot, meant, Seen.LIVE if number is None else seen, Page(limit=1)):
        raise SubjectNotFound(subject=str(meant))
    raise VersionNotFound(version=number)
