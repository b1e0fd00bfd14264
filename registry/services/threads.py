"""Where work that would hold up the event loop runs: parsing, judging and asking the database."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Final, ParamSpec, TypeVar

from contractlog.compatibility.errors import Overloaded

__all__ = ["Threads"]

P = ParamSpec("P")
T = TypeVar("T")
_LONG_CHARACTERS: Final = 32_768  #: of a text that takes its time
_LONG_WAITING: Final = 64
_SWITCH_SECONDS: Final = 0.001  #: after which a thread with a long text lets the others on; Python's own is 0.005


def _here(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Callable[[], T]:
    """Bind a function to its arguments, and to the caller of this request."""
    return partial(copy_context().run, work, *args, **kwargs)


class _QuickTurns:
    """While it is entered, Python's threads take turns more often; the setting is the process's, and so is this.

    Not always: many short pieces of work beside each other lose a sixth of their pace by it.
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
    """A few threads, and a bound on how many requests may wait for them.

    Long texts have a thread of their own: side by side they would be no faster, and take all threads from short ones.
    """

    def __init__(self, threads: int, *, max_waiting: int) -> None:
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix="contractlog")
        self._room = threads + max_waiting
        self._inside = 0
        self._long = ThreadPoolExecutor(1, thread_name_prefix="contractlog-long")
        self._long_inside = 0

    async def judge(self, text: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that parses or judges a text; long ones one after the other.

        Raises:
            Overloaded: at once, when too many wait already.
        """
        if len(text) <= _LONG_CHARACTERS:
            return await self.run(work, *args, **kwargs)
        if self._long_inside > _LONG_WAITING:
            raise Overloaded
        self._long_inside += 1
        try:
            with _QUICK_TURNS:
                return await asyncio.get_running_loop().run_in_executor(self._long, _here(work, *args, **kwargs))
        finally:
            self._long_inside -= 1

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function on a thread.

        Raises:
            Overloaded: at once, when too many wait already.
        """
        if self._inside >= self._room:
            raise Overloaded
        self._inside += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, _here(work, *args, **kwargs))
        finally:
            self._inside -= 1

    def close(self) -> None:
        """Wait for what runs and end the threads."""
        self._executor.shutdown(cancel_futures=True)
        self._long.shutdown(cancel_futures=True)
