"""Merging of concurrent requests: the first caller does the work, the others wait for its result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

__all__ = ["Flights", "TaskFlights"]

V = TypeVar("V")


class Flights(Generic[V]):
    """Work by key, done once for all threads that request it at the same time."""

    def __init__(self) -> None:
        self._flying: dict[Hashable, Future[V]] = {}
        self._lock = threading.Lock()

    def once(self, key: Hashable, work: Callable[[], V]) -> V:
        """Do the work, or wait for the thread that is doing it; all callers get its result or its error."""
        while True:
            with self._lock:
                flight = self._flying.get(key)
                if flight is None:
                    own = self._flying[key] = Future()
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
            self._land(key)
            own.set_exception(error)
            raise
        self._land(key)
        own.set_result(result)
        return result

    def _land(self, key: Hashable) -> None:
        with self._lock:
            del self._flying[key]


class TaskFlights(Generic[V]):
    """Work by key, done once for all tasks of an event loop that request it at the same time.

    The work is a task of its own, so the cancellation of one waiting task does not affect the others.
    """

    def __init__(self) -> None:
        self._flying: dict[tuple[int, Hashable], asyncio.Task[V]] = {}

    async def once(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, V]]) -> V:
        """Do the work, or wait for the task that is doing it; all callers get its result or its error."""
        place = (id(asyncio.get_running_loop()), key)
        task = self._flying.get(place)
        if task is None:
            task = self._flying[place] = asyncio.create_task(work())
            task.add_done_callback(lambda done: self._land(place, done))
        waiting: Awaitable[V] = asyncio.shield(task)
        return await waiting

    def _land(self, place: tuple[int, Hashable], done: asyncio.Task[V]) -> None:
        self._flying.pop(place, None)
        if not done.cancelled():
            done.exception()  # marks the error as retrieved, as no caller may be waiting any more
