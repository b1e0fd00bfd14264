"""Scheduler of password checks: two at a time, in a fair order.

A check takes 0.1 to 0.2 s of processor time. Addresses take turns, so an address with many checks delays each other
one by a single check at most. Addresses that have sent a correct password before have a queue of their own, which gets
every other turn.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
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


class _FairQueue(Generic[T]):
    """Queue of checks by address, in the order of their turns."""

    def __init__(self) -> None:
        self._by_address: OrderedDict[str, deque[_Check[T]]] = OrderedDict()
        self._waiting = 0

    def add(self, address: str, check: _Check[T]) -> _Check[T] | None:
        """Enqueue a check; return one that had to make room for it.

        Raises:
            Overloaded: the queue is full, and no address has more checks waiting than this one would have.
        """
        crowded_out = self._make_room(address) if self._waiting >= _MAX_WAITING else None
        self._by_address.setdefault(address, deque()).append(check)
        self._waiting += 1
        return crowded_out

    def _make_room(self, address: str) -> _Check[T]:
        largest = max(self._by_address, key=lambda key: len(self._by_address[key]))
        if len(self._by_address[largest]) <= len(self._by_address.get(address, ())) + 1:
            raise Overloaded("The registry has more passwords to check than it accepts; try again")
        self._waiting -= 1
        return self._by_address[largest].pop()

    def take(self) -> _Check[T] | None:
        """Dequeue the next check, and move its address to the end of the queue."""
        if not self._by_address:
            return None
        address, checks = self._by_address.popitem(last=False)
        check = checks.popleft()
        self._waiting -= 1
        if checks:
            self._by_address[address] = checks
        return check


class PasswordCheckQueue(Generic[T]):
    """Runs checks on its own threads, in a fair order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trusted: _FairQueue[T] = _FairQueue()
        self._others: _FairQueue[T] = _FairQueue()
        self._turn_of_trusted = True
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="contractlog-passwords")

    def submit(self, address: str, work: Callable[[], T], *, trusted: bool) -> Future[T]:
        """Enqueue work.

        Args:
            address: key of the fair order.
            work: the check.
            trusted: whether a correct password has come from the address before.

        Raises:
            Overloaded: too many checks wait; raised by the future if this one has to make room for another address.
        """
        check = _Check(work)
        with self._lock:
            crowded_out = (self._trusted if trusted else self._others).add(address, check)
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
