"""Service of the change log: changes in order, from any position on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.errors import ChangesAhead
from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange
from contractlog.registry.access.current_caller import readmit_caller
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.change_log.follower import ChangeLogFollower
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage import change_log
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["MAX_CHANGES", "MAX_WAIT_SECONDS", "ChangeLogService", "ChangePage"]

MAX_WAIT_SECONDS: Final = 30.0  #: seconds
MAX_CHANGES: Final = 1_000  #: per response


@dataclass(frozen=True, slots=True)
class ChangePage:
    """Changes after a number."""

    changes: Sequence[RecordedChange]
    next_since: int  #: ``since`` of the next request
    head: ChangeLogHead  #: the newest known entry


class ChangeLogService(ReadService):
    """Reads the change log, and waits for new entries."""

    def __init__(self, store: Store, threads: ThreadPools, follower: ChangeLogFollower) -> None:
        super().__init__(store, threads)
        self._follower = follower

    async def list_after(self, since: int | None, *, limit: int, wait: float) -> ChangePage:
        """Return the changes after a number; None means after the newest one.

        Args:
            since: number of the last change that the caller has seen.
            limit: maximum number of changes.
            wait: seconds to wait for a first change if there is none yet; after that, the result is empty.

        Raises:
            ChangesAhead: the change log does not reach that number.
            Unauthorized, Denied: the caller lost the permission during the wait.
        """
        if since is None or wait <= 0:
            return await self._query(_read_page, since, limit)
        changes = self._follower.recent(since, limit)
        if changes is None:  # no longer cached, or the follower has just started
            page = await self._query(_read_page, since, limit)
            if page.changes:
                return page
        elif changes:
            return self._page(changes)
        await self._follower.wait(since, min(wait, MAX_WAIT_SECONDS))
        await readmit_caller()
        changes = self._follower.recent(since, limit)
        return self._page(changes) if changes else await self._query(_read_page, since, limit)

    def _page(self, changes: Sequence[RecordedChange]) -> ChangePage:
        newest, head = changes[-1], self._follower.head
        if head.sequence < newest.sequence:
            head = ChangeLogHead(newest.sequence, newest.hash)
        return ChangePage(changes, newest.sequence, head)


def _read_page(snapshot: Snapshot, since: int | None, limit: int) -> ChangePage:
    changes = [] if since is None else change_log.list_changes_after(snapshot, since, limit)
    head = change_log.read_head(snapshot)
    if since is not None and since > head.sequence:
        raise ChangesAhead(since=since, head=head.sequence)
    next_since = changes[-1].sequence if changes else (head.sequence if since is None else since)
    return ChangePage(changes, next_since, head)
