"""Deletion of empty contexts."""

from __future__ import annotations

import asyncio

from contractlog.compatibility.errors import ContextNotEmpty, SubjectNotReadWrite
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.level import Mode
from contractlog.registry.registration.write_preconditions import read_effective_settings, reject_read_only
from contractlog.registry.storage import contexts
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction

__all__ = ["ContextService"]


class ContextService:
    """Deletes contexts. Their ids stay used: new schemas in a deleted context get higher ones."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def delete(self, context: str) -> None:
        """Delete a context; one that does not exist counts as deleted.

        Raises:
            ContextNotEmpty: it has versions, live or soft-deleted.
            SubjectReadOnly, SubjectNotReadWrite: the mode does not permit it; nothing changed.
        """
        scope = Subject(context, "")

        def work(transaction: Transaction) -> None:
            configured = read_effective_settings(transaction, scope)
            reject_read_only(scope, configured)
            if configured.mode not in {None, Mode.READWRITE}:
                raise SubjectNotReadWrite(subject=str(scope), context=context)
            if not contexts.is_empty(transaction, context):
                raise ContextNotEmpty(context=f":{context}:")
            contexts.delete_context(transaction, context)

        await asyncio.wrap_future(self._store.transact(work))
