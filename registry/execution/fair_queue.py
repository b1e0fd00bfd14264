"""Fair queue for a bounded number of slots."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future

from contractlog.compatibility.errors import Overloaded

__all__ = ["FairQueue"]


class FairQueue:
    """Slots for work, which waiting callers get in turn, however many requests each has.

    So a caller with many requests delays another one by one of them at most. Thread-safe.
    """

    def __init__(self, slots: int, *, max_waiting: int) -> None:
        self._free_slots = slots
        self._max_waiting = max_waiting
        self._waiting_count = 0
        self._waiting: dict[str, deque[Future[None]]] = {}  #: by caller, in the order of their turns
        self._lock = threading.Lock()

    def enter(self, caller: str) -> Future[None] | None:
        """Take a slot; if none is free, return a future that is done when this caller gets one.

        Raises:
            Overloaded: too many wait.
        """
        with self._lock:
            if self._free_slots:
                self._free_slots -= 1
                return None
            if self._waiting_count >= self._max_waiting:
                raise Overloaded
            self._waiting_count += 1
            slot: Future[None] = Future()
            self._waiting.setdefault(caller, deque()).append(slot)
            return slot

    def leave(self) -> None:
        """Release a slot; it goes to the caller whose turn it is."""
        with self._lock:
            while self._waiting:
                caller, slots = next(iter(self._waiting.items()))
                slot = slots.popleft()
                self._waiting_count -= 1
                del self._waiting[caller]
                if slots:
                    self._waiting[caller] = slots  # behind all others
                if slot.set_running_or_notify_cancel():
                    slot.set_result(None)
                    return
            self._free_slots += 1

    def withdraw(self, caller: str, slot: Future[None]) -> None:
        """Stop waiting; a slot that was granted meanwhile goes to the next caller."""
        with self._lock:
            slots = self._waiting.get(caller)
            if slots is not None and slot in slots:
                slots.remove(slot)
                self._waiting_count -= 1
                if not slots:
                    del self._waiting[caller]
                return
        if slot.done() and not slot.cancelled():
            self.leave()
