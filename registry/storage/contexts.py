"""Deletion of contexts, from the list or with everything in them; the row with the id counter stays."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import delete as remove
from sqlalchemy import select, update

from contractlog.compatibility.names import DEFAULT_CONTEXT
from contractlog.registry.storage import tables
from contractlog.registry.storage.in_conditions import in_texts
from contractlog.registry.storage.model import Deleted
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = ["delete_context", "forget_context", "is_empty", "relist_contexts"]

#: All tables with rows of a context, in an order that foreign keys allow.
_OF_A_CONTEXT: Final = (
    tables.schema_references,
    tables.search_terms,
    tables.contents,
    tables.schemas,
    tables.retired,
    tables.settings,
    tables.associations,
    tables.fetches,
    tables.subjects,
)


def is_empty(snapshot: Snapshot, context: str) -> bool:
    """Return True if the context has no versions, not even soft-deleted ones."""
    statement = select(1).where(tables.versions.c.context == context).limit(1)
    return snapshot.connection.execute(statement).first() is None


def delete_context(transaction: Transaction, context: str) -> None:
    """Remove a context from the list; the default context and unlisted ones stay as they are."""
    c = tables.contexts.c
    listed = (c.name == context) & (c.name != DEFAULT_CONTEXT) & c.deleted_at.is_(None)
    gone = transaction.connection.execute(update(tables.contexts).where(listed).values(deleted_at=transaction.now))
    if gone.rowcount:
        transaction.journal("context.deleted", f":{context}:")


def forget_context(transaction: Transaction, context: str) -> int:
    """Delete everything of a context without live versions, and return how many ids it had assigned.

    The caller has checked that no version is live, and that no other context depends on it. The row of the context
    stays, because writes lock it; its counter starts from 1 again.
    """
    execute = transaction.connection.execute
    for subject in transaction.subjects_in_context(context):
        numbers = [number for number, _ in transaction.versions(subject, Deleted.INCLUDED)]
        transaction.hard_delete(subject, transaction.state(subject).id or 0, numbers)
    ids = {*execute(select(tables.retired.c.schema_id).where(tables.retired.c.context == context)).scalars()}
    ids |= {*execute(select(tables.schemas.c.id).where(tables.schemas.c.context == context)).scalars()}
    transaction.touched.update((context, schema_id) for schema_id in ids)
    for table in _OF_A_CONTEXT:
        execute(remove(table).where(table.c.context == context))
    values = {"next_schema_id": 1, "deleted_at": None if context == DEFAULT_CONTEXT else transaction.now}
    execute(update(tables.contexts).where(tables.contexts.c.name == context).values(**values))
    transaction.journal("context.forgotten", f":{context}:", details={"ids": len(ids)})
    return len(ids)


def relist_contexts(transaction: Transaction, contexts: Collection[str]) -> None:
    """List deleted contexts again, because something was added to them."""
    c = tables.contexts.c
    unlisted = in_texts(c.name, "names") & c.deleted_at.is_not(None)
    transaction.connection.execute(update(tables.contexts).where(unlisted).values(deleted_at=None), {"names": contexts})
