"""Keeping up with a source until the switch: what changed since the last look is brought over."""

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
    """Look at the source again and again until told to stop, or until it contradicts what the store holds.

    Args:
        store: the target.
        before: what the store holds of the source already.
        look: returns the source's state; None when nothing has changed.
        report: takes what is done, and conflicts, which end it.
        stop: ends it, after one last look.
        every: seconds between two looks.
        caught_up: is told each change that was brought over.
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
