"""Thread pools for work that would block the event loop: parsing, checking, and database queries."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Final, ParamSpec, TypeVar

from contractlog.compatibility.errors import Overloaded
from contractlog.compatibility.steps import Steps
from contractlog.registry.services.lane import Lane
from contractlog.registry.services.work import SHORT_STEPS, Callers, TakesLong, Work, work_of_this_request

__all__ = ["Threads"]

P = ParamSpec("P")
T = TypeVar("T")
_LONG_CHARACTERS: Final = 32_768  #: text length from which work is long
_LONG_WAITING: Final = 64
_SHORTER_STEPS: Final = 1_000  #: limit of short work for callers with much recent work
_SWITCH_SECONDS: Final = 0.001  #: switch interval during long work; Python's default is 0.005


def _here(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Callable[[], T]:
    """Bind a function to its arguments, and to the context of this request."""
    return partial(copy_context().run, work, *args, **kwargs)


class _QuickTurns:
    """Makes Python switch threads more often while it is entered; affects the whole process.

    It is not permanent, because many short pieces of concurrent work lose a sixth of their throughput by it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._usual = sys.getswitchinterval()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(min(_SWITCH_SECONDS, self._usual))
            self._inside += 1

    def __exit__(self, *_of: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.setswitchinterval(self._usual)


_QUICK_TURNS: Final = _QuickTurns()


class Threads:
    """A few threads, and a limit of requests that may wait for them.

    Long work has a thread of its own: in parallel it would be no faster, and would occupy the threads of others.
    Parsing and comparing get at most three quarters of the threads, so that a request that only reads always finds one.
    """

    def __init__(self, threads: int, *, max_waiting: int, callers: Callers | None = None) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="contractlog")
        self._room = threads + max_waiting
        self._inside = 0
        self._long = ThreadPoolExecutor(1, thread_name_prefix="contractlog-long")
        self._short_lane = Lane(max(1, threads * 3 // 4), most_waiting=max_waiting)
        self._long_lane = Lane(1, most_waiting=_LONG_WAITING)
        self._callers = callers or Callers(0)

    async def judge(self, text: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that parses or compares schemas; long work runs one at a time.

        It may run twice: as short work first, and again as long work if it exceeds the steps of short work.

        Raises:
            Overloaded: immediately, if too many wait.
            TooManyRequests: the caller has used up its share.
            WorkLimitExceeded: it takes more steps than the request may use.
            Abandoned: the client has disconnected.
        """
        mine = work_of_this_request()
        self._callers.require(mine.caller)
        if len(text) <= _LONG_CHARACTERS and not mine.long:
            with suppress(TakesLong):
                steps = mine.short(SHORT_STEPS if self._callers.calm(mine.caller) else _SHORTER_STEPS)
                return await self._counted(
                    mine, steps, self._in_lane(self._short_lane, self._executor, mine, _here(work, *args, **kwargs))
                )
            mine.long = True
        mine.at_length()
        long = _here(_with_quick_turns, work, *args, **kwargs)
        return await self._counted(mine, mine.steps, self._in_lane(self._long_lane, self._long, mine, long))

    async def _counted(self, mine: Work, steps: Steps, running: Awaitable[T]) -> T:
        before = steps.left
        try:
            return await running
        finally:
            self._callers.add(mine.caller, before - steps.left)

    async def _in_lane(self, lane: Lane, executor: ThreadPoolExecutor, mine: Work, work: Callable[[], T]) -> T:
        place = lane.enter(mine.caller)
        if place is not None:
            try:
                await mine.wait(asyncio.wrap_future(place))
            except BaseException:
                lane.withdraw(mine.caller, place)
                raise
        job = executor.submit(work)
        job.add_done_callback(lambda _job: lane.leave())  # even if the client has disconnected
        if executor is self._long:
            return await mine.wait(asyncio.wrap_future(job))
        return await asyncio.wrap_future(job)

    async def watched(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function as ``run`` does, and notice if the client disconnects.

        Raises:
            Overloaded: immediately, if too many wait.
            Abandoned: the client has disconnected.
        """
        return await work_of_this_request().wait(asyncio.ensure_future(self.run(work, *args, **kwargs)))

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function on a thread.

        Raises:
            Overloaded: immediately, if too many wait.
        """
        if self._inside >= self._room:
            raise Overloaded
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, _here(work, *args, **kwargs))
        finally:
            self._inside -= 1

    def close(self) -> None:
        """Wait for running work, and end the threads."""
        self._executor.shutdown(cancel_futures=True)
        self._long.shutdown(cancel_futures=True)


def _with_quick_turns(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    with _QUICK_TURNS:
        return work(*args, **kwargs)
