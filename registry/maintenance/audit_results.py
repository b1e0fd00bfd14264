"""Removal of old audit results."""

from __future__ import annotations

from functools import partial

from contractlog.registry.features.conformance.queries import prune_results
from contractlog.registry.maintenance.database_change import open_registry_database

__all__ = ["prune_audits"]


def prune_audits(database_url: str, *, days: int) -> tuple[int, int]:
    """Remove old audit results, and merge hourly counts of others.

    The newest result of each part of a topic stays. Each batch is a transaction of its own, so that a running registry
    can write meanwhile.

    Args:
        database_url: of the registry.
        days: days that results are stored for; 0 means for ever.

    Returns:
        the numbers of removed results, and of results whose counts were merged.

    Raises:
        UsageError: the database contains no registry.
    """
    removed = merged = 0
    last: int | None = 0
    with open_registry_database(database_url) as store:
        while last is not None:
            batch = store.transact(partial(prune_results, days=days, after=last), contexts=()).result()
            removed, merged, last = removed + batch.removed, merged + batch.merged, batch.last
    return removed, merged
