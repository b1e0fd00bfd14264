"""What runs in the background of every node takes turns, by one row that is locked before others of its kind."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

from sqlalchemy import Connection, Table, update

from contractlog.registry.storage import tables

__all__ = ["insert_into", "take_turns"]

_TURNS: Final = "turns"


def insert_into(connection: Connection, table: Table) -> Any:
    """Return an insert that can say what is done about rows that are there already; both databases spell it alike."""
    # Loaded when it is needed: the other database's part costs a twentieth of the whole start.
    return import_module(f"sqlalchemy.dialects.{connection.dialect.name}").insert(table)


def take_turns(connection: Connection) -> None:
    """Keep the background work of other nodes out until the transaction ends."""
    c = tables.marks.c
    connection.execute(insert_into(connection, tables.marks).values(name=_TURNS, sequence=0).on_conflict_do_nothing())
    connection.execute(update(tables.marks).where(c.name == _TURNS).values(sequence=c.sequence))
