"""Deletion of contexts, from the list or with everything in them; the row with the id counter stays."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import delete as remove
from sqlalchemy import select, update

from contractlog.compatibility.names import DEFAULT_CONTEXT
from contractlog.registry.storage import tables
from contractlog.registry.storage.among import texts_among
from contractlog.registry.storage.reads import Snapshot
from contractlog.registry.storage.values import Seen
from contractlog.registry.storage.writes import Transaction

__all__ = ["delete", "empty", "forget", "list_again"]

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


def empty(snapshot: Snapshot, context: str) -> bool:
    """Return True if the context has no versions, not even soft-deleted ones."""
    held = select(1).where(tables.versions.c.context == context).limit(1)
    return snapshot.connection.execute(held).first() is None


def delete(transaction: Transaction, context: str) -> None:
    """Remove a context from the list; the default context and unlisted ones stay as they are."""
    c = tables.contexts.c
    listed = (c.name == context) & (c.name != DEFAULT_CONTEXT) & c.deleted_at.is_(None)
    gone = transaction.connection.execute(update(tables.contexts).where(listed).values(deleted_at=transaction.now))
    if gone.rowcount:
        transaction.journal("context.deleted", f":{context}:")


def forget(transaction: Transaction, context: str) -> int:
    """Delete everything of a context without live versions, and return how many ids it had assigned.

    The caller has checked that no version is live, and that no other context depends on it. The row of the context
    stays, because writes lock it; its counter starts from 1 again.
    """
    execute = transaction.connection.execute
    for subject in transaction.subjects_within(context):
        numbers = [number for number, _ in transaction.versions(subject, Seen.ALL)]
        transaction.hard_delete(subject, transaction.state(subject).id or 0, numbers)
    given = {*execute(select(tables.retired.c.schema_id).where(tables.retired.c.context == context)).scalars()}
    given |= {*execute(select(tables.schemas.c.id).where(tables.schemas.c.context == context)).scalars()}
    transaction.touched.update((context, schema_id) for schema_id in given)
    for table in _OF_A_CONTEXT:
        execute(remove(table).where(table.c.context == context))
    values = {"next_schema_id": 1, "deleted_at": None if context == DEFAULT_CONTEXT else transaction.now}
    execute(update(tables.contexts).where(tables.contexts.c.name == context).values(**values))
    transaction.journal("context.forgotten", f":{context}:", details={"ids": len(given)})
    return len(given)


def list_again(transaction: Transaction, contexts: Collection[str]) -> None:
    """List deleted contexts again, because something was added to them."""
    c = tables.contexts.c
    unlisted = texts_among(c.name, "names") & c.deleted_at.is_not(None)
    transaction.connection.execute(update(tables.contexts).where(unlisted).values(deleted_at=None), {"names": contexts})
