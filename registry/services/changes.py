"""Journal service: changes in order, from any position on; and eviction of cached schemas by id."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from contractlog.compatibility.errors import ChangesAhead
from contractlog.compatibility.names import Subject
from contractlog.registry.cache import ByteCache
from contractlog.registry.services.following import Follower
from contractlog.registry.services.threads import Threads
from contractlog.registry.storage import journal
from contractlog.registry.storage.finding import ids_of
from contractlog.registry.storage.journal import Change
from contractlog.registry.storage.protocol import Store

__all__ = ["LONGEST_WAIT", "MOST_CHANGES", "Changes", "Page", "warm"]

LONGEST_WAIT: Final = 30.0  #: seconds
_SET: Final = "settings.changed"  #: may have changed an alias
MOST_CHANGES: Final = 1_000  #: per response


@dataclass(frozen=True, slots=True)
class Page:
    """Changes after a number."""

    changes: Sequence[Change]
    following: int  #: ``since`` of the next request
    head: int  #: the newest known number


class Changes:
    """Reads the journal, and waits for new entries."""

    def __init__(self, store: Store, threads: Threads, follower: Follower) -> None:
        self._store = store
        self._threads = threads
        self._follower = follower

    async def after(self, since: int | None, *, limit: int, wait: float) -> Page:
        """Return the changes after a number; None means after the newest one.

        Args:
            since: number of the last change that the caller has seen.
            limit: maximum number of changes.
            wait: seconds to wait for a first change if there is none yet; after that, the result is empty.

        Raises:
            ChangesAhead: the journal does not reach that number.
        """
        if since is None or wait <= 0:
            return await self._threads.run(self._read, since, limit)
        found = self._follower.recent(since, limit)
        if found is None:  # no longer cached, or the follower has just started
            page = await self._threads.run(self._read, since, limit)
            if page.changes:
                return page
        elif found:
            return self._page(found)
        await self._follower.wait(since, min(wait, LONGEST_WAIT))
        found = self._follower.recent(since, limit)
        return self._page(found) if found else await self._threads.run(self._read, since, limit)

    def _page(self, found: Sequence[Change]) -> Page:
        last = found[-1].sequence
        return Page(found, last, max(self._follower.head, last))

    def _read(self, since: int | None, limit: int) -> Page:
        with self._store.reading() as snapshot:
            found = [] if since is None else journal.following(snapshot, since, limit)
            head = journal.head(snapshot)
        if since is not None and since > head:
            raise ChangesAhead(since=since, head=head)
        following = found[-1].sequence if found else (head if since is None else since)
        return Page(found, following, max(head, following))


def warm(store: Store, cache: ByteCache, follower: Follower) -> None:
    """Evict cached schemas by id when the journal has changes of them by another node."""

    def drop(changes: Sequence[Change]) -> None:
        named = {change: journal.version_of(change) for change in changes if "id" not in change.facts}
        with store.reading() as snapshot:
            held = journal.held_by(snapshot, [version for version in named.values() if version is not None])
            renamed = {Subject.parse(change.target) for change in changes if change.action == _SET}
            keys = {key for subject in renamed if subject.name for key in ids_of(snapshot, subject)}
        for change in changes:
            version = journal.version_of(change)
            if version is None:
                continue
            schema_id = change.facts.get("id") or held.get(version)
            if schema_id is None:
                cache.forget_all()  # a hard-deleted version, and its id was not recorded
                return
            keys.add((version[0].context, int(schema_id)))
        cache.forget(keys)

    follower.on_changes(drop)
