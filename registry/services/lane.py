"""Fair queue for a bounded number of slots."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future

from contractlog.compatibility.errors import Overloaded

__all__ = ["Lane"]


class Lane:
    """Slots for work, which waiting callers get in turn, however many requests each has.

    So a caller with many requests delays another one by one of them at most. Thread-safe.
    """

    def __init__(self, places: int, *, most_waiting: int) -> None:
        self._free = places
        self._most_waiting = most_waiting
        self._number = 0
        self._waiting: dict[str, deque[Future[None]]] = {}  #: by caller, in the order of their turns
        self._lock = threading.Lock()

    def enter(self, caller: str) -> Future[None] | None:
        """Take a slot; if none is free, return a future that is done when this caller gets one.

        Raises:
            Overloaded: too many wait.
        """
        with self._lock:
            if self._free:
                self._free -= 1
                return None
            if self._number >= self._most_waiting:
                raise Overloaded
            self._number += 1
            place: Future[None] = Future()
            self._waiting.setdefault(caller, deque()).append(place)
            return place

    def leave(self) -> None:
        """Release a slot; it goes to the caller whose turn it is."""
        with self._lock:
            while self._waiting:
                caller, places = next(iter(self._waiting.items()))
                place = places.popleft()
                self._number -= 1
                del self._waiting[caller]
                if places:
                    self._waiting[caller] = places  # behind all others
                if place.set_running_or_notify_cancel():
                    place.set_result(None)
                    return
            self._free += 1

    def withdraw(self, caller: str, place: Future[None]) -> None:
        """Stop waiting; a slot that was granted meanwhile goes to the next caller."""
        with self._lock:
            places = self._waiting.get(caller)
            if places is not None and place in places:
                places.remove(place)
                self._number -= 1
                if not places:
                    del self._waiting[caller]
                return
        if place.done() and not place.cancelled():
            self.leave()
