"""The counters from which ids come: raised by hand after a restore, and looked at when a registry starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from contractlog.compatibility.errors import StoreError, StoreTimeout, UsageError
from contractlog.compatibility.names import DEFAULT_CONTEXT, MAX_VERSION
from contractlog.registry import database
from contractlog.registry.moving.databases import writing
from contractlog.registry.storage import transfer
from contractlog.registry.storage.engines import parse_url
from contractlog.registry.storage.protocol import Store
from contractlog.registry.storage.writes import Transaction

__all__ = ["raise_ids", "warnings"]

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

    if database.current(database_url)[0] is None:
        shown = parse_url(database_url).render_as_string(hide_password=True)
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
