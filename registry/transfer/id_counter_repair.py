"""Repair of id counters, as after restoring a backup, and warnings about those that need it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from contractlog.compatibility.errors import StoreError, StoreTimeout, UsageError
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, MAX_VERSION
from contractlog.registry import database
from contractlog.registry.storage import contexts, id_counters
from contractlog.registry.storage.engines import mask_url
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import MAX_ID_GAP, DeletedFilter
from contractlog.registry.storage.transaction import Transaction
from contractlog.registry.transfer.database_access import open_for_import

__all__ = ["counter_warnings", "forget_context", "lower_ids", "raise_ids"]

T = TypeVar("T")

_MAX_CONTEXT_LENGTH: Final = 255


def raise_ids(database_url: str, context: str, largest: int, *, create: bool = False) -> int:
    """Make a context issue only ids above this one; return the next id. A counter is never lowered.

    Args:
        database_url: of the registry.
        context: the context of the ids; a missing one is created only with ``create``, as the name may be a typo.
        largest: the largest id that was ever issued.
        create: create a missing context, such as one that was created after the backup was made.

    Raises:
        UsageError: the id or the context's name is invalid, or there is no such context.
    """
    if not 0 <= largest < MAX_VERSION:
        raise UsageError(f"--to takes a number from 0 to {MAX_VERSION - 1}")
    if not context.startswith(".") or len(context) > _MAX_CONTEXT_LENGTH or not context.isprintable() or ":" in context:
        raise UsageError(
            f"a context's name starts with a dot, and has at most {_MAX_CONTEXT_LENGTH} characters and no colon, "
            f"unlike `{context[:_MAX_CONTEXT_LENGTH]}`"
        )

    def work(transaction: Transaction) -> int:
        counters = id_counters.read_counters(transaction)
        if context not in counters and context != DEFAULT_CONTEXT and not create:
            raise _unknown_context_error(counters, context, "; if it was made after the backup, pass --create")
        before = counters.get(context, 1)
        next_id = id_counters.raise_counter(transaction, context, largest + 1)
        if next_id != before:
            transaction.record_change("ids.raised", context)
        return next_id

    return _change_database(database_url, work)


def lower_ids(database_url: str, context: str) -> tuple[int, int]:
    """Lower a context's next id below its highest isolated id; return the next id before and after.

    An id is isolated if it is more than ``MAX_ID_GAP`` above the next lower one; so is a next id that was raised that
    far without any id below it. New ids skip those already issued, so that none is issued twice. Another call lowers
    the next id below the next isolated one.

    Raises:
        UsageError: there is no such context, or nothing in it is isolated.
    """

    def work(transaction: Transaction) -> tuple[int, int]:
        before = _require_context(transaction, context)
        below = id_counters.find_id_below_gap(transaction, context)
        if below is None:
            raise UsageError(
                f"context {context} has no isolated id: none is more than {MAX_ID_GAP:,} above the next lower one, and "
                f"its next id is {before}"
            )
        id_counters.lower_counter(transaction, context, below + 1)
        transaction.record_change("ids.lowered", context, details={"before": before, "after": below + 1})
        return before, below + 1

    return _change_database(database_url, work)


def forget_context(database_url: str, context: str, confirmed: str) -> int:
    """Delete a context without live versions, with its ids; return how many ids it had issued.

    New ids of the context start at 1 again: the operator is responsible that no record contains one of its ids.

    Raises:
        UsageError: there is no such context, the confirmation is another name, a version is live, or a schema of
            another context references one of its versions.
    """
    if confirmed != context:
        raise UsageError(
            f"--confirm has to repeat the context `{context}`, and is `{confirmed}`: records that carry its ids would "
            "be read by other schemas"
        )

    def work(transaction: Transaction) -> int:
        _require_context(transaction, context)
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

    return _change_database(database_url, work)


def _require_context(transaction: Transaction, context: str) -> int:
    """Return the next id of an existing context."""
    counters = id_counters.read_counters(transaction)
    if context not in counters:
        raise _unknown_context_error(counters, context)
    return counters[context]


def _unknown_context_error(counters: Iterable[str], context: str, hint: str = "") -> UsageError:
    existing = ", ".join(f"`{name}`" for name in sorted(counters)) or "none"
    return UsageError(f"the database has no context `{context[:_MAX_CONTEXT_LENGTH]}`, there are: {existing}{hint}")


def _change_database(database_url: str, work: Callable[[Transaction], T]) -> T:
    """Run a change in a database that contains a registry."""
    if database.current_revision(database_url)[0] is None:
        masked_url = mask_url(database_url)
        raise UsageError(f"{masked_url} contains no registry: is it the right --database-url?")
    with open_for_import(database_url) as store:
        return store.transact(work).result()


def counter_warnings(store: Store) -> Iterator[str]:
    """Yield a warning for each counter that is not above all ids in use, as after restoring a backup.

    A store that does not respond must not prevent the start: then the warning says that the check was not made.
    """
    try:
        with store.open_snapshot() as snapshot:
            behind = id_counters.find_counters_behind(snapshot)
    except (StoreError, StoreTimeout) as error:
        yield f"id counters were not checked against the ids in use: {error}"
        return
    for context, (next_id, largest) in sorted(behind.items()):
        yield (
            f"the next id of context {context} is {next_id}, and {largest} is in use already: "
            f"run contractlog db raise-ids --context {context} --to N, with the largest id that was ever issued"
        )
