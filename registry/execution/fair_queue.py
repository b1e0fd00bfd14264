"""A fair queue: slots for work, which waiting callers get in turn."""

from __future__ import annotations

import sys
import threading
from collections import deque
from concurrent.futures import Future

from contractlog.compatibility.errors import Overloaded

__all__ = ["FairQueue"]


class FairQueue:
    """Slots for work, which waiting callers get in turn, however many requests each has.

    So a caller with many requests delays another one by one of them at most. Thread-safe.

    Args:
        slots: the number of slots.
        max_waiting: how many requests may wait. If one more comes, the caller with the most loses its newest.
        max_per_caller: slots that one caller may hold at the same time.
    """

    def __init__(self, slots: int, *, max_waiting: int, max_per_caller: int = sys.maxsize) -> None:
        self._free_slots = slots
        self._max_waiting = max_waiting
        self._max_per_caller = max_per_caller
        self._waiting_count = 0
        self._waiting: dict[str, deque[Future[None]]] = {}  #: by caller, in the order of their turns
        self._used: dict[str, int] = {}  #: slots by caller
        self._lock = threading.Lock()

    def enter(self, caller: str) -> Future[None] | None:
        """Take a slot; if none is free, return a future that is done when this caller gets one.

        Its error is ``Overloaded`` if the request has to make room for one of another caller.

        Raises:
            Overloaded: too many wait, and none of them has more than this caller.
        """
        with self._lock:
            used = self._used.get(caller, 0)
            if self._free_slots and used < self._max_per_caller:
                self._free_slots -= 1
                self._used[caller] = used + 1
                return None
            displaced = self._displace(caller) if self._waiting_count >= self._max_waiting else None
            self._waiting_count += 1
            slot: Future[None] = Future()
            self._waiting.setdefault(caller, deque()).append(slot)
        if displaced is not None:
            displaced.set_exception(Overloaded())
        return slot

    def leave(self, caller: str) -> None:
        """Release a slot of a caller; it goes to the caller whose turn it is."""
        with self._lock:
            self._release(caller)
            slot = self._grant()
        if slot is not None:
            slot.set_result(None)  # without the lock, because it calls what waits

    def withdraw(self, caller: str, slot: Future[None]) -> bool:
        """Stop waiting; return whether it waited still.

        If not, the slot was granted, or the request made room for another one.
        """
        with self._lock:
            waiting = slot in self._waiting.get(caller, ())
            if waiting:
                self._remove(caller, slot)
            return waiting

    def _release(self, caller: str) -> None:
        self._free_slots += 1
        self._used[caller] -= 1
        if not self._used[caller]:
            del self._used[caller]

    def _grant(self) -> Future[None] | None:
        """Take a slot for the caller whose turn it is."""
        following = self._next_caller()
        if following is None:
            return None
        slots = self._waiting.pop(following)
        slot = slots.popleft()
        self._waiting_count -= 1
        if slots:
            self._waiting[following] = slots  # behind all others
        self._free_slots -= 1
        self._used[following] = self._used.get(following, 0) + 1
        return slot

    def _next_caller(self) -> str | None:
        """Return the first waiting caller that may have another slot; few callers hold all that they may."""
        return next((each for each in self._waiting if self._used.get(each, 0) < self._max_per_caller), None)

    def _displace(self, caller: str) -> Future[None]:
        """Remove the newest request of the caller with the most.

        Raises:
            Overloaded: it has no more than this caller would have.
        """
        largest = max(self._waiting, key=lambda each: len(self._waiting[each]), default=caller)
        if len(self._waiting.get(largest, ())) <= len(self._waiting.get(caller, ())) + 1:
            raise Overloaded
        slot = self._waiting[largest][-1]
        self._remove(largest, slot)
        return slot

    def _remove(self, caller: str, slot: Future[None]) -> None:
        slots = self._waiting[caller]
        slots.remove(slot)
        self._waiting_count -= 1
        if not slots:
            del self._waiting[caller]
