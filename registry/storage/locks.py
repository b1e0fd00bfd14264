"""Locks that all nodes share: of writes, and of background jobs.

A write locks the rows of its contexts in the order of their names, then the row of the change log's counter. The row of
the default context comes first in that order. Every write locks it, at least shared. An exclusive lock on it blocks all
other writes; changes take it that may touch anything, or that create a context. SQLite has one writer at a time and
needs no locks. Background jobs lock one row that each of them locks first.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import Connection, select, update

from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import dialect_insert
from contractlog.registry.storage.store_values import FIRST_CONTEXT

__all__ = ["lock_background_jobs", "lock_contexts"]

_C = tables.contexts.c


def lock_contexts(connection: Connection, contexts: Collection[str] | None) -> None:
    """Lock these contexts until the transaction ends; None locks everything.

    Context rows are never deleted.
    """
    if connection.dialect.name == "sqlite":
        return
    others = sorted({*(contexts or ())} - {FIRST_CONTEXT})
    existing = set(connection.execute(select(_C.name).where(_C.name.in_(others))).scalars()) if others else set()
    shared = contexts is not None and FIRST_CONTEXT not in contexts and len(existing) == len(others)
    _lock_row(connection, FIRST_CONTEXT, shared=shared)
    for name in others:
        _lock_row(connection, name)


def _lock_row(connection: Connection, name: str, *, shared: bool = False) -> None:
    connection.execute(select(_C.name).where(_C.name == name).with_for_update(read=shared))


_BACKGROUND_JOBS: Final = "turns"  #: row of ``marks`` that the jobs lock; stored, and known to older nodes


def lock_background_jobs(connection: Connection) -> None:
    """Block the background jobs of other nodes until the transaction ends."""
    c = tables.marks.c
    connection.execute(
        dialect_insert(connection, tables.marks).values(name=_BACKGROUND_JOBS, sequence=0).on_conflict_do_nothing()
    )
    connection.execute(update(tables.marks).where(c.name == _BACKGROUND_JOBS).values(sequence=c.sequence))
