"""Base class of services that read: runs queries on a thread, each on one snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from contractlog.registry.access.current_caller import may_read_everything
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.execution.work_limits import request_work
from contractlog.registry.features.schemas.renderer import View
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import WHOLE_LIST, Page

__all__ = ["ReadService", "readable_page"]

P = ParamSpec("P")
T = TypeVar("T")


def readable_page(list_items: Callable[[Page], list[T]], page: Page, may_read_item: Callable[[T], bool]) -> list[T]:
    """Return a page of the items that the caller may read.

    The database cuts the page for callers who may read everything.
    """
    if may_read_everything():
        return list_items(page)
    return page.cut([item for item in list_items(WHOLE_LIST) if may_read_item(item)])


class ReadService:
    """A service that reads.

    Its results always come from the database, so they are current on every node as soon as a write is committed.
    """

    def __init__(self, store: Store, threads: ThreadPools) -> None:
        self._store = store
        self._threads = threads

    async def _query(self, query: Callable[Concatenate[Snapshot, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._threads.run(self._run, query, *args, **kwargs)

    async def _query_watched(self, query: Callable[[Snapshot], T], /) -> T:
        """Run a query, unless the client has disconnected.

        Raises:
            Abandoned: it has.
        """
        request_work().require()
        return await self._threads.run_watched(self._run, query)

    async def _query_counted(
        self, query: Callable[Concatenate[Snapshot, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query that may read much: it charges its steps (``request_work().charge``) after each chunk.

        Raises:
            TooManyRequests: the caller has used up its share.
            Abandoned: the client has disconnected.
        """
        return await self._threads.run_counted(self._run, query, *args, **kwargs)

    async def _query_schemas(
        self, text: str, query: Callable[Concatenate[Snapshot, P], T], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a query that parses or compares schemas, which may take long; ``text`` is the request's schema."""
        return await self._threads.run_schema_work(text, self._run, query, *args, **kwargs)

    def _run(self, query: Callable[Concatenate[Snapshot, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._store.open_snapshot() as snapshot:
            return query(snapshot, *args, **kwargs)

    async def _query_view(self, query: Callable[[Snapshot], T], view: View) -> T:
        """Run the query for a view; views other than the plain one parse schemas, which may take long."""
        return await (self._query(query) if view.plain else self._query_schemas("", query))
