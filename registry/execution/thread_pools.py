"""Thread pools for work that would block the event loop, and a fair queue before them."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Final, ParamSpec, TypeVar

from contractlog.compatibility.errors import Overloaded
from contractlog.compatibility.step_budget import StepBudget
from contractlog.registry.execution.large_responses import LargeResponseSlots
from contractlog.registry.execution.work_limits import (
    LONG_CHARACTERS,
    SHORT_STEPS,
    CallerUsage,
    RequestWork,
    ShortWorkExceeded,
    request_work,
)

__all__ = ["FairQueue", "ThreadPools"]


class FairQueue:
    """Slots for work, which waiting callers get in turn, however many requests each has.

    So a caller with many requests delays another one by one of them at most. Thread-safe.
    """

    def __init__(self, slots: int, *, max_waiting: int) -> None:
        self._free_slots = slots
        self._max_waiting = max_waiting
        self._waiting_count = 0
        self._waiting: dict[str, deque[Future[None]]] = {}  #: by caller, in the order of their turns
        self._lock = threading.Lock()

    def enter(self, caller: str) -> Future[None] | None:
        """Take a slot; if none is free, return a future that is done when this caller gets one.

        Raises:
            Overloaded: too many wait.
        """
        with self._lock:
            if self._free_slots:
                self._free_slots -= 1
                return None
            if self._waiting_count >= self._max_waiting:
                raise Overloaded
            self._waiting_count += 1
            slot: Future[None] = Future()
            self._waiting.setdefault(caller, deque()).append(slot)
            return slot

    def leave(self) -> None:
        """Release a slot; it goes to the caller whose turn it is."""
        with self._lock:
            while self._waiting:
                caller, slots = next(iter(self._waiting.items()))
                slot = slots.popleft()
                self._waiting_count -= 1
                del self._waiting[caller]
                if slots:
                    self._waiting[caller] = slots  # behind all others
                if slot.set_running_or_notify_cancel():
                    slot.set_result(None)
                    return
            self._free_slots += 1

    def withdraw(self, caller: str, slot: Future[None]) -> None:
        """Stop waiting; a slot that was granted meanwhile goes to the next caller."""
        with self._lock:
            slots = self._waiting.get(caller)
            if slots is not None and slot in slots:
                slots.remove(slot)
                self._waiting_count -= 1
                if not slots:
                    del self._waiting[caller]
                return
        if slot.done() and not slot.cancelled():
            self.leave()


P = ParamSpec("P")
T = TypeVar("T")
_MAX_LONG_WAITING: Final = 64
_REDUCED_SHORT_STEPS: Final = 1_000  #: limit of short work for callers with much recent work
_SWITCH_SECONDS: Final = 0.001  #: switch interval during long work; Python's default is 0.005


def _bind_context(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Callable[[], T]:
    """Bind a function to its arguments, and to the context of this request."""
    return partial(copy_context().run, work, *args, **kwargs)


class _ShortSwitchInterval:
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

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.setswitchinterval(self._usual)


_SHORT_SWITCH_INTERVAL: Final = _ShortSwitchInterval()


class ThreadPools:
    """A few threads, and a limit of requests that may wait for them.

    Long work has a thread of its own: in parallel it would be no faster, and would occupy the threads of others.
    Parsing and comparing get at most three quarters of the threads, so that a request that only reads always finds one.
    """

    def __init__(self, threads: int, *, max_waiting: int, callers: CallerUsage | None = None) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="contractlog")
        self._room = threads + max_waiting
        self._inside = 0
        self._long = ThreadPoolExecutor(1, thread_name_prefix="contractlog-long")
        self._short_queue = FairQueue(max(1, threads * 3 // 4), max_waiting=max_waiting)
        self._long_queue = FairQueue(1, max_waiting=_MAX_LONG_WAITING)
        self._callers = callers or CallerUsage(0)
        self.responses = LargeResponseSlots(
            self._callers, max_queries=max(1, threads // 2)
        )  #: limits on responses with many schemas

    async def run_schema_work(self, text: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that parses or compares schemas; long work runs one at a time.

        It may run twice: as short work first, and again as long work if it exceeds the steps of short work.

        Raises:
            Overloaded: immediately, if too many wait.
            TooManyRequests: the caller has used up its share.
            WorkLimitExceeded: it takes more steps than the request may use.
            Abandoned: the client has disconnected.
        """
        request = request_work()
        self._callers.require(request.caller)
        if len(text) <= LONG_CHARACTERS and not request.long:
            with suppress(ShortWorkExceeded):
                steps = request.begin_short(
                    SHORT_STEPS if self._callers.is_calm(request.caller) else _REDUCED_SHORT_STEPS
                )
                return await self._count_steps(
                    request,
                    steps,
                    self._run_in_queue(
                        self._short_queue, self._executor, request, _bind_context(work, *args, **kwargs)
                    ),
                )
            request.long = True
        request.begin_long()
        bound_work = _bind_context(_run_with_short_switch_interval, work, *args, **kwargs)
        return await self._count_steps(
            request, request.steps, self._run_in_queue(self._long_queue, self._long, request, bound_work)
        )

    async def _count_steps(self, request: RequestWork, steps: StepBudget, running: Awaitable[T]) -> T:
        before = steps.left
        try:
            return await running
        finally:
            self._callers.add(request.caller, before - steps.left + request.take_charged())

    async def _run_in_queue(
        self, queue: FairQueue, executor: ThreadPoolExecutor, request: RequestWork, work: Callable[[], T]
    ) -> T:
        slot = queue.enter(request.caller)
        if slot is not None:
            try:
                await request.wait(asyncio.wrap_future(slot))
            except BaseException:
                queue.withdraw(request.caller, slot)
                raise
        job = executor.submit(work)
        job.add_done_callback(lambda _job: queue.leave())  # even if the client has disconnected
        if executor is self._long:
            return await request.wait(asyncio.wrap_future(job))
        return await asyncio.wrap_future(job)

    async def run_watched(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function as ``run`` does, and notice if the client disconnects.

        Raises:
            Overloaded: immediately, if too many wait.
            Abandoned: the client has disconnected.
        """
        return await request_work().wait(asyncio.ensure_future(self.run(work, *args, **kwargs)))

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function on a thread.

        Raises:
            Overloaded: immediately, if too many wait.
        """
        if self._inside >= self._room:
            raise Overloaded
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(
                self._executor, _bind_context(work, *args, **kwargs)
            )
        finally:
            self._inside -= 1

    def close(self) -> None:
        """Wait for running work, and end the threads."""
        self._executor.shutdown(cancel_futures=True)
        self._long.shutdown(cancel_futures=True)


def _run_with_short_switch_interval(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    with _SHORT_SWITCH_INTERVAL:
        return work(*args, **kwargs)
