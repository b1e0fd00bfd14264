"""Limits on large responses: how many are sent at the same time, and their size as work of the caller."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable
from typing import Final

from contractlog.compatibility.errors import Overloaded
from contractlog.registry.execution.work_limits import CallerUsage, request_work

__all__ = ["PIECE_BYTES", "LargeResponse", "LargeResponseSlots"]

PIECE_BYTES: Final = 1024 * 1024  #: a response that is longer is large, and is sent in pieces of about this size
_CHARACTERS_PER_STEP: Final = 100  #: characters of a list that count as one step of the caller
_MAX_LARGE: Final = 8
_MAX_LARGE_PER_CALLER: Final = 2
_MAX_READING: Final = 2  #: large responses whose next pieces are read and encoded at the same time
_MAX_WAITING: Final = 64
_MAX_WAITING_PER_CALLER: Final = 8
_WAIT_SECONDS: Final = 30.0
_CHECK_SECONDS: Final = 1.0  #: between two looks for a response that is cut off because others wait
_SLOW_AFTER_SECONDS: Final = 10.0  #: of sending, from which on the pace of a response is known
_SLOW_BYTES_PER_SECOND: Final = PIECE_BYTES  #: a response with a lower pace is cut off if others wait
_TOO_SLOW: Final = "others wait, and it receives less than 1 MiB per second"
_TOO_MANY: Final = "Too many large responses are being sent; try again later, or request fewer items with `limit`"


class LargeResponse:
    """A large response, and the pace at which its client receives it.

    Attributes:
        caller: who requested it.
    """

    def __init__(self, caller: str) -> None:
        self.caller = caller
        self._received = 0
        self._seconds = 0.0
        self._sending_since: float | None = None
        self._deadline: asyncio.Timeout | None = None
        self._is_cut_off = False

    async def deliver(self, sending: Awaitable[None], size: int, seconds: float) -> None:
        """Wait until the client has received a piece.

        Args:
            sending: sends the piece.
            size: of the piece in bytes.
            seconds: timeout.

        Raises:
            TimeoutError: the client has not received it in time, or the response was cut off.
        """
        loop = asyncio.get_running_loop()
        since = self._sending_since = loop.time()
        try:
            async with asyncio.timeout(seconds) as self._deadline:
                await sending
        except TimeoutError:
            raise TimeoutError(
                _TOO_SLOW if self._is_cut_off else f"it needs more than {seconds:g} s for a piece"
            ) from None
        finally:
            self._seconds += loop.time() - since
            self._sending_since = self._deadline = None
        self._received += size
        self._is_cut_off = False  # the client received the piece in the same moment

    def cut_off(self) -> None:
        """Let ``deliver`` raise, if it is running."""
        if self._deadline is not None and not self._deadline.expired():
            self._is_cut_off = True
            self._deadline.reschedule(asyncio.get_running_loop().time())

    @property
    def is_cut_off(self) -> bool:
        """True if it was cut off and has not left yet."""
        return self._is_cut_off

    def pace(self, after: float) -> float:
        """Return the bytes per second that the client receives.

        The result is infinite before so many seconds of sending, and while nothing is being sent: reading the pieces
        is not the client's time.
        """
        if self._sending_since is None:
            return math.inf
        seconds = self._seconds + asyncio.get_running_loop().time() - self._sending_since
        return self._received / seconds if seconds > after else math.inf


class LargeResponseSlots:
    """Limits on responses with many schemas; all methods are called on the event loop.

    A large response keeps a slot until its client has read it, or is disconnected because it does not read. While
    another caller waits for a slot, the slowest response is cut off if its client reads less than a piece per second.
    """

    def __init__(
        self,
        callers: CallerUsage,
        *,
        max_large: int = _MAX_LARGE,
        max_per_caller: int = _MAX_LARGE_PER_CALLER,
        max_waiting: int = _MAX_WAITING,
        max_waiting_per_caller: int = _MAX_WAITING_PER_CALLER,
        wait_seconds: float = _WAIT_SECONDS,
        check_seconds: float = _CHECK_SECONDS,
        slow_after_seconds: float = _SLOW_AFTER_SECONDS,
        max_queries: int = _MAX_READING,
    ) -> None:
        self._callers = callers
        self._max_large = max_large
        self._max_per_caller = max_per_caller
        self._max_waiting = max_waiting
        self._max_waiting_per_caller = max_waiting_per_caller
        self._wait_seconds = wait_seconds
        self._check_seconds = check_seconds
        self._slow_after_seconds = slow_after_seconds
        self._sending: set[LargeResponse] = set()
        self._waiting: dict[LargeResponse, asyncio.Future[None]] = {}  #: the oldest first
        self._next_check: asyncio.TimerHandle | None = None
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

    async def enter(self) -> LargeResponse:
        """Take a slot for a large response as soon as one is free; return the response, for ``leave``.

        Raises:
            Overloaded: too many wait, or none has become free in time.
            Abandoned: the client has disconnected.
        """
        request = request_work()
        response = LargeResponse(request.caller)
        if self._has_slot(response, self._count_sending()):
            self._sending.add(response)
            return response
        waiting = Counter(other.caller for other in self._waiting)
        if waiting.total() >= self._max_waiting or waiting[response.caller] >= self._max_waiting_per_caller:
            raise Overloaded(_TOO_MANY)
        loop = asyncio.get_running_loop()
        slot: asyncio.Future[None] = loop.create_future()
        self._waiting[response] = slot
        if self._next_check is None:
            self._next_check = loop.call_later(self._check_seconds, self._make_room)
        timer = loop.call_later(self._wait_seconds, self._refuse, response)
        try:
            await request.wait(slot)
        except BaseException:
            self._withdraw(response, slot)
            raise
        finally:
            timer.cancel()
        return response

    def leave(self, response: LargeResponse) -> None:
        """Release a slot.

        Of the responses that wait and may have it, that of the caller with the fewest gets it.
        """
        self._sending.discard(response)
        while True:
            sending = self._count_sending()
            able = [each for each, slot in self._waiting.items() if not slot.done() and self._has_slot(each, sending)]
            if not able:
                return
            following = min(able, key=lambda each: sending[each.caller])
            self._sending.add(following)
            self._waiting.pop(following).set_result(None)

    @property
    def sending(self) -> int:
        """The number of large responses that are being sent."""
        return len(self._sending)

    def _count_sending(self) -> Counter[str]:
        return Counter(response.caller for response in self._sending)

    def _has_slot(self, response: LargeResponse, sending: Counter[str]) -> bool:
        return sending.total() < self._max_large and sending[response.caller] < self._max_per_caller

    def _make_room(self) -> None:
        """Cut the slowest response off if a caller with fewer waits; check again as long as any wait.

        Of equally slow ones, it is one of the caller with the most.
        """
        self._next_check = None
        if not self._waiting:
            return
        sending = self._count_sending()
        fewest = min(sending[response.caller] for response in self._waiting)
        paces = {
            response: response.pace(self._slow_after_seconds)
            for response in self._sending
            if sending[response.caller] > fewest
        }
        slowest = min(paces, key=lambda response: (paces[response], -sending[response.caller]), default=None)
        leaving = any(response.is_cut_off for response in self._sending)  # its slot will be free in a moment
        if slowest is not None and not leaving and paces[slowest] < _SLOW_BYTES_PER_SECOND:
            slowest.cut_off()
        self._next_check = asyncio.get_running_loop().call_later(self._check_seconds, self._make_room)

    def _refuse(self, response: LargeResponse) -> None:
        slot = self._waiting.pop(response, None)
        if slot is not None and not slot.done():
            slot.set_exception(Overloaded(_TOO_MANY))

    def _withdraw(self, response: LargeResponse, slot: asyncio.Future[None]) -> None:
        """Stop waiting; a slot that was granted meanwhile goes to the next."""
        if (
            self._waiting.pop(response, None) is None
            and slot.done()
            and not slot.cancelled()
            and slot.exception() is None
        ):
            self.leave(response)
