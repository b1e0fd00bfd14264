"""Thread pools for work that would block the event loop, behind fair queues."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from typing import Any, Final, Generic, ParamSpec, TypeVar

from contractlog.compatibility.errors import Overloaded
from contractlog.compatibility.step_budget import StepBudget
from contractlog.registry.execution.fair_queue import FairQueue
from contractlog.registry.execution.large_responses import LargeResponseSlots
from contractlog.registry.execution.work_limits import (
    LONG_CHARACTERS,
    SHORT_STEPS,
    CallerUsage,
    RequestWork,
    ShortWorkExceeded,
    request_work,
)

__all__ = ["ThreadPools"]

P = ParamSpec("P")
T = TypeVar("T")
_MAX_LONG_WAITING: Final = 64
_CLOSE_SECONDS: Final = 2.0  #: for work that is running when the threads are ended
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
    """A few threads, and fair queues before them.

    Each caller has at most half of the threads, so that a request of another one finds a free thread, or gets the next.
    Long work has a thread of its own: in parallel it would be no faster, and would occupy the threads of others.
    Parsing and comparing get at most three quarters of the threads, and of each caller one less than its half, so that
    a request that only reads always finds one.
    """

    def __init__(self, threads: int, *, max_waiting: int, callers: CallerUsage | None = None) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="contractlog")
        self._long = ThreadPoolExecutor(1, thread_name_prefix="contractlog-long")
        per_caller = max(1, threads // 2)
        self._queue = FairQueue(threads, max_waiting=max_waiting, max_per_caller=per_caller)
        self._short_queue = FairQueue(
            max(1, threads * 3 // 4), max_waiting=max_waiting, max_per_caller=max(1, per_caller - 1)
        )
        self._long_queue = FairQueue(1, max_waiting=_MAX_LONG_WAITING)
        self._callers = callers or CallerUsage(0)
        self._running: set[RequestWork] = set()
        self._following = threading.local()  #: `jobs`: those that this thread has to run
        self._is_closed = False
        self.responses = LargeResponseSlots(
            self._callers, max_queries=max(1, threads // 2)
        )  #: limits on responses with many schemas

    async def run_schema_work(self, text: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that parses or compares schemas; long work runs one at a time.

        It may run twice: as short work first, and again as long work if it exceeds the steps of short work.

        Raises:
            Overloaded: too many wait.
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
                    request, steps, self._run_short(request, _bind_context(work, *args, **kwargs))
                )
            request.long = True
        request.begin_long()
        bound_work = _bind_context(_run_with_short_switch_interval, work, *args, **kwargs)
        return await self._count_steps(request, request.steps, self._run_long(request, bound_work))

    async def _count_steps(self, request: RequestWork, steps: StepBudget, running: Awaitable[T]) -> T:
        before = steps.left
        try:
            return await running
        finally:
            self._callers.add(request.caller, before - steps.left + request.take_charged())

    async def _run_short(self, request: RequestWork, work: Callable[[], T]) -> T:
        job = _Job(request, work, (self._short_queue, self._queue), self._running)
        return await self._wait(self._start(job, self._executor), watched=False)

    async def _run_long(self, request: RequestWork, work: Callable[[], T]) -> T:
        job = _Job(request, work, (self._long_queue,), self._running)
        return await self._wait(self._start(job, self._long), watched=True)

    async def run_counted(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function as ``run_watched`` does, and count the steps that it charges as work of the caller.

        Raises:
            Overloaded: too many wait.
            TooManyRequests: the caller has used up its share.
            Abandoned: the client has disconnected.
        """
        request = request_work()
        self._callers.require(request.caller)
        try:
            return await self.run_watched(work, *args, **kwargs)
        finally:
            # A thread whose client has disconnected ends at its next charge, which is not counted.
            self._callers.add(request.caller, request.take_charged())

    async def run_watched(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function as ``run`` does, and notice if the client disconnects.

        Raises:
            Overloaded: too many wait.
            Abandoned: the client has disconnected.
        """
        job = _Job(request_work(), _bind_context(work, *args, **kwargs), (self._queue,), self._running)
        self._start(job, self._executor)
        return await self._wait(job, watched=True)

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function on a thread; notice the client's disconnect only while it waits for one.

        Raises:
            Overloaded: too many wait.
            Abandoned: the client has disconnected.
        """
        job = _Job(request_work(), _bind_context(work, *args, **kwargs), (self._queue,), self._running)
        self._start(job, self._executor)
        return await self._wait(job, watched=False)

    def _start(self, job: _Job[T], executor: ThreadPoolExecutor) -> _Job[T]:
        """Run a job on a thread as soon as each of its queues has a slot, one after another.

        The thread that releases the last slot does the work: waking another thread would cost as much as a short read.
        """
        try:
            slot = job.enter_queues()
        except BaseException:
            job.leave()
            raise
        if slot is None:
            executor.submit(self._run_jobs, job)
        else:
            slot.add_done_callback(lambda granted: self._continue(job, executor, granted))
        return job

    def _run_jobs(self, job: _Job[Any]) -> None:
        """Run a job, and then each job that gets its slot: that is faster than waking a thread."""
        following = self._following.jobs = [job]
        while following and not self._is_closed:
            following.pop().run()

    def _continue(self, job: _Job[Any], executor: ThreadPoolExecutor, granted: Future[None]) -> None:
        """Go on with a job that got a slot which it had waited for, or end it if it had to make room."""
        error = granted.exception()
        if error is not None:
            job.refuse(error)
            return
        job.note_slot()
        try:
            slot = job.enter_queues()
        except Overloaded as overloaded:
            job.refuse(overloaded)
            return
        following = getattr(self._following, "jobs", None)
        if slot is not None:
            slot.add_done_callback(lambda later: self._continue(job, executor, later))
        elif following is not None:
            following.append(job)
        else:  # the slot was released before the job began to wait for it, so that this is the event loop
            executor.submit(self._run_jobs, job)

    async def _wait(self, job: _Job[T], *, watched: bool) -> T:
        result = asyncio.wrap_future(job.result)
        if not watched and not job.has_waited:
            return await result
        try:
            return await job.request.wait(result)
        except BaseException:
            job.withdraw()
            raise

    def close(self, seconds: float = _CLOSE_SECONDS) -> bool:
        """End the threads; return whether they ended in time.

        Running work ends when it next looks at its budget.

        Args:
            seconds: how long to wait for running work.
        """
        self._is_closed = True
        for request in list(self._running):
            request.stop()
        deadline = time.monotonic() + seconds
        threads: list[threading.Thread] = []
        for executor in (self._executor, self._long):
            executor.shutdown(wait=False)
            threads += executor._threads  # noqa: SLF001 - `shutdown` has no timeout
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)


class _Job(Generic[T]):
    """A function that waits for slots of its queues, in their order, or runs. Thread-safe."""

    def __init__(
        self, request: RequestWork, work: Callable[[], T], queues: Sequence[FairQueue], running: set[RequestWork]
    ) -> None:
        self.request = request
        self.result: Future[T] = Future()
        self.has_waited = False
        self._work = work
        self._queues = queues
        self._entered = 0  #: the number of queues whose slot it has
        self._slot: Future[None] | None = None  #: of the next queue, while it waits
        self._lock = threading.Lock()
        self._running = running

    def enter_queues(self) -> Future[None] | None:
        """Take slots of the remaining queues; return the one to wait for, or None once it has all.

        Raises:
            Overloaded: too many wait.
        """
        with self._lock:
            while self._entered < len(self._queues):
                self._slot = self._queues[self._entered].enter(self.request.caller)
                if self._slot is not None:
                    self.has_waited = True
                    return self._slot
                self._entered += 1
            return None

    def note_slot(self) -> None:
        """Note that it got the slot that it waited for."""
        with self._lock:
            self._slot = None
            self._entered += 1

    def run(self) -> None:
        """Run the function, unless its client has disconnected while it waited."""
        result = self.result
        if not result.set_running_or_notify_cancel():
            self.leave()
            return
        self._running.add(self.request)
        try:
            value = self._work()
        except BaseException as error:  # noqa: BLE001 - whoever waits for the result gets it
            self.leave()
            result.set_exception(error)
            del self, result  # the error's traceback refers to this frame
        else:
            self.leave()
            result.set_result(value)

    def refuse(self, error: BaseException) -> None:
        """End with an error; the function is not run."""
        self.leave()
        if self.result.set_running_or_notify_cancel():
            self.result.set_exception(error)

    def withdraw(self) -> None:
        """Stop waiting for a slot; a job that has just got one finds out that its result was cancelled."""
        with self._lock:
            waits = self._slot is not None and self._queues[self._entered].withdraw(self.request.caller, self._slot)
            if waits:
                self._slot = None
        if waits:
            self.leave()

    def leave(self) -> None:
        """Release the slots."""
        self._running.discard(self.request)
        with self._lock:
            entered, self._entered = self._entered, 0
        for queue in reversed(self._queues[:entered]):
            queue.leave(self.request.caller)


def _run_with_short_switch_interval(work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    with _SHORT_SWITCH_INTERVAL:
        return work(*args, **kwargs)
