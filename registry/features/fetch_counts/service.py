"""Fetch counts by id or by subject, for each client and day."""

from __future__ import annotations

from typing import Final

from contractlog.compatibility.errors import SubjectNotFound
from contractlog.compatibility.identifiers import Subject
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.features.fetch_counts import queries
from contractlog.registry.features.fetch_counts.counter import FetchCounter
from contractlog.registry.features.fetch_counts.queries import FetchKey, FetchTotal
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.name_and_id_lookup import list_ids
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store import Store

__all__ = ["MAX_FETCHES", "FetchService"]

MAX_FETCHES: Final = 10_000  #: rows per response


class FetchService(ReadService):
    """Reads stored counts, and adds those of this process that are not stored yet."""

    def __init__(self, store: Store, threads: ThreadPools, counts: FetchCounter) -> None:
        super().__init__(store, threads)
        self._counts = counts

    async def list_by_id(self, context: str, schema_id: int, *, days: int, limit: int) -> list[tuple[FetchKey, int]]:
        """Return the clients that fetched an id, newest days first."""
        return await self._query(self._read, {(context, schema_id)}, days, limit)

    async def list_by_subject(self, subject: Subject, *, days: int, limit: int) -> list[tuple[FetchKey, int]]:
        """Return the clients that fetched the schemas of a subject, soft-deleted versions included.

        Raises:
            SubjectNotFound: it has no versions.
        """

        def query(snapshot: Snapshot) -> list[tuple[FetchKey, int]]:
            keys = list_ids(snapshot, subject)
            if not keys:
                raise SubjectNotFound(subject=str(subject))
            return self._read(snapshot, keys, days, limit)

        return await self._query(query)

    def sum_by_client(
        self, snapshot: Snapshot, keys: set[tuple[str, int]], *, days: int, limit: int
    ) -> dict[tuple[str, int, str], FetchTotal]:
        """Return totals by context, id and client; ``limit`` is for those that are stored."""
        since = self._counts.today - days + 1
        pending = self._counts.pending()
        totals = queries.find_totals(snapshot, keys, since=since, limit=limit)
        for key, number in pending.items():
            if (key.context, key.schema_id) in keys and key.day >= since:
                group = (key.context, key.schema_id, key.client)
                totals[group] = FetchTotal(number, key.day).plus(totals.get(group))
        return totals

    def _read(
        self, snapshot: Snapshot, keys: set[tuple[str, int]], days: int, limit: int
    ) -> list[tuple[FetchKey, int]]:
        since = self._counts.today - days + 1
        pending = self._counts.pending()
        totals = queries.find_counts(snapshot, keys, since=since, limit=limit)
        for key, number in pending.items():
            if (key.context, key.schema_id) in keys and key.day >= since:
                totals[key] = totals.get(key, 0) + number
        return sorted(totals.items(), key=lambda item: (-item[0].day, item[0]))[:limit]
