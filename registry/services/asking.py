"""Base class of services that only read: runs queries on a thread, each on one snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

from contractlog.registry.access.actor import may_read_everything
from contractlog.registry.services.threads import Threads
from contractlog.registry.services.viewing import View
from contractlog.registry.storage.paging import EVERYTHING, Page
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.reads import Snapshot

__all__ = ["Asking", "readable_page"]

P = ParamSpec("P")
T = TypeVar("T")


def readable_page(listed: Callable[[Page], list[T]], page: Page, may_read_one: Callable[[T], bool]) -> list[T]:
    """Return a page of the items that the caller may read.

    The database cuts the page for callers who may read everything.
    """
    if may_read_everything():
        return listed(page)
    return page.cut([one for one in listed(EVERYTHING) if may_read_one(one)])


class Asking:
    """A service that only reads.

    Its results always come from the database, so they are current on every node as soon as a write is committed.
    """

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store = store
        self._threads = threads

    async def _ask(self, question: Callable[Concatenate[Snapshot, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        def ask() -> T:
            with self._store.reading() as snapshot:
                return question(snapshot, *args, **kwargs)

        return await self._threads.run(ask)

    async def _view(self, question: Callable[[Snapshot], T], view: View) -> T:
        """Run the query for a view; views other than the plain one parse schemas, which may take long."""
        if view.plain:
            return await self._ask(question)

        def ask() -> T:
            with self._store.reading() as snapshot:
                return question(snapshot)

        return await self._threads.judge("", ask)
