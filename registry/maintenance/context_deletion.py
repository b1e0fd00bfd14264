"""Deletion of a context with its ids."""

from __future__ import annotations

from contractlog.compatibility.errors import UsageError
from contractlog.registry.maintenance.database_change import change_database, require_context
from contractlog.registry.storage import contexts
from contractlog.registry.storage.store_values import DeletedFilter
from contractlog.registry.storage.transaction import Transaction

__all__ = ["forget_context"]


def forget_context(database_url: str, context: str, confirmed: str) -> int:
    """Delete a context without live versions, with its ids; return how many ids it had issued.

    New ids of the context start at 1 again: the operator is responsible that no record contains one of its ids.

    Raises:
        UsageError: there is no such context, the confirmation differs from its name, a version is live, or a schema of
            another context references one of its versions.
    """
    if confirmed != context:
        raise UsageError(
            f"--confirm has to repeat the context `{context}`, and is `{confirmed}`: records that carry its ids would "
            "be read by other schemas"
        )

    def work(transaction: Transaction) -> int:
        require_context(transaction, context)
        live = transaction.subjects_in_context(context, DeletedFilter.EXCLUDED)
        if live:
            raise UsageError(
                f"context {context} has live versions, in {len(live):,} subjects such as `{min(live)}`: "
                "delete them first"
            )
        dependent = contexts.find_dependent(transaction, context)
        if dependent is not None:
            raise UsageError(
                f"the schema with id {dependent[1]} of context {dependent[0]} references a version of context "
                f"{context}: hard-delete it first"
            )
        return contexts.forget_context(transaction, context)

    return change_database(database_url, work)
