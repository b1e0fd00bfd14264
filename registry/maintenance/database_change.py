"""Changes by the operator of a database that contains a registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from contractlog.compatibility.errors import UsageError
from contractlog.compatibility.identifiers import MAX_CONTEXT_LENGTH
from contractlog.registry import database
from contractlog.registry.storage import id_counters
from contractlog.registry.storage.engines import mask_url
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.transaction import Transaction
from contractlog.registry.transfer.database_access import open_for_import

__all__ = [
    "change_database",
    "open_registry_database",
    "require_context",
    "unknown_context_error",
]

T = TypeVar("T")


def require_context(transaction: Transaction, context: str) -> int:
    """Return the next id of an existing context.

    Raises:
        UsageError: there is no such context.
    """
    counters = id_counters.read_counters(transaction)
    if context not in counters:
        raise unknown_context_error(counters, context)
    return counters[context]


def unknown_context_error(counters: Iterable[str], context: str, hint: str = "") -> UsageError:
    """Return the error for a context that does not exist, with the existing ones."""
    existing = ", ".join(f"`{name}`" for name in sorted(counters)) or "none"
    return UsageError(f"the database has no context `{context[:MAX_CONTEXT_LENGTH]}`, there are: {existing}{hint}")


def change_database(database_url: str, work: Callable[[Transaction], T]) -> T:
    """Run a change in a database that contains a registry."""
    with open_registry_database(database_url) as store:
        return store.transact(work).result()


@contextmanager
def open_registry_database(database_url: str) -> Iterator[Store]:
    """Open a database that contains a registry.

    Raises:
        UsageError: it contains none.
    """
    if database.current_revision(database_url)[0] is None:
        masked_url = mask_url(database_url)
        raise UsageError(f"{masked_url} contains no registry: is it the right --database-url?")
    with open_for_import(database_url) as store:
        yield store
