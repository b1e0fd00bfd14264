"""Stored fetch counts by schema, client and day: queries, and the update with the counts of a process."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from sqlalchemy import delete, func, select, tuple_

from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import dialect_insert
from contractlog.registry.storage.locks import lock_background_jobs
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = ["FetchKey", "FetchTotal", "add_counts", "find_counts", "find_totals"]

_F: Final = tables.fetches.c


class FetchKey(NamedTuple):
    """Key of a count: a client that fetched a schema on a day."""

    context: str
    schema_id: int
    client: str
    day: int  #: days since 1970-01-01, UTC


@dataclass(frozen=True, slots=True)
class FetchTotal:
    """Fetches of a schema by a client, over several days."""

    count: int
    last_day: int  #: days since 1970-01-01, UTC

    def plus(self, other: FetchTotal | None) -> FetchTotal:
        """Return the sum of both."""
        return self if other is None else FetchTotal(self.count + other.count, max(self.last_day, other.last_day))


def add_counts(transaction: Transaction, counts: Mapping[FetchKey, int], *, oldest_day: int) -> None:
    """Add to the stored counts, and delete those of days before ``oldest_day``."""
    connection = transaction.connection
    lock_background_jobs(connection)
    statement = dialect_insert(connection, tables.fetches)
    statement = statement.on_conflict_do_update(
        index_elements=[_F.context, _F.schema_id, _F.client, _F.day],
        set_={"count": _F.count + statement.excluded.count},
    )
    connection.execute(statement, [key._asdict() | {"count": counts[key]} for key in sorted(counts)])
    connection.execute(delete(tables.fetches).where(_F.day < oldest_day))


def find_counts(
    snapshot: Snapshot, keys: Collection[tuple[str, int]], *, since: int, limit: int
) -> dict[FetchKey, int]:
    """Return the counts of these schemas since a day, newest first."""
    counts: dict[FetchKey, int] = {}
    sorted_keys = sorted(keys)
    for start in range(0, len(sorted_keys), 200):
        statement = (
            select(_F.context, _F.schema_id, _F.client, _F.day, _F.count.label("number"))
            .where(tuple_(_F.context, _F.schema_id).in_(sorted_keys[start : start + 200]), _F.day >= since)
            .order_by(_F.day.desc(), _F.context, _F.schema_id, _F.client)
            .limit(limit)
        )
        for row in snapshot.connection.execute(statement):
            counts[FetchKey(row.context, row.schema_id, row.client, row.day)] = row.number
    return counts


def find_totals(
    snapshot: Snapshot, keys: Collection[tuple[str, int]], *, since: int, limit: int
) -> dict[tuple[str, int, str], FetchTotal]:
    """Return the totals of these schemas since a day by context, id and client, the latest first."""
    totals: dict[tuple[str, int, str], FetchTotal] = {}
    last_day = func.max(_F.day).label("last_day")
    sorted_keys = sorted(keys)
    for start in range(0, len(sorted_keys), 200):
        statement = (
            select(_F.context, _F.schema_id, _F.client, func.sum(_F.count).label("number"), last_day)
            .where(tuple_(_F.context, _F.schema_id).in_(sorted_keys[start : start + 200]), _F.day >= since)
            .group_by(_F.context, _F.schema_id, _F.client)
            .order_by(last_day.desc(), _F.context, _F.schema_id, _F.client)
            .limit(limit)
        )
        for row in snapshot.connection.execute(statement):
            totals[row.context, row.schema_id, row.client] = FetchTotal(int(row.number), row.last_day)
    return totals
