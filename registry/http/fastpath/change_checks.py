"""Checks whether anything changed, so that a request may be answered from memory.

A check of a shared database asks once for all requests that wait, as etcd's ReadIndex does: requests that arrive while
a check is under way wait for the next one, because that check may have read the database before they arrived.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol

from contractlog.compatibility.errors import RegistryError
from contractlog.registry.http.fastpath.response_memory import ResponseMemory
from contractlog.registry.storage.change_log import ChangeLogEntry
from contractlog.registry.storage.new_changes import NewChanges, find_changed_names
from contractlog.registry.storage.store import Store

__all__ = ["ChangeChecks", "SharedDatabaseChecks", "SingleWriterChecks", "create_checks"]

_MIN_INTERVAL_SECONDS: Final = 0.001  #: between the beginnings of two checks


class ChangeChecks(Protocol):
    """A way to know that a memory of responses has noted every change that was committed before now."""

    def when_checked(self, function: Callable[[int | None], None]) -> None:
        """Call a function with the memory's revision once every change before now is noted.

        It is called on this event loop; with None if they cannot be noted, and at once if there is nothing to wait for.
        """

    async def check(self) -> int | None:
        """Return the memory's revision once every change before this call is noted; None if it cannot be."""

    def close(self) -> None:
        """Release all resources."""


def create_checks(memory: ResponseMemory, store: Store) -> ChangeChecks:
    """Create the checks for a memory of responses from this store."""
    return SingleWriterChecks(memory, store) if store.exclusive else SharedDatabaseChecks(memory, store)


class SingleWriterChecks:
    """Checks for a database with no other writer: each commit of this process notes its own changes.

    During a commit, only the database knows what is visible, so memory is not used. A commit that fails may have
    written something; then memory is not used until the next one, which forgets everything.
    """

    def __init__(self, memory: ResponseMemory, store: Store) -> None:
        self._memory = memory
        self._committing = False
        self._failed = False
        self._store = store
        self._has_aliases: bool | None = None  #: None: to be read
        store.before_commit(self._begin_commit)
        store.after_commit(self._end_commit)

    def when_checked(self, function: Callable[[int | None], None]) -> None:
        """Call a function with the memory's revision; with None during a commit."""
        function(None if self._committing else self._memory.revision)

    async def check(self) -> int | None:
        """Return the memory's revision; None during a commit."""
        return None if self._committing else self._memory.revision

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _begin_commit(self) -> None:
        self._failed = self._committing
        self._committing = True

    def _end_commit(self, entries: Sequence[ChangeLogEntry]) -> None:
        names = None if self._failed else find_changed_names(entries)
        if names is None:
            self._has_aliases = None  # settings may have changed
        _note(self._memory, None if names is None or self._may_have_aliases() else names)
        self._committing = False

    def _may_have_aliases(self) -> bool:
        """Return whether responses about one subject may depend on the versions of another."""
        if self._has_aliases is None:
            try:
                self._has_aliases = self._store.has_aliases()
            except RegistryError:
                return True
        return self._has_aliases


class SharedDatabaseChecks:
    """Checks for a database that other processes write to.

    One statement at a time serves all requests that wait. ``check`` is called on one event loop at a time; the
    statements run on a thread of their own.
    """

    def __init__(self, memory: ResponseMemory, store: Store) -> None:
        self._memory = memory
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="contractlog-check")
        self._newest: int | None = None  #: entry of the change log up to which memory has noted all changes
        self._next: _Check | None = None  #: the check that requests wait for; it has not begun
        self._running: _Check | None = None
        self._began = 0.0  #: when the last check began, by the clock of the event loop

    def when_checked(self, function: Callable[[int | None], None]) -> None:
        """Call a function with the revision of a check that begins after this call, or None if that fails."""
        loop = asyncio.get_running_loop()
        waited_for = self._next
        if waited_for is None or waited_for.loop is not loop:
            waited_for = self._next = _Check(loop)
            if self._running is None or self._running.loop is not loop:
                self._schedule(waited_for)
        waited_for.functions.append(function)

    async def check(self) -> int | None:
        """Wait for a check that begins after this call; return its revision, or None if it fails."""
        result: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        self.when_checked(lambda revision: None if result.done() else result.set_result(revision))
        return await result

    def close(self) -> None:
        """Wait for the running check, and end the thread."""
        self._thread.shutdown(cancel_futures=True)

    def _schedule(self, check: _Check) -> None:
        """Begin a check when a millisecond has passed since the last one began."""
        self._running = check
        wait = self._began + _MIN_INTERVAL_SECONDS - check.loop.time()
        if wait > 0:
            check.loop.call_later(wait, self._begin, check)
        else:
            check.loop.call_soon(self._begin, check)

    def _begin(self, check: _Check) -> None:
        if self._next is check:
            self._next = None  # whoever arrives from now on waits for the next one
        self._began = check.loop.time()
        try:
            reading = self._thread.submit(self._store.read_new_changes, self._newest)
        except RuntimeError:  # the registry is closing
            self._end(check, None)
            return
        reading.add_done_callback(lambda read: _call_on_loop(check.loop, self._finish, check, read))

    def _finish(self, check: _Check, read: Future[NewChanges]) -> None:
        try:
            changes = read.result()
        except RegistryError:
            self._end(check, None)
            return
        except BaseException:
            self._end(check, None)
            raise
        if changes.newest != self._newest or changes.names is None:
            _note(self._memory, changes.names)
        self._newest = changes.newest
        self._end(check, self._memory.revision)

    def _end(self, check: _Check, revision: int | None) -> None:
        self._running = None
        if self._next is not None:
            self._schedule(self._next)
        for function in check.functions:
            check.loop.call_soon(function, revision)  # an error of one must not affect the others


class _Check:
    """A check, and the functions to call with its result."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.functions: list[Callable[[int | None], None]] = []


def _note(memory: ResponseMemory, names: frozenset[str] | None) -> None:
    if names is None:
        memory.forget_all()
    else:
        memory.note_changes(names)


def _call_on_loop(loop: asyncio.AbstractEventLoop, function: Callable[..., None], *arguments: object) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(function, *arguments)
