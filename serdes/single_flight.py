"""Merging of concurrent requests: the first caller does the work, the others wait for its result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

__all__ = ["SingleFlight", "TaskSingleFlight"]

V = TypeVar("V")


class SingleFlight(Generic[V]):
    """Work by key, done once for all threads that request it at the same time."""

    def __init__(self) -> None:
        self._running: dict[Hashable, Future[V]] = {}
        self._lock = threading.Lock()

    def run_once(self, key: Hashable, work: Callable[[], V]) -> V:
        """Do the work, or wait for the thread that is doing it; all callers get its result or its error."""
        while True:
            with self._lock:
                flight = self._running.get(key)
                if flight is None:
                    own = self._running[key] = Future()
                    break
            try:
                return flight.result()
            except Exception:
                raise
            except BaseException:  # noqa: BLE001, S112 -- only the other thread was interrupted
                continue
        try:
            result = work()
        except BaseException as error:
            self._finish(key)
            own.set_exception(error)
            raise
        self._finish(key)
        own.set_result(result)
        return result

    def _finish(self, key: Hashable) -> None:
        with self._lock:
            del self._running[key]


class TaskSingleFlight(Generic[V]):
    """Work by key, done once for all tasks of an event loop that request it at the same time.

    The work is a task of its own, so the cancellation of one waiting task does not affect the others.
    """

    def __init__(self) -> None:
        self._running: dict[tuple[int, Hashable], asyncio.Task[V]] = {}

    async def run_once(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """Do the work, or wait for the task that is doing it; all callers get its result or its error."""
        loop_key = (id(asyncio.get_running_loop()), key)
        task = self._running.get(loop_key)
        if task is None:
            task = self._running[loop_key] = asyncio.create_task(work())
            task.add_done_callback(lambda done: self._finish(loop_key, done))
        waiting: Awaitable[V] = asyncio.shield(task)
        return await waiting

    def _finish(self, loop_key: tuple[int, Hashable], done: asyncio.Task[V]) -> None:
        self._running.pop(loop_key, None)
        if not done.cancelled():
            done.exception()  # marks the error as retrieved, as no caller may be waiting any more
