"""Scheduler of password checks: two at a time, in a fair order.

A check takes 0.1 to 0.2 s of processor time. Networks take turns, in each of them the smaller networks, and in those
the addresses. So one with many checks delays each other one by a single check at most, even if an attacker has all
addresses of a network. Addresses that have sent a correct password before have a queue of their own, which gets every
other turn.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from operator import attrgetter
from typing import Final, Generic, TypeVar

from contractlog.compatibility.errors import Overloaded

__all__ = ["PasswordCheckQueue"]

T = TypeVar("T")
_THREADS: Final = 2
_MAX_WAITING: Final = 100  #: checks that may wait in each queue: of addresses that succeeded before, and of all others


class _Check(Generic[T]):
    """A waiting check."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.future: Future[T] = Future()

    def run(self) -> None:
        """Do the work, and set the future's result or exception."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 - raised again where the future is awaited
            self.future.set_exception(error)


class _NetworkQueue(Generic[T]):
    """Checks of one network, whose smaller networks take turns."""

    def __init__(self) -> None:
        self.waiting = 0
        self._smaller: OrderedDict[str, _NetworkQueue[T]] = OrderedDict()
        self._checks: deque[_Check[T]] = deque()  #: of the smallest network, which is an address

    def add(self, networks: Sequence[str], check: _Check[T]) -> None:
        """Enqueue a check under the networks that contain its address, widest first."""
        self.waiting += 1
        if not networks:
            self._checks.append(check)
        else:
            self._smaller.setdefault(networks[0], _NetworkQueue()).add(networks[1:], check)

    def make_room(self, networks: Sequence[str]) -> _Check[T]:
        """Dequeue the newest check of a network that has more waiting than the one of a new check would have.

        Raises:
            Overloaded: no network has.
        """
        own = self._smaller.get(networks[0]) if networks else None
        largest = max(self._smaller.values(), key=attrgetter("waiting"), default=self)
        if networks and largest.waiting > (0 if own is None else own.waiting) + 1:
            check = largest.drop_newest()
        elif own is not None:
            check = own.make_room(networks[1:])
        else:
            raise Overloaded("The registry has more passwords to check than it accepts; try again")
        self.waiting -= 1
        self._remove_empty()
        return check

    def drop_newest(self) -> _Check[T]:
        """Dequeue the newest check of the smaller network with the most waiting checks."""
        self.waiting -= 1
        if self._checks:
            return self._checks.pop()
        check = max(self._smaller.values(), key=attrgetter("waiting")).drop_newest()
        self._remove_empty()
        return check

    def take(self) -> _Check[T]:
        """Dequeue the next check, and move its networks to the end of their queues."""
        self.waiting -= 1
        if self._checks:
            return self._checks.popleft()
        network, queue = self._smaller.popitem(last=False)
        check = queue.take()
        if queue.waiting:
            self._smaller[network] = queue
        return check

    def _remove_empty(self) -> None:
        for network in [each for each, queue in self._smaller.items() if not queue.waiting]:
            del self._smaller[network]


class _FairQueue(Generic[T]):
    """Queue of limited length, in the order of turns."""

    def __init__(self) -> None:
        self._queue: _NetworkQueue[T] = _NetworkQueue()

    def add(self, networks: Sequence[str], check: _Check[T]) -> _Check[T] | None:
        """Enqueue a check; return one that had to make room for it.

        Raises:
            Overloaded: the queue is full, and no network has more checks waiting than that of this one would have.
        """
        crowded_out = self._queue.make_room(networks) if self._queue.waiting >= _MAX_WAITING else None
        self._queue.add(networks, check)
        return crowded_out

    def take(self) -> _Check[T] | None:
        """Dequeue the next check, if there is one."""
        return self._queue.take() if self._queue.waiting else None


class PasswordCheckQueue(Generic[T]):
    """Runs checks on its own threads, in a fair order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trusted: _FairQueue[T] = _FairQueue()
        self._others: _FairQueue[T] = _FairQueue()
        self._turn_of_trusted = True
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="contractlog-passwords")

    def submit(self, networks: Sequence[str], work: Callable[[], T], *, trusted: bool) -> Future[T]:
        """Enqueue work.

        Args:
            networks: keys of the fair order: the networks that contain the address, widest first, and the address.
            work: the check.
            trusted: whether a correct password has come from the address before.

        Raises:
            Overloaded: too many checks wait; raised by the future if this one has to make room for another network.
        """
        check = _Check(work)
        with self._lock:
            crowded_out = (self._trusted if trusted else self._others).add(networks, check)
        if crowded_out is not None and crowded_out.future.set_running_or_notify_cancel():
            crowded_out.future.set_exception(
                Overloaded("The registry has more passwords to check than it accepts; try again")
            )
        self._threads.submit(self._run_next)
        return check.future

    def _run_next(self) -> None:
        with self._lock:
            lanes = (self._trusted, self._others) if self._turn_of_trusted else (self._others, self._trusted)
            self._turn_of_trusted = not self._turn_of_trusted
            check = lanes[0].take() or lanes[1].take()
        if check is not None:  # None if the check of this turn was crowded out
            check.run()
