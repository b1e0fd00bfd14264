"""Follower of the change log: one thread per process reads new entries for all waiting requests.

Commits of this process wake it immediately if a request waits; those of other nodes are found by polling every half
second. Recent entries are cached, so that any number of waiting clients costs one query.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final

from contractlog.compatibility.errors import RegistryError
from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange
from contractlog.registry.execution.background_thread import BackgroundThread
from contractlog.registry.storage import change_log
from contractlog.registry.storage.store import Store

__all__ = ["ChangeLogFollower"]

_LOG: Final = logging.getLogger("contractlog.registry.change_log")
_BATCH_SIZE: Final = 1_000
_MAX_CACHED: Final = 2_000
_MAX_CACHED_CHARACTERS: Final = 4_000_000  #: characters of the cached entries' details and targets
_PAUSE: Final = 0.01  #: seconds between two polls, however many commits there are
_MAX_PAUSE: Final = 5.0  #: seconds between two polls of a database that does not respond

Listener = Callable[[Sequence[RecordedChange]], None]


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    since: int
    loop: asyncio.AbstractEventLoop
    woken: asyncio.Future[None]

    def wake(self) -> None:
        try:
            self.loop.call_soon_threadsafe(self._set)
        except RuntimeError:
            return  # its loop is closed: nothing waits there any more

    def _set(self) -> None:
        if not self.woken.done():
            self.woken.set_result(None)


class ChangeLogFollower:
    """Tracks the end of the change log, passes new entries to listeners, and wakes waiting requests.

    Args:
        store: its change log is followed.
        every: seconds between two polls for entries of other nodes.
    """

    def __init__(self, store: Store, *, every: float = 0.5) -> None:
        self._store = store
        self._every = every
        self._listeners: list[Listener] = []
        self._waiters: set[_Waiter] = set()
        self._cached: deque[RecordedChange] = deque()
        self._cached_characters = 0
        self._head: ChangeLogHead | None = None  #: unknown until the first poll
        self._lock = threading.Lock()
        self._thread = BackgroundThread(self._run, "contractlog-follower")
        store.on_commit(lambda _touched: self._announce_commit())

    @property
    def head(self) -> ChangeLogHead:
        """The newest entry that was read; that of an empty log before the first poll."""
        return self._head or ChangeLogHead(0, None)

    def on_changes(self, listener: Listener) -> None:
        """Pass new entries to a listener, in order, on the follower's thread.

        Entries from before the start are not passed.
        """
        self._listeners.append(listener)

    def start(self) -> None:
        """Start following; has no effect the second time."""
        self._thread.start()

    def close(self) -> None:
        """Stop, and wake all waiting requests."""
        self.release()
        self._thread.close()

    def release(self) -> None:
        """Wake all waiting requests; later ones do not wait."""
        with self._lock:
            self._thread.stop()
            waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            waiter.wake()

    def recent(self, since: int, limit: int) -> list[RecordedChange] | None:
        """Return the cached entries after a number; None if the cache does not reach back that far."""
        with self._lock:
            if self._head is None or since > self.head.sequence:
                return None
            if since == self.head.sequence:
                return []
            if not self._cached or self._cached[0].sequence > since + 1:
                return None
            newest = list(takewhile(lambda change: change.sequence > since, reversed(self._cached)))
            return newest[: -limit - 1 : -1]

    async def wait(self, since: int, seconds: float) -> None:
        """Return when there is an entry after a number, or the time is over."""
        self.start()
        loop = asyncio.get_running_loop()
        waiter = _Waiter(since, loop, loop.create_future())
        with self._lock:
            if self._thread.is_closing or self.head.sequence > since:
                return
            self._waiters.add(waiter)
        self._thread.wake()  # a commit from before anybody waited may not have been read
        try:
            async with asyncio.timeout(seconds):
                await waiter.woken
        except TimeoutError:
            pass
        finally:
            with self._lock:
                self._waiters.discard(waiter)

    def _announce_commit(self) -> None:
        if self._waiters:
            self._thread.wake()

    def _run(self) -> None:
        pause = 0.0
        while not self._thread.pause(_PAUSE):
            self._thread.wait_for_work(pause)
            if self._thread.is_closing:
                return
            try:
                pause = 0.0 if self._poll() else self._every
            except RegistryError:
                pause = min(max(pause, self._every) * 2, _MAX_PAUSE)
            except Exception:  # noqa: BLE001 - the change log is followed as long as the process lives
                _LOG.exception("following the change log failed; trying again")
                pause = _MAX_PAUSE

    def _poll(self) -> bool:
        """Read new entries; return True if there may be more."""
        with self._store.open_snapshot() as snapshot:
            if self._head is None:
                self._add_entries(change_log.read_head(snapshot), ())
                return False
            changes = change_log.list_changes_after(snapshot, self.head.sequence, _BATCH_SIZE)
        if changes:
            for listener in self._listeners:
                listener(changes)
            self._add_entries(ChangeLogHead(changes[-1].sequence, changes[-1].hash), changes)
        return bool(changes)

    def _add_entries(self, head: ChangeLogHead, changes: Sequence[RecordedChange]) -> None:
        with self._lock:
            self._head = head
            self._cached.extend(changes)
            self._cached_characters += sum(map(_count_characters, changes))
            while len(self._cached) > _MAX_CACHED or self._cached_characters > _MAX_CACHED_CHARACTERS:
                self._cached_characters -= _count_characters(self._cached.popleft())
            woken = {waiter for waiter in self._waiters if waiter.since < self.head.sequence}
            self._waiters -= woken
        for waiter in woken:
            waiter.wake()


def _count_characters(change: RecordedChange) -> int:
    return len(change.details or "") + len(change.target)
