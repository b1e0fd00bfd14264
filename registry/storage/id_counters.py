"""Id counters: the next schema id of each context, and gaps in the ids that were assigned."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from typing import Final

from sqlalchemy import func, insert, select, update

from contractlog.registry.storage import tables
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import MAX_ID_GAP
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "ASSIGNED_IDS",
    "find_counters_behind",
    "find_id_below_gap",
    "lower_counter",
    "raise_counter",
    "read_counters",
]

_S, _C, _R = tables.schemas.c, tables.contexts.c, tables.retired.c
ASSIGNED_IDS: Final = ((_S.context, _S.id), (_R.context, _R.schema_id))  #: columns: context and id, live or deleted


def read_counters(snapshot: Snapshot) -> dict[str, int]:
    """Return the next id of every context."""
    return {row.name: row.next_schema_id for row in snapshot.connection.execute(select(tables.contexts))}


def raise_counter(transaction: Transaction, context: str, next_id: int) -> int:
    """Make a context assign ids from this one on; never lowers the counter. Returns the next id."""
    current = transaction.connection.execute(select(_C.next_schema_id).where(_C.name == context)).scalar()
    if current is None:
        transaction.connection.execute(insert(tables.contexts).values(name=context, next_schema_id=next_id))
        return next_id
    if next_id > current:
        lower_counter(transaction, context, next_id)
    return max(next_id, int(current))


def lower_counter(transaction: Transaction, context: str, next_id: int) -> None:
    """Make a context assign ids from this one on, skipping those that were assigned before."""
    transaction.connection.execute(update(tables.contexts).where(_C.name == context).values(next_schema_id=next_id))


def find_counters_behind(snapshot: Snapshot) -> dict[str, tuple[int, int]]:
    """Return (next id, largest id in use) of the contexts with ids in use from the next id on.

    Contexts are left out whose ids above the next one are ``MAX_ID_GAP`` or more away, as after ``lower_counter``.
    """
    behind: dict[str, tuple[int, int]] = {}
    for name, next_id in read_counters(snapshot).items():
        above = [
            tuple(
                snapshot.connection.execute(
                    select(extreme(assigned)).where(named == name, assigned >= next_id)
                ).scalar()
                for extreme in (func.min, func.max)
            )
            for named, assigned in ASSIGNED_IDS
        ]
        lowest = [low for low, _ in above if low is not None]
        if lowest and min(lowest) - next_id < MAX_ID_GAP:
            behind[name] = (next_id, max(high for _, high in above if high is not None))
    return behind


def find_id_below_gap(snapshot: Snapshot, context: str) -> int | None:
    """Return the id below the highest gap of more than ``MAX_ID_GAP`` under the next id; None if no gap.

    It is 0 if the context assigned no id below the gap.
    """
    next_id = read_counters(snapshot).get(context, 1)
    upper = next_id - 1
    for lower in _ids_descending(snapshot, context, next_id):
        if upper - lower > MAX_ID_GAP:
            return lower
        upper = lower
    return 0 if upper > MAX_ID_GAP else None


def _ids_descending(snapshot: Snapshot, context: str, next_id: int) -> Iterator[int]:
    """Yield the assigned ids of a context below the next one, highest first."""
    parts = (
        snapshot.connection.execute(
            select(assigned).where(named == context, assigned < next_id).order_by(assigned.desc())
        ).scalars()
        for named, assigned in ASSIGNED_IDS
    )
    yield from merge(*parts, reverse=True)
