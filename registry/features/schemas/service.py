"""Schemas by id and by guid, and the list of all schemas."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from contractlog.compatibility.errors import SchemaNotFound
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, MAX_ID, Subject
from contractlog.compatibility.schema import RegisteredSchema
from contractlog.registry.access.current_caller import current_permissions, may_read, may_read_in_context
from contractlog.registry.execution.large_responses import PIECE_BYTES, LargeResponse
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.read_service import ReadService, readable_page
from contractlog.registry.features.schemas import queries
from contractlog.registry.features.schemas.queries import ListedSchema, ListedVersion, SchemaFilter, SchemaListing
from contractlog.registry.features.schemas.renderer import AS_STORED, RenderedSchema, View, ViewRenderer
from contractlog.registry.storage import name_and_id_lookup
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page, SubjectVersion

__all__ = ["LargeListing", "SchemaService"]

_MAX_SCHEMAS: Final = 1_000  #: per response: the default, and the maximum
_GUID: Final = re.compile(r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LargeListing:
    """A large list, whose slot must be released."""

    pieces: AsyncIterator[bytes]
    response: LargeResponse  #: which has the slot


class SchemaService(ReadService):
    """Reads schemas; a subject beside an id selects the context, and the version to show."""

    def __init__(self, store: Store, threads: ThreadPools, renderer: ViewRenderer) -> None:
        super().__init__(store, threads)
        self._renderer = renderer

    async def schema(self, schema_id: int, subject: Subject | None = None, view: View = AS_STORED) -> RenderedSchema:
        """Return a schema by id: the given subject's version if it has the id, else the earliest one.

        Raises:
            SchemaNotFound: no version in this context has the id.
        """

        def query(snapshot: Snapshot) -> RenderedSchema:
            return self._renderer.show(snapshot, _require_schema(snapshot, schema_id, subject), view)

        return await self._query_view(query, view)

    async def max_id(self, subject: Subject | None = None) -> int:
        """Return the highest id of a context."""
        return await self._query(Snapshot.max_id, subject.context if subject else DEFAULT_CONTEXT)

    async def versions(
        self, schema_id: int, subject: Subject | None, deleted: DeletedFilter, page: Page = WHOLE_LIST
    ) -> list[SubjectVersion]:
        """List the versions with an id, of subjects that the caller may read.

        Raises:
            SchemaNotFound: no version has it, live or soft-deleted.
        """

        def query(snapshot: Snapshot) -> list[SubjectVersion]:
            list_items = partial(
                queries.list_versions_of_id, snapshot, _find_context(snapshot, schema_id, subject), schema_id, deleted
            )
            return readable_page(list_items, page, lambda holder: may_read(holder.subject))

        return await self._query(query)

    async def subjects(
        self, schema_id: int, subject: Subject | None, deleted: DeletedFilter, page: Page = WHOLE_LIST
    ) -> list[str]:
        """List the subjects with an id that the caller may read.

        Raises:
            SchemaNotFound: no version has it, live or soft-deleted.
        """

        def query(snapshot: Snapshot) -> list[str]:
            context = _find_context(snapshot, schema_id, subject)
            list_items = partial(queries.list_subjects_of_id, snapshot, context, schema_id, deleted)
            return readable_page(list_items, page, lambda name: may_read(Subject.parse(name)))

        return await self._query(query)

    async def find_by_guid(self, text: str, view: View = AS_STORED) -> RenderedSchema:
        """Return a schema by guid, with or without hyphens.

        Raises:
            SchemaNotFound: no version has it.
        """

        def query(snapshot: Snapshot) -> RenderedSchema:
            guid = _parse_guid(text)
            schema = None if guid is None else name_and_id_lookup.find_by_guid(snapshot, guid)
            if schema is None:
                raise SchemaNotFound(schema=text)
            return self._renderer.show(snapshot, schema, view)

        return await self._query_view(query, view)

    async def list_ids_of_guid(self, text: str) -> list[tuple[str, int]]:
        """List (context, id) of the schemas with a guid, in readable contexts; the list may be empty."""
        guid = _parse_guid(text)
        ids = [] if guid is None else await self._query(Snapshot.ids_of_guid, guid)
        return [(context, schema_id) for context, schema_id in ids if may_read_in_context(context)]

    async def list_schemas(
        self, schema_filter: SchemaFilter, page: Page, encode: Callable[[Iterable[ListedSchema]], bytes]
    ) -> bytes | LargeListing:
        """List versions of many subjects, with their aliases and associations; at most 1,000 at a time.

        Args:
            schema_filter: the versions to list.
            page: of the list.
            encode: encodes a part of the list as a JSON array.

        Returns:
            The JSON array, or if that is long, its pieces.

        Raises:
            TooManyRequests: the caller has requested too much lately.
            Overloaded: too many large lists are being sent.
        """
        limits = self._threads.responses
        limits.require()

        def query(snapshot: Snapshot) -> tuple[SchemaListing, bytes | None]:
            listing = queries.list_schemas(snapshot, schema_filter, page.within(_MAX_SCHEMAS, _MAX_SCHEMAS))
            is_large = sum(version.size for version in listing.versions) > PIECE_BYTES
            return listing, None if is_large else encode(queries.read_schemas(snapshot, listing, listing.versions))

        async with limits.querying:
            listing, body = await self._query_watched(query)
        limits.charge(listing.size)
        return body if body is not None else LargeListing(self._encode_pieces(listing, encode), await limits.enter())

    async def _encode_pieces(
        self, listing: SchemaListing, encode: Callable[[Iterable[ListedSchema]], bytes]
    ) -> AsyncIterator[bytes]:
        """Yield a JSON array in pieces of one or more schemas; each is read when it is needed."""

        def read_piece(versions: Sequence[ListedVersion], snapshot: Snapshot) -> bytes:
            return encode(queries.read_schemas(snapshot, listing, versions))[1:-1]

        separator = b"["
        for versions in listing.split(PIECE_BYTES):
            async with self._threads.responses.reading:
                piece = await self._query_watched(partial(read_piece, versions))
            if piece:  # else all were hard-deleted since
                yield separator + piece
                separator = b","
        yield b"]" if separator == b"," else b"[]"

    def release(self, listing: LargeListing) -> None:
        """Release the slot of a large list."""
        self._threads.responses.leave(listing.response)


def _require_schema(snapshot: Snapshot, schema_id: int, subject: Subject | None) -> RegisteredSchema:
    schema = None
    if 0 <= schema_id <= MAX_ID:
        schema = name_and_id_lookup.find_by_id(snapshot, schema_id, subject, current_permissions.get())
    if schema is None:
        raise SchemaNotFound(schema=schema_id)
    return schema


def _find_context(snapshot: Snapshot, schema_id: int, subject: Subject | None) -> str:
    schema = _require_schema(snapshot, schema_id, subject)
    return schema.subject.context if schema.subject else DEFAULT_CONTEXT


def _parse_guid(text: str) -> str | None:
    match = _GUID.fullmatch(text)
    return "-".join(match.groups()).lower() if match else None
