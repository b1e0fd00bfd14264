"""The change log of a database, read for ``contractlog journal``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from contractlog.contracts.change_log.recorded_change import ChangeLogHead, RecordedChange
from contractlog.registry.storage import change_log
from contractlog.registry.transfer.database_access import open_for_export

__all__ = ["open_change_log"]


@contextmanager
def open_change_log(database_url: str) -> Iterator[tuple[ChangeLogHead, Callable[[int], Iterator[RecordedChange]]]]:
    """Open the change log of a database; yield its last entry, and a function that reads entries.

    The last entry is the one that was written last: its hash is None if it does not exist any more. A registry may be
    serving from the database.

    Raises:
        UsageError: it has no tables, or those of another release.
        Unreachable: it does not respond.
    """
    with open_for_export(database_url) as snapshot:
        written, newest = change_log.read_counter(snapshot), change_log.read_head(snapshot)
        head = newest if newest.sequence == written else ChangeLogHead(written, None)
        yield head, partial(change_log.each_change, snapshot)
