"""Asking the store on a thread, in one state of it."""

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
    """Cut a page out of what the caller may read; for a caller who may read everything the database cuts it."""
    if may_read_everything():
        return listed(page)
    return page.cut([one for one in listed(EVERYTHING) if may_read_one(one)])


class Asking:
    """A service that only reads; every answer comes from the database, so it holds on every node after a commit."""

    def __init__(self, store: Store, threads: Threads) -> None:
        self._store = store
        self._threads = threads

    async def _ask(self, question: Callable[Concatenate[Snapshot, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        def ask() -> T:
            with self._store.reading() as snapshot:
                return question(snapshot, *args, **kwargs)

        return await self._threads.run(ask)

    async def _view(self, question: Callable[[Snapshot], T], view: View) -> T:
        """Ask for what a view has to be made of: other views than the plain one parse schemas, which may take long."""
        if view.plain:
            return await self._ask(question)

        def ask() -> T:
            with self._store.reading() as snapshot:
                return question(snapshot)

        return await self._threads.judge("", ask)
