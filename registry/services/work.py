"""Work that requests ask for: counted in steps, bounded per request and per caller, and ended when nobody waits for it.

A step is one look at a pair of schemas; it takes a few microseconds. Parsing counts by the length of the text. Steps,
and not seconds, so that a request has the same answer on a busy machine.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TypeVar

from starlette.types import Receive

from contractlog.compatibility.errors import TooManyRequests, WorkLimitExceeded
from contractlog.compatibility.steps import Steps

__all__ = ["SHORT_STEPS", "Abandoned", "Callers", "TakesLong", "Work", "current_work", "work_of_this_request"]

T = TypeVar("T")
SHORT_STEPS: Final = 10_000  #: work that takes no more runs beside other short work
_CHARACTERS: Final = 40  #: of a text, whose parsing counts as one step
_FREE_STEPS: Final = 2_000  #: of each piece of work, that are not counted against the caller
_CALM_STEPS: Final = 200_000  #: of a caller within a minute
_MINUTE: Final = 60.0
_MOST_CALLERS: Final = 10_000


class Abandoned(Exception):
    """The caller has gone, so that nobody waits for the answer."""


class TakesLong(Exception):
    """The work takes more steps than short work may; it is done again beside other long work."""


@dataclass(slots=True, eq=False)
class Work:
    """All that one request asks for.

    Attributes:
        caller: the name of whoever is authenticated, else the address.
        steps: how many the request may take.
        receive: the request's channel, on which the caller's leaving is told; None where nobody can leave.
        long: whether the request has shown that it takes long.
        abandoned: whether the caller has gone.
    """

    caller: str = ""
    steps: Steps = field(default_factory=lambda: Steps(sys.maxsize))
    receive: Receive | None = None
    long: bool = False
    abandoned: bool = False
    _short: Steps | None = None
    _awaited: asyncio.Future[object] | None = None
    _watching: asyncio.Task[None] | None = None

    def short(self, limit: int) -> Steps:
        """Begin a piece of short work; returns the steps that it may take."""
        self._short = Steps(limit, self.steps)
        return self._short

    def at_length(self) -> None:
        """Begin a piece of work that may take as many steps as the request."""
        self._short = None

    def compared(self, compare: Callable[[Steps], T]) -> T:
        """Compare schemas within the steps that are left; when they are used up meanwhile, that is a finding.

        Raises:
            WorkLimitExceeded: none are left.
            TakesLong: it takes more steps than short work may.
            Abandoned: the caller has gone.
        """
        self.require()
        found = compare(self.steps if self._short is None else self._short)
        if self.abandoned or (self._short is not None and self._short.allow(1) < 1):
            self.require()
        return found

    def parse(self, characters: int) -> None:
        """Count the parsing of a text.

        Raises:
            WorkLimitExceeded, TakesLong, Abandoned: as for ``compared``.
        """
        (self.steps if self._short is None else self._short).spend(characters // _CHARACTERS)
        self.require()

    def require(self) -> None:
        """Return while there are steps left, and somebody waits for what they lead to.

        Raises:
            WorkLimitExceeded, TakesLong, Abandoned: as for ``compared``.
        """
        if self.abandoned:
            raise Abandoned
        if self.steps.allow(1) < 1:
            raise WorkLimitExceeded(limit=self.steps.limit)
        if self._short is not None and self._short.allow(1) < 1:
            raise TakesLong

    async def wait(self, future: asyncio.Future[T]) -> T:
        """Wait for a part of the work, and end all of it when the caller goes.

        Raises:
            Abandoned: the caller has gone.
        """
        if self.receive is not None and self._watching is None:
            self._watching = asyncio.ensure_future(self._watch(self.receive))
        self._awaited = future  # type: ignore[assignment]
        try:
            return await future
        except asyncio.CancelledError:
            if self.abandoned:
                raise Abandoned from None
            self.abandon()
            raise
        finally:
            self._awaited = None

    async def _watch(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.abandon()

    def abandon(self) -> None:
        """End the work: nobody waits for it."""
        self.abandoned = True
        self.steps.stop()
        if self._awaited is not None:
            self._awaited.cancel()

    def close(self) -> None:
        """Watch no longer."""
        if self._watching is not None:
            self._watching.cancel()


_NOBODY_S: Final = Work()  #: of whatever is no request: it has no limit

#: The work of this request; copied to the threads that do it.
current_work: Final[ContextVar[Work]] = ContextVar("contractlog_work", default=_NOBODY_S)


def work_of_this_request() -> Work:
    """Return the work of this request; whatever is no request gets work of its own, without limits."""
    work = current_work.get()
    if work is _NOBODY_S:
        work = Work()
        current_work.set(work)
    return work


@dataclass(slots=True)
class _Used:
    steps: float
    at: float


class Callers:
    """Counts the steps that each caller has used lately; what was used fades within a minute.

    Args:
        limit: steps within a minute; 0 is no limit.
        clock: seconds.
    """

    def __init__(self, limit: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._clock = clock
        self._used: OrderedDict[str, _Used] = OrderedDict()
        self._lock = threading.Lock()

    def require(self, caller: str) -> None:
        """Return while the caller may ask for more.

        Raises:
            TooManyRequests: not yet.
        """
        if not self.limit or caller not in self._used:
            return
        over = self._now(caller) - self.limit
        if over >= 0:
            seconds = max(1, round((over + self.limit / 10) * _MINUTE / self.limit))
            raise TooManyRequests(limit=self.limit, seconds=seconds)

    def calm(self, caller: str) -> bool:
        """Whether a caller has used little lately."""
        return caller not in self._used or self._now(caller) < _CALM_STEPS

    def add(self, caller: str, steps: int) -> None:
        """Note what a piece of work took."""
        if steps <= _FREE_STEPS:
            return
        with self._lock:
            used = self._used.setdefault(caller, _Used(0.0, self._clock()))
            used.steps, used.at = self._faded(used) + steps - _FREE_STEPS, self._clock()
            self._used.move_to_end(caller)
            while len(self._used) > _MOST_CALLERS:
                self._used.popitem(last=False)

    def _now(self, caller: str) -> float:
        with self._lock:
            used = self._used.get(caller)
            return 0.0 if used is None else self._faded(used)

    def _faded(self, used: _Used) -> float:
        per_second = (self.limit or _CALM_STEPS * _MINUTE) / _MINUTE
        return max(0.0, used.steps - (self._clock() - used.at) * per_second)
