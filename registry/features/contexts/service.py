"""Contexts: their list, and the deletion of empty ones."""

from __future__ import annotations

from functools import partial

from contractlog.compatibility.errors import ContextNotEmpty, SubjectNotReadWrite
from contractlog.compatibility.identifiers import Subject
from contractlog.compatibility.mode import Mode
from contractlog.registry.access.current_caller import may_read_in_context
from contractlog.registry.features.read_service import ReadService, readable_page
from contractlog.registry.registration.write_preconditions import require_writable_mode
from contractlog.registry.storage import contexts
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.store_values import WHOLE_LIST, Page
from contractlog.registry.storage.transaction import Transaction

__all__ = ["ContextService"]


class ContextService(ReadService):
    """Lists and deletes contexts. Their ids stay used: new schemas in a deleted context get higher ones."""

    async def list_contexts(self, prefix: str = "", page: Page = WHOLE_LIST) -> list[str]:
        """List the contexts in which the caller may read anything, the default one first."""

        def query(snapshot: Snapshot) -> list[str]:
            return readable_page(partial(contexts.list_contexts, snapshot, prefix=prefix), page, may_read_in_context)

        return await self._query(query)

    async def delete(self, context: str) -> None:
        """Delete a context; one that does not exist counts as deleted.

        Raises:
            ContextNotEmpty: it has versions, live or soft-deleted.
            SubjectReadOnly, SubjectNotReadWrite: the mode does not permit it; nothing changed.
        """
        scope = Subject(context, "")

        def work(transaction: Transaction) -> None:
            configured = transaction.read_effective_settings(scope)
            require_writable_mode(scope, configured)
            if configured.mode not in {None, Mode.READWRITE}:
                raise SubjectNotReadWrite(subject=str(scope), context=context)
            if not contexts.is_empty(transaction, context):
                raise ContextNotEmpty(context=f":{context}:")
            contexts.delete_context(transaction, context)

        await self._store.change(work)
