"""Locks of a write: its contexts, in the order of their names, and the row of the journal last.

The default context's row comes first in that order. Every write holds it, shared at least: whoever holds it alone
keeps all others out, as changes do that may touch anything, and those that bring a context into being. SQLite has one
writer at a time and needs none of this.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from contractlog.registry.storage import tables
from contractlog.registry.storage.values import FIRST_CONTEXT

__all__ = ["lock"]

_C = tables.contexts.c


def lock(connection: Connection, contexts: Collection[str] | None) -> None:
    """Lock these contexts until the transaction ends; None means everything. Rows of contexts never go."""
    if connection.dialect.name == "sqlite":
        return
    others = sorted({*(contexts or ())} - {FIRST_CONTEXT})
    known = set(connection.execute(select(_C.name).where(_C.name.in_(others))).scalars()) if others else set()
    shared = contexts is not None and FIRST_CONTEXT not in contexts and len(known) == len(others)
    _take(connection, FIRST_CONTEXT, shared=shared)
    for name in others:
        _take(connection, name)


def _take(connection: Connection, name: str, *, shared: bool = False) -> None:
    connection.execute(select(_C.name).where(_C.name == name).with_for_update(read=shared))
