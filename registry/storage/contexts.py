"""Contexts: the list of them, and their deletion, from the list or with everything in them.

The row of a context stays, because writes lock it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from sqlalchemy import delete as remove
from sqlalchemy import func, or_, select, update

from contractlog.compatibility.identifiers import DEFAULT_CONTEXT
from contractlog.registry.storage import tables
from contractlog.registry.storage.dialects import in_texts, order_by_bytes
from contractlog.registry.storage.id_counters import ASSIGNED_IDS
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import WHOLE_LIST, DeletedFilter, Page
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "delete_context",
    "find_dependent",
    "forget_context",
    "is_empty",
    "list_contexts",
    "relist_contexts",
]

_C: Final = tables.contexts.c

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
    tables.deks,
    tables.subjects,
)


def list_contexts(snapshot: Snapshot, page: Page = WHOLE_LIST, *, prefix: str = "") -> list[str]:
    """List the contexts with registrations, the default one first; deleted contexts are left out."""
    if "\0" in prefix:
        return []
    has_versions = select(1).where(tables.versions.c.context == _C.name).exists()
    statement = select(_C.name).where(or_(_C.name == DEFAULT_CONTEXT, _C.deleted_at.is_(None), has_versions))
    statement = statement.where(func.substr(_C.name, 1, len(prefix)) == prefix)
    statement = statement.order_by(order_by_bytes(_C.name))  # "." sorts before ".a"
    return list(snapshot.connection.execute(page.of(statement)).scalars())


def is_empty(snapshot: Snapshot, context: str) -> bool:
    """Return True if the context has no versions, not even soft-deleted ones."""
    statement = select(1).where(tables.versions.c.context == context).limit(1)
    return snapshot.connection.execute(statement).first() is None


def delete_context(transaction: Transaction, context: str) -> None:
    """Remove a context from the list; the default context and unlisted ones stay as they are."""
    listed = (_C.name == context) & (_C.name != DEFAULT_CONTEXT) & _C.deleted_at.is_(None)
    result = transaction.connection.execute(update(tables.contexts).where(listed).values(deleted_at=transaction.now))
    if result.rowcount:
        transaction.record_change("context.deleted", f":{context}:")


def forget_context(transaction: Transaction, context: str) -> int:
    """Delete everything of a context without live versions, and return how many ids it had assigned.

    The caller has checked that no version is live, and that no other context depends on it. The row of the context
    stays, because writes lock it; its counter starts from 1 again.
    """
    execute = transaction.connection.execute
    for subject in transaction.subjects_in_context(context):
        numbers = [number for number, _ in transaction.versions(subject, DeletedFilter.INCLUDED)]
        transaction.hard_delete(subject, transaction.state(subject).id or 0, numbers)
    ids = {
        schema_id
        for named, assigned in ASSIGNED_IDS
        for schema_id in execute(select(assigned).where(named == context)).scalars()
    }
    transaction.touched.update((context, schema_id) for schema_id in ids)
    for table in _OF_A_CONTEXT:
        execute(remove(table).where(table.c.context == context))
    values = {"next_schema_id": 1, "deleted_at": None if context == DEFAULT_CONTEXT else transaction.now}
    execute(update(tables.contexts).where(_C.name == context).values(**values))
    transaction.record_change("context.forgotten", f":{context}:", details={"ids": len(ids)})
    return len(ids)


def relist_contexts(transaction: Transaction, contexts: Collection[str]) -> None:
    """List deleted contexts again, because something was added to them."""
    unlisted = in_texts(_C.name, "names") & _C.deleted_at.is_not(None)
    transaction.connection.execute(update(tables.contexts).where(unlisted).values(deleted_at=None), {"names": contexts})


def find_dependent(snapshot: Snapshot, context: str) -> tuple[str, int] | None:
    """Return (context, id) of a schema of another context that references a version of this one, or None."""
    r = tables.schema_references.c
    statement = (
        select(r.context, r.schema_id)
        .join_from(tables.schema_references, tables.subjects, tables.subjects.c.id == r.target_subject_id)
        .where(tables.subjects.c.context == context, r.context != context)
        .limit(1)
    )
    row = snapshot.connection.execute(statement).first()
    return None if row is None else (row.context, row.schema_id)
