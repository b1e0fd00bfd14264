"""Queries of fetch counts by schema, client and day, summed over all processes, and their update."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from sqlalchemy import delete, select, tuple_

from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import dialect_insert
from contractlog.registry.storage.locks import lock_background_jobs
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = ["FetchKey", "add_counts", "find_counts"]

_F: Final = tables.fetches.c


class FetchKey(NamedTuple):
    """Key of a count: a client that fetched a schema on a day."""

    context: str
    schema_id: int
    client: str
    day: int  #: days since 1970-01-01, UTC


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
