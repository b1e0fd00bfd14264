"""Look-up of schemas by id and by guid."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from contractlog.compatibility.errors import SchemaNotFound
from contractlog.compatibility.names import DEFAULT_CONTEXT, MAX_ID, Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.actor import may_read, may_read_in
from contractlog.registry.services.asking import Asking, readable_page
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.viewing import AS_STORED, Shown, View, Viewing
from contractlog.registry.storage import finding, listing
from contractlog.registry.storage.paging import EVERYTHING, Page
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Holder, Seen

__all__ = ["Ids"]

_GUID: Final = re.compile(r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})", re.IGNORECASE)


class Ids(Asking):
    """Look-ups by what records carry. A subject beside an id selects the context, and the version to show."""

    def __init__(self, store: Store, threads: Threads, viewing: Viewing) -> None:
        super().__init__(store, threads)
        self._viewing = viewing

    async def schema(self, schema_id: int, subject: Subject | None = None, view: View = AS_STORED) -> Shown:
        """Return a schema by id: the given subject's version if it has the id, else the earliest one.

        Raises:
            SchemaNotFound: no version in this context has the id.
        """

        def question(snapshot: Snapshot) -> Shown:
            return self._viewing.show(snapshot, _schema(snapshot, schema_id, subject), view)

        return await self._view(question, view)

    async def max_id(self, subject: Subject | None = None) -> int:
        """Return the highest id of a context."""
        return await self._ask(Snapshot.max_id, subject.context if subject else DEFAULT_CONTEXT)

    async def versions(
        self, schema_id: int, subject: Subject | None, seen: Seen, page: Page = EVERYTHING
    ) -> list[Holder]:
        """List the versions with an id, of subjects that the caller may read.

        Raises:
            SchemaNotFound: no version has it, live or soft-deleted.
        """

        def question(snapshot: Snapshot) -> list[Holder]:
            listed = partial(listing.holders, snapshot, _context(snapshot, schema_id, subject), schema_id, seen)
            return readable_page(listed, page, lambda holder: may_read(holder.subject))

        return await self._ask(question)

    async def subjects(self, schema_id: int, subject: Subject | None, seen: Seen, page: Page = EVERYTHING) -> list[str]:
        """List the subjects with an id that the caller may read.

        Raises:
            SchemaNotFound: no version has it, live or soft-deleted.
        """

        def question(snapshot: Snapshot) -> list[str]:
            context = _context(snapshot, schema_id, subject)
            listed = partial(listing.subjects_of_id, snapshot, context, schema_id, seen)
            return readable_page(listed, page, lambda name: may_read(Subject.parse(name)))

        return await self._ask(question)

    async def by_guid(self, text: str, view: View = AS_STORED) -> Shown:
        """Return a schema by guid, with or without hyphens.

        Raises:
            SchemaNotFound: no version has it.
        """

        def question(snapshot: Snapshot) -> Shown:
            guid = _guid(text)
            found = None if guid is None else finding.by_guid(snapshot, guid)
            if found is None:
                raise SchemaNotFound(schema=text)
            return self._viewing.show(snapshot, found, view)

        return await self._view(question, view)

    async def of_guid(self, text: str) -> list[tuple[str, int]]:
        """List (context, id) of the schemas with a guid, in readable contexts; the list may be empty."""
        guid = _guid(text)
        found = [] if guid is None else await self._ask(Snapshot.ids_of_guid, guid)
        return [(context, schema_id) for context, schema_id in found if may_read_in(context)]


def _schema(snapshot: Snapshot, schema_id: int, subject: Subject | None) -> RegisteredSchema:
    found = finding.by_id(snapshot, schema_id, subject) if 0 <= schema_id <= MAX_ID else None
    if found is None:
        raise SchemaNotFound(schema=schema_id)
    return found


def _context(snapshot: Snapshot, schema_id: int, subject: Subject | None) -> str:
    found = _schema(snapshot, schema_id, subject)
    return found.subject.context if found.subject else DEFAULT_CONTEXT


def _guid(text: str) -> str | None:
    match = _GUID.fullmatch(text)
    return "-".join(match.groups()).lower() if match else None
