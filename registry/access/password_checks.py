"""Password checks, each of which takes a tenth of a second or two of a processor: two at a time, in a fair order.

Addresses take turns, so that one with many checks delays the others by one at most. Addresses from which a right
password came before have waiting places of their own, and every other turn.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Generic, TypeVar

from contractlog.compatibility.errors import Overloaded

__all__ = ["PasswordChecks"]

T = TypeVar("T")
_THREADS: Final = 2
_WAITING: Final = 100  #: checks that may wait for addresses that succeeded before, and as many for all others


class _Check(Generic[T]):
    """A check that waits."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.future: Future[T] = Future()

    def run(self) -> None:
        """Do the work, and hand over what comes of it."""
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.work())
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            self.future.set_exception(error)


class _Lane(Generic[T]):
    """Checks that wait, by address; the address whose turn it is comes first."""

    def __init__(self) -> None:
        self._by_address: OrderedDict[str, deque[_Check[T]]] = OrderedDict()
        self._waiting = 0

    def add(self, address: str, check: _Check[T]) -> _Check[T] | None:
        """Let a check wait; return one that has to make room for it.

        Raises:
            Overloaded: no address has more checks waiting than this one would have.
        """
        crowded_out = self._make_room(address) if self._waiting >= _WAITING else None
        self._by_address.setdefault(address, deque()).append(check)
        self._waiting += 1
        return crowded_out

    def _make_room(self, address: str) -> _Check[T]:
        largest = max(self._by_address, key=lambda one: len(self._by_address[one]))
        if len(self._by_address[largest]) <= len(self._by_address.get(address, ())) + 1:
            raise Overloaded("The registry has more passwords to check than it accepts; try again")
        self._waiting -= 1
        return self._by_address[largest].pop()

    def take(self) -> _Check[T] | None:
        """Take the next check, and let the other addresses come before the next one of this address."""
        if not self._by_address:
            return None
        address, checks = self._by_address.popitem(last=False)
        check = checks.popleft()
        self._waiting -= 1
        if checks:
            self._by_address[address] = checks
        return check


class PasswordChecks(Generic[T]):
    """Runs checks on threads of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._trusted: _Lane[T] = _Lane()
        self._others: _Lane[T] = _Lane()
        self._turn_of_trusted = True
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="contractlog-passwords")

    def submit(self, address: str, work: Callable[[], T], *, trusted: bool) -> Future[T]:
        """Let work wait for its turn.

        Args:
            address: who takes turns with the others.
            work: what is done.
            trusted: whether the address succeeded before.

        Raises:
            Overloaded: too many wait already, as the future does where the work has to make room for another address.
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
        if check is not None:  # one that was crowded out left its turn behind
            check.run()
