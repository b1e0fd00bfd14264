"""Contexts that go: the row stays, because it knows which ids were used."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select, update

from contractlog.compatibility.names import DEFAULT_CONTEXT
from contractlog.registry.storage import tables
from contractlog.registry.storage.among import texts_among
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.writes import Transaction

__all__ = ["delete", "empty", "list_again"]


def empty(snapshot: Snapshot, context: str) -> bool:
    """Whether no version is left, not even a soft-deleted one."""
    held = select(1).where(tables.versions.c.context == context).limit(1)
    return snapshot.connection.execute(held).first() is None


def delete(transaction: Transaction, context: str) -> None:
    """Take a context out of the list; the default one, and one that is not in it, stay as they are."""
    c = tables.contexts.c
    listed = (c.name == context) & (c.name != DEFAULT_CONTEXT) & c.deleted_at.is_(None)
    gone = transaction.connection.execute(update(tables.contexts).where(listed).values(deleted_at=transaction.now))
    if gone.rowcount:
        transaction.journal("context.deleted", f":{context}:")


def list_again(transaction: Transaction, contexts: Collection[str]) -> None:
    """Put those of these contexts into the list that were taken out: something came to them."""
    c = tables.contexts.c
    unlisted = texts_among(c.name, "names") & c.deleted_at.is_not(None)
    transaction.connection.execute(update(tables.contexts).where(unlisted).values(deleted_at=None), {"names": contexts})
