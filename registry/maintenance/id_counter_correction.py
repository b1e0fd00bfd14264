"""Correction of id counters, as after restoring a backup, and warnings about those that need it."""

from __future__ import annotations

from collections.abc import Iterator

from contractlog.compatibility.errors import StoreError, UsageError
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, MAX_VERSION, find_context_problem
from contractlog.compatibility.text.terminal_text import shell_command
from contractlog.registry.maintenance.database_change import (
    change_database,
    require_context,
    unknown_context_error,
)
from contractlog.registry.storage import id_counters
from contractlog.registry.storage.store import Store
from contractlog.registry.storage.store_values import MAX_ID_GAP
from contractlog.registry.storage.transaction import Transaction

__all__ = ["counter_warnings", "lower_ids", "raise_ids"]


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
    problem = find_context_problem(context)
    if problem is not None:
        raise UsageError(problem)

    def work(transaction: Transaction) -> int:
        counters = id_counters.read_counters(transaction)
        if context not in counters and context != DEFAULT_CONTEXT and not create:
            raise unknown_context_error(counters, context, "; if it was made after the backup, pass --create")
        before = counters.get(context, 1)
        next_id = id_counters.raise_counter(transaction, context, largest + 1)
        if next_id != before:
            transaction.record_change("ids.raised", context)
        return next_id

    return change_database(database_url, work)


def lower_ids(database_url: str, context: str) -> tuple[int, int]:
    """Lower a context's next id below its highest isolated id; return the next id before and after.

    An id is isolated if it is more than ``MAX_ID_GAP`` above the next lower one; so is a next id that was raised that
    far without any id below it. New ids skip those already issued, so that none is issued twice. Another call lowers
    the next id below the next isolated one.

    Raises:
        UsageError: there is no such context, or nothing in it is isolated.
    """

    def work(transaction: Transaction) -> tuple[int, int]:
        before = require_context(transaction, context)
        below = id_counters.find_id_below_gap(transaction, context)
        if below is None:
            raise UsageError(
                f"context {context} has no isolated id: none is more than {MAX_ID_GAP:,} above the next lower one, and "
                f"its next id is {before}"
            )
        id_counters.lower_counter(transaction, context, below + 1)
        transaction.record_change("ids.lowered", context, details={"before": before, "after": below + 1})
        return before, below + 1

    return change_database(database_url, work)


def counter_warnings(store: Store) -> Iterator[str]:
    """Yield a warning for each counter that is not above all ids in use, as after restoring a backup.

    A store that does not respond must not prevent the start: then the warning says that the check was not made.
    """
    try:
        with store.open_snapshot() as snapshot:
            behind = id_counters.find_counters_behind(snapshot)
    except StoreError as error:
        yield f"id counters were not checked against the ids in use: {error}"
        return
    for context, (next_id, largest) in sorted(behind.items()):
        yield (
            f"the next id of context {context} is {next_id}, and {largest} is in use already: "
            f"run {shell_command('db raise-ids', context=context, to='N')}, with the largest id that was ever issued"
        )
