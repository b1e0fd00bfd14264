"""Limits on large responses: how many are sent at the same time, and their size as work of the caller."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import Final

from contractlog.compatibility.errors import Overloaded
from contractlog.registry.execution.work_limits import CallerUsage, request_work

__all__ = ["PIECE_BYTES", "ResponseLimits"]

PIECE_BYTES: Final = 1024 * 1024  #: a response that is longer is large, and is sent in pieces of about this size
_CHARACTERS_PER_STEP: Final = 100  #: characters of a list that count as one step of the caller
_MAX_LARGE: Final = 8
_MAX_LARGE_PER_CALLER: Final = 2
_MAX_READING: Final = 2  #: large responses whose next pieces are read and encoded at the same time
_MAX_WAITING: Final = 64
_WAIT_SECONDS: Final = 30.0
_TOO_MANY: Final = "Too many large responses are being sent; try again later, or request fewer items with `limit`"


class ResponseLimits:
    """Limits on responses with many schemas; all methods are called on the event loop.

    A large response keeps a slot until its client has read it, or is disconnected because it does not read.
    """

    def __init__(
        self,
        callers: CallerUsage,
        *,
        max_large: int = _MAX_LARGE,
        max_per_caller: int = _MAX_LARGE_PER_CALLER,
        max_waiting: int = _MAX_WAITING,
        wait_seconds: float = _WAIT_SECONDS,
        max_queries: int = _MAX_READING,
    ) -> None:
        self._callers = callers
        self._max_large = max_large
        self._max_per_caller = max_per_caller
        self._max_waiting = max_waiting
        self._wait_seconds = wait_seconds
        self._sending: Counter[str] = Counter()
        self._waiting: deque[tuple[str, asyncio.Future[None]]] = deque()
        #: Queries of what a list has, and of its pieces; they leave threads to requests that read little.
        self.querying, self.reading = asyncio.Semaphore(max_queries), asyncio.Semaphore(_MAX_READING)

    def require(self) -> None:
        """Return if the caller may request a list.

        Raises:
            TooManyRequests: not yet.
        """
        self._callers.require(request_work().caller)

    def charge(self, characters: int) -> None:
        """Count the size of a response as work of the caller."""
        self._callers.add(request_work().caller, characters // _CHARACTERS_PER_STEP)

    async def enter(self) -> str:
        """Take a slot for a large response as soon as one is free; return the caller, for ``leave``.

        Raises:
            Overloaded: too many wait, or none has become free in time.
            Abandoned: the client has disconnected.
        """
        request = request_work()
        caller = request.caller
        if self._has_slot(caller):
            self._sending[caller] += 1
            return caller
        if len(self._waiting) >= self._max_waiting:
            raise Overloaded(_TOO_MANY)
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((caller, slot))
        timer = asyncio.get_running_loop().call_later(self._wait_seconds, self._refuse, caller, slot)
        try:
            await request.wait(slot)
        except BaseException:
            self._withdraw(caller, slot)
            raise
        finally:
            timer.cancel()
        return caller

    def leave(self, caller: str) -> None:
        """Release a slot; it goes to the first that waits and may have it."""
        self._sending[caller] -= 1
        self._sending += Counter()  # removes those without any
        for waiting in list(self._waiting):
            if not waiting[1].done() and self._has_slot(waiting[0]):
                self._waiting.remove(waiting)
                self._sending[waiting[0]] += 1
                waiting[1].set_result(None)

    @property
    def sending(self) -> int:
        """The number of large responses that are being sent."""
        return self._sending.total()

    def _has_slot(self, caller: str) -> bool:
        return self._sending.total() < self._max_large and self._sending[caller] < self._max_per_caller

    def _refuse(self, caller: str, slot: asyncio.Future[None]) -> None:
        if not slot.done():
            self._waiting.remove((caller, slot))
            slot.set_exception(Overloaded(_TOO_MANY))

    def _withdraw(self, caller: str, slot: asyncio.Future[None]) -> None:
        """Stop waiting; a slot that was granted meanwhile goes to the next."""
        if (caller, slot) in self._waiting:
            self._waiting.remove((caller, slot))
        elif slot.done() and not slot.cancelled() and slot.exception() is None:
            self.leave(caller)
