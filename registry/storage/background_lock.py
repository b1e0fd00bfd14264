"""Cross-node mutex for background jobs: one row that each of them locks first."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from sqlalchemy import Connection, Table, update

from contractlog.registry.storage import tables

__all__ = ["dialect_insert", "lock_background_jobs"]

_LOCK_ROW: Final = "turns"


def dialect_insert(connection: Connection, table: Table) -> Any:
    """Return an insert with an ``ON CONFLICT`` clause; both databases have the same."""
    # Imported on demand: the other database's dialect costs a twentieth of the whole startup time.
    return import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert(table)


def lock_background_jobs(connection: Connection) -> None:
    """Block the background jobs of other nodes until the transaction ends."""
    c = tables.marks.c
    connection.execute(
        dialect_insert(connection, tables.marks).values(name=_LOCK_ROW, sequence=0).on_conflict_do_nothing()
    )
    connection.execute(update(tables.marks).where(c.name == _LOCK_ROW).values(sequence=c.sequence))
