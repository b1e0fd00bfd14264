"""Work of requests: counted in steps, limited per request and per caller, cancelled on disconnect.

A step is one look at a pair of schemas; it takes a few microseconds. Parsing counts by the length of the text. Limits
are in steps rather than seconds, so that a request gets the same response on a busy machine.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TypeVar

from starlette.types import Receive

from contractlog.compatibility.bounded_cache import BoundedCache
from contractlog.compatibility.errors import TooManyRequests, WorkLimitExceeded
from contractlog.compatibility.step_budget import StepBudget

__all__ = [
    "LONG_CHARACTERS",
    "SHORT_STEPS",
    "CallerUsage",
    "RequestAbandoned",
    "RequestWork",
    "ShortWorkExceeded",
    "current_work",
    "request_work",
]

T = TypeVar("T")
SHORT_STEPS: Final = 10_000  #: limit of short work, which runs in parallel with other short work
LONG_CHARACTERS: Final = 32_768  #: text length from which work is long, references included
_CHARACTERS_PER_STEP: Final = 40  #: characters of parsed text that count as one step
_STORED_CHARACTERS_PER_STEP: Final = 10  #: characters of metadata and rules that count as one step
_FREE_STEPS: Final = 2_000  #: steps of each piece of work that are not counted against the caller
_CALM_STEPS: Final = 200_000  #: a caller with fewer steps within a minute is calm
_UNWATCHED_SECONDS: Final = 0.1  #: waiting time after which a disconnect is noticed; a task that watches costs 75 µs
_MINUTE: Final = 60.0
_MAX_CALLERS: Final = 10_000


class RequestAbandoned(Exception):
    """The client has disconnected, so that nothing waits for the response."""


class ShortWorkExceeded(Exception):
    """The work exceeds the steps of short work; it is repeated as long work."""


@dataclass(slots=True, eq=False)
class RequestWork:
    """All work of one request.

    Attributes:
        caller: the authenticated name, else the address.
        steps: the steps that the request may use.
        receive: the ASGI channel, which reports the disconnect; None if there is no client.
        long: whether the request has turned out to take long.
        abandoned: whether the client has disconnected.
        charged: steps that count against the caller only, until they are taken.
    """

    caller: str = ""
    steps: StepBudget = field(default_factory=lambda: StepBudget(sys.maxsize))
    receive: Receive | None = None
    long: bool = False
    abandoned: bool = False
    charged: int = 0
    _short: StepBudget | None = None
    _awaited: asyncio.Future[object] | None = None
    _watching: asyncio.Task[None] | None = None
    _watch_timer: asyncio.TimerHandle | None = None

    def begin_short(self, limit: int) -> StepBudget:
        """Begin a piece of short work; return its limit of steps."""
        self._short = StepBudget(limit, self.steps)
        return self._short

    def begin_long(self) -> None:
        """Begin a piece of long work, which may use all steps of the request."""
        self._short = None

    def compare(self, compare: Callable[[StepBudget], T]) -> T:
        """Compare schemas within the remaining steps; running out of steps meanwhile is a finding.

        Raises:
            WorkLimitExceeded: none are left.
            ShortWorkExceeded: it exceeds the steps of short work.
            Abandoned: the client has disconnected.
        """
        self.require()
        result = compare(self.steps if self._short is None else self._short)
        if self.abandoned or (self._short is not None and self._short.allow(1) < 1):
            self.require()
        return result

    def parse(self, characters: int) -> None:
        """Count the parsing of a schema text.

        Raises:
            WorkLimitExceeded, ShortWorkExceeded, Abandoned: as for ``compare``.
        """
        if self._short is not None and characters > LONG_CHARACTERS:
            raise ShortWorkExceeded
        (self.steps if self._short is None else self._short).spend(characters // _CHARACTERS_PER_STEP)
        self.require()

    def charge(self, steps: int) -> None:
        """Count work against the caller only, and return if the client is still connected.

        Raises:
            Abandoned: the client has disconnected.
        """
        self.charged += steps
        if self.abandoned:
            raise RequestAbandoned

    def charge_stored(self, characters: int) -> None:
        """Count metadata and rules against the caller: those that a short request inherits may be long."""
        self.charged += characters // _STORED_CHARACTERS_PER_STEP

    def take_charged(self) -> int:
        """Return the steps that were charged since the last call."""
        charged, self.charged = self.charged, 0
        return charged

    def require(self) -> None:
        """Return if steps are left, and the client is still connected.

        Raises:
            WorkLimitExceeded, ShortWorkExceeded, Abandoned: as for ``compare``.
        """
        if self.abandoned:
            raise RequestAbandoned
        if self.steps.allow(1) < 1:
            raise WorkLimitExceeded(limit=self.steps.limit)
        if self._short is not None and self._short.allow(1) < 1:
            raise ShortWorkExceeded

    async def wait(self, future: asyncio.Future[T]) -> T:
        """Wait for a part of the work, and cancel all of it when the client disconnects.

        Raises:
            Abandoned: the client has disconnected.
        """
        if self.receive is not None and self._watching is None and self._watch_timer is None:
            loop = asyncio.get_running_loop()
            self._watch_timer = loop.call_later(_UNWATCHED_SECONDS, self._begin_watch, self.receive)
        self._awaited = future  # type: ignore[assignment]
        try:
            return await future
        except asyncio.CancelledError:
            if self.abandoned:
                raise RequestAbandoned from None
            self.abandon()
            raise
        finally:
            self._awaited = None

    def _begin_watch(self, receive: Receive) -> None:
        self._watching = asyncio.ensure_future(self._watch(receive))

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.abandon()

    def abandon(self) -> None:
        """Cancel the work, because nothing waits for it."""
        self.stop()
        if self._awaited is not None:
            self._awaited.cancel()

    def stop(self) -> None:
        """Let work on other threads end at its next look at its budget; callable from any thread."""
        self.abandoned = True
        self.steps.stop()

    def close(self) -> None:
        """Stop watching for the disconnect."""
        if self._watch_timer is not None:
            self._watch_timer.cancel()
        if self._watching is not None:
            self._watching.cancel()


_UNLIMITED: Final = RequestWork()  #: outside requests, without limits

#: The work of the current request; copied to the threads that do it.
current_work: Final[ContextVar[RequestWork]] = ContextVar("contractlog_work", default=_UNLIMITED)


def request_work() -> RequestWork:
    """Return the work of the current request; outside requests, work of its own without limits."""
    work = current_work.get()
    if work is _UNLIMITED:
        work = RequestWork()
        current_work.set(work)
    return work


@dataclass(slots=True)
class _CallerSteps:
    steps: float
    at: float


class CallerUsage:
    """Counts the recent steps of each caller; the count decays within a minute.

    Args:
        limit: steps per minute; 0 means no limit.
        clock: seconds.
    """

    def __init__(self, limit: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._used: BoundedCache[str, _CallerSteps] = BoundedCache(_MAX_CALLERS)
        self._lock = threading.Lock()

    def require(self, caller: str) -> None:
        """Return if the caller may use more steps.

        Raises:
            TooManyRequests: not yet.
        """
        if not self.limit or caller not in self._used:
            return
        over = self._current_steps(caller) - self.limit
        if over >= 0:
            seconds = max(1, round((over + self.limit / 10) * _MINUTE / self.limit))
            raise TooManyRequests(limit=self.limit, seconds=seconds)

    def is_calm(self, caller: str) -> bool:
        """Return True if a caller has used few steps lately."""
        return caller not in self._used or self._current_steps(caller) < _CALM_STEPS

    def add(self, caller: str, steps: int) -> None:
        """Add the steps of a piece of work."""
        if steps <= _FREE_STEPS:
            return
        with self._lock:
            used = self._used.touch(caller) or self._used.put(caller, _CallerSteps(0.0, self._clock()))
            used.steps, used.at = self._decay_steps(used) + steps - _FREE_STEPS, self._clock()

    def _current_steps(self, caller: str) -> float:
        with self._lock:
            used = self._used.get(caller)
            return 0.0 if used is None else self._decay_steps(used)

    def _decay_steps(self, used: _CallerSteps) -> float:
        per_second = (self.limit or _CALM_STEPS * _MINUTE) / _MINUTE
        return max(0.0, used.steps - (self._clock() - used.at) * per_second)
