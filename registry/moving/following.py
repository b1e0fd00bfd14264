"""Continuous import: poll a source and import what has changed, until the cutover."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

from contractlog.registry.moving.importing import bring
from contractlog.registry.moving.picture import Picture
from contractlog.registry.moving.report import Report
from contractlog.registry.storage.protocol import Store

__all__ = ["follow"]

LOOKS_EVERY: Final = 1.0  #: seconds


def follow(
    store: Store,
    before: Picture,
    look: Callable[[], Picture | None],
    report: Report,
    stop: threading.Event,
    *,
    every: float = LOOKS_EVERY,
    caught_up: Callable[[Picture], None] = lambda _: None,
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
        change = now.since(before)
        before = now
        if change.empty:
            continue
        bring(store, change, report, whole=now, allow_id_gap=allow_id_gap)
        if report.conflicts:
            return
        caught_up(change)
