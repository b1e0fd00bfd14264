"""Continuous import: poll a source and import what has changed, until the cutover."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from contractlog.registry.storage.store import Store
from contractlog.registry.transfer.apply import import_snapshot
from contractlog.registry.transfer.report import TransferReport
from contractlog.registry.transfer.snapshot import RegistrySnapshot

__all__ = ["follow"]

POLL_SECONDS: Final = 1.0  #: seconds


def follow(
    store: Store,
    before: RegistrySnapshot,
    look: Callable[[], RegistrySnapshot | None],
    report: TransferReport,
    stop: threading.Event,
    *,
    every: float = POLL_SECONDS,
    caught_up: Callable[[RegistrySnapshot], None] = lambda _: None,
    allow_id_gap: bool = False,
) -> None:
    """Poll the source until told to stop, or until it conflicts with the store.

    Args:
        store: the target.
        before: the state of the source that the store already contains.
        look: returns the source's state; None if nothing has changed.
        report: receives changes and conflicts; a conflict ends the import.
        stop: ends it, after one last poll.
        every: seconds between two polls.
        caught_up: called with each change that was imported.
        allow_id_gap: whether ids may be far above all others.
    """
    last = False
    while not last:
        last = stop.wait(every)
        now = look()
        if now is None:
            continue
        change = now.changes_since(before)
        before = now
        if change.empty:
            continue
        import_snapshot(store, change, report, whole=now, allow_id_gap=allow_id_gap)
        if report.conflicts:
            return
        caught_up(change)
