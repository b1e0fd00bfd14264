"""Fetch counts by schema, client and day, summed over all processes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from sqlalchemy import delete, select, tuple_

from contractlog.compatibility.names import Subject
from contractlog.registry.storage import tables
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.turns import insert_into, take_turns
from contractlog.registry.storage.values import key_of
from contractlog.registry.storage.writes import Transaction

__all__ = ["Counted", "add", "ids_of", "of"]

_F: Final = tables.fetches.c


class Counted(NamedTuple):
    """Key of a count: a client that fetched a schema on a day."""

    context: str
    schema_id: int
    client: str
    day: int  #: days since 1970-01-01, UTC


def add(transaction: Transaction, counts: Mapping[Counted, int], *, kept_from: int) -> None:
    """Add to the stored counts, and delete those of days before ``kept_from``."""
    connection = transaction.connection
    take_turns(connection)
    statement = insert_into(connection, tables.fetches)
    statement = statement.on_conflict_do_update(
        index_elements=[_F.context, _F.schema_id, _F.client, _F.day],
        set_={"count": _F.count + statement.excluded.count},
    )
    connection.execute(statement, [one._asdict() | {"count": counts[one]} for one in sorted(counts)])
    connection.execute(delete(tables.fetches).where(_F.day < kept_from))


def ids_of(snapshot: Snapshot, subject: Subject) -> set[tuple[str, int]]:
    """Return (context, id) of all schemas of a subject, soft-deleted versions included."""
    u, v = tables.subjects.c, tables.versions.c
    statement = (
        select(v.context, v.schema_id)
        .join_from(tables.subjects, tables.versions, v.subject_id == u.id)
        .where(u.key == key_of(subject))
        .distinct()
    )
    return {(row.context, row.schema_id) for row in snapshot.connection.execute(statement)}


def of(snapshot: Snapshot, keys: Collection[tuple[str, int]], *, since: int, limit: int) -> dict[Counted, int]:
    """Return the counts of these schemas since a day, newest first."""
    found: dict[Counted, int] = {}
    wanted = sorted(keys)
    for start in range(0, len(wanted), 200):
        statement = (
            select(_F.context, _F.schema_id, _F.client, _F.day, _F.count.label("number"))
            .where(tuple_(_F.context, _F.schema_id).in_(wanted[start : start + 200]), _F.day >= since)
            .order_by(_F.day.desc(), _F.context, _F.schema_id, _F.client)
            .limit(limit)
        )
        for row in snapshot.connection.execute(statement):
            found[Counted(row.context, row.schema_id, row.client, row.day)] = row.number
    return found
