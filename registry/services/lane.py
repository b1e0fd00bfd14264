"""A bounded number of places, that callers get in turn."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future

from contractlog.compatibility.errors import Overloaded

__all__ = ["Lane"]


class Lane:
    """Places for work; whoever waits for one waits with the callers, not with the requests, that came before.

    So one caller with many requests keeps another one waiting for one of them at most. May be used from any thread.
    """

    def __init__(self, places: int, *, most_waiting: int) -> None:
        self._free = places
        self._most_waiting = most_waiting
        self._number = 0
        self._waiting: dict[str, deque[Future[None]]] = {}  #: by caller, in the order in which they get their turn
        self._lock = threading.Lock()

    def enter(self, caller: str) -> Future[None] | None:
        """Take a place; where none is free, return what is done once there is one.

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
        """Give a place back; it goes to the caller whose turn it is."""
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
        """Wait no longer; a place that was given meanwhile goes to the next one."""
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
