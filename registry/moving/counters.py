"""The counters from which ids come: raised, lowered or forgotten by an operator, and checked when a registry starts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from contractlog.compatibility.errors import StoreError, StoreTimeout, UsageError
from contractlog.compatibility.names import DEFAULT_CONTEXT, MAX_VERSION
from contractlog.registry import database
from contractlog.registry.moving.databases import writing
from contractlog.registry.storage import contexts, transfer
from contractlog.registry.storage.engines import shown_url
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.values import MAX_ID_GAP, Seen
from contractlog.registry.storage.writes import Transaction

__all__ = ["forget_context", "lower_ids", "raise_ids", "warnings"]

T = TypeVar("T")

_LONGEST: Final = 255


def raise_ids(database_url: str, context: str, largest: int, *, create: bool = False) -> int:
    """Let a context give out ids above this one, and return the next; a counter never goes back.

    Args:
        database_url: of the registry.
        context: whose ids; one that is not there is made by ``create`` alone, as the name may be a slip.
        largest: the largest id that was ever given out.
        create: a context that came after the backup was made shall be there again.

    Raises:
        UsageError: there can be no such id, or no such context.
    """
    if not 0 <= largest < MAX_VERSION:
        raise UsageError(f"--to takes a number from 0 to {MAX_VERSION - 1}")
    if not context.startswith(".") or len(context) > _LONGEST or not context.isprintable() or ":" in context:
        raise UsageError(
            f"a context's name starts with a dot, and has at most {_LONGEST} characters and no colon, "
            f"unlike `{context[:_LONGEST]}`"
        )

    def work(transaction: Transaction) -> int:
        counters = transfer.counters_of(transaction)
        if context not in counters and context != DEFAULT_CONTEXT and not create:
            there = ", ".join(f"`{name}`" for name in sorted(counters)) or "none"
            raise UsageError(
                f"the database has no context `{context}`, there are: {there}; "
                "if it was made after the backup, give --create"
            )
        before = counters.get(context, 1)
        following = transfer.raise_counter(transaction, context, largest + 1)
        if following != before:
            transaction.journal("ids.raised", context)
        return following

    return _changed(database_url, work)


def lower_ids(database_url: str, context: str) -> tuple[int, int]:
    """Let new ids of a context begin below its highest isolated id; return the next id before, and now.

    An id is isolated when it is more than ``MAX_ID_GAP`` above the next lower one; so is a next id that was raised so
    far without any id below it. New ids skip those that were given, so that none is given twice. Run again, it goes
    below the next isolated one.

    Raises:
        UsageError: there is no such context, or nothing in it is isolated.
    """

    def work(transaction: Transaction) -> tuple[int, int]:
        before = _required(transaction, context)
        below = transfer.isolated(transaction, context)
        if below is None:
            raise UsageError(
                f"context {context} has no isolated id: none is more than {MAX_ID_GAP:,} above the next lower one, and "
                f"its next id is {before}"
            )
        transfer.lower_counter(transaction, context, below + 1)
        transaction.journal("ids.lowered", context, details={"before": before, "after": below + 1})
        return before, below + 1

    return _changed(database_url, work)


def forget_context(database_url: str, context: str, confirmed: str) -> int:
    """Forget a context without live versions, its ids included, and return how many ids it had given.

    New ids of the context begin at 1 again: whoever asks for this answers for it that no record carries one of its ids.

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
        _required(transaction, context)
        live = transaction.subjects(Seen.LIVE, context=context)
        if live:
            raise UsageError(
                f"context {context} has live versions, in {len(live):,} subjects such as `{min(live)}`: "
                "delete them first"
            )
        dependent = transfer.dependent_on(transaction, context)
        if dependent is not None:
            raise UsageError(
                f"the schema with id {dependent[1]} of context {dependent[0]} references a version of context "
                f"{context}: delete it for good first"
            )
        return contexts.forget(transaction, context)

    return _changed(database_url, work)


def _required(transaction: Transaction, context: str) -> int:
    """Return the next id of a context that is there."""
    counters = transfer.counters_of(transaction)
    if context not in counters:
        there = ", ".join(f"`{name}`" for name in sorted(counters))
        raise UsageError(f"the database has no context `{context[:_LONGEST]}`, there are: {there}")
    return counters[context]


def _changed(database_url: str, work: Callable[[Transaction], T]) -> T:
    """Run a change in a database that holds a registry."""
    if database.current(database_url)[0] is None:
        shown = shown_url(database_url)
        raise UsageError(f"{shown} holds no registry: is it the right --database-url?")
    with writing(database_url) as store:
        return store.change(work).result()


def warnings(store: Store) -> Iterator[str]:
    """Say which counters are not above every id in use, as in a database that came from a backup.

    A store that does not answer now is no reason to end a registry: then the warning is that nobody looked.
    """
    try:
        with store.reading() as snapshot:
            behind = transfer.behind(snapshot)
    except (StoreError, StoreTimeout) as error:
        yield f"whether every counter is above the ids in use was not looked at: {error}"
        return
    for context, (following, largest) in sorted(behind.items()):
        yield (
            f"the next id of context {context} is {following}, and {largest} is in use already: "
            f"run contractlog db raise-ids --context {context} --to N, with the largest id that was ever given out"
        )
