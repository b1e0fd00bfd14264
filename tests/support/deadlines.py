"""Deadlines that load does not reach; they detect hangs and do not measure speed."""

from __future__ import annotations

import faulthandler
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeVar

__all__ = ["WAIT_SECONDS", "count_calls", "eventually", "hang_guard"]

T = TypeVar("T")
HANG_SECONDS: Final = 60  #: of processor time of this process; guarded blocks take tenths
WAIT_SECONDS: Final = 240.0  #: of wall-clock time, for work of other threads and processes; ends only what hangs


class Hangs(Exception):
    """The guarded block did not end."""


@contextmanager
def hang_guard(seconds: float = HANG_SECONDS) -> Iterator[None]:
    """Interrupt a block that takes this much processor time; works only on the main thread.

    The time is that of the process, so neighbours do not count. Native code that never returns to Python cannot be
    interrupted: twice the time ends the process, after the stacks of its threads are written to stderr.
    """

    def interrupt(_number: int, _frame: object) -> None:
        raise Hangs(f"not at its end after {seconds:g} seconds of processor time")

    before = signal.signal(signal.SIGVTALRM, interrupt)
    faulthandler.register(signal.SIGPROF, chain=True)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.setitimer(signal.ITIMER_PROF, 2 * seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.unregister(signal.SIGPROF)
        signal.signal(signal.SIGVTALRM, before)


def eventually(holds: Callable[[], T], seconds: float = WAIT_SECONDS) -> T:
    """Call a function until its result is true, and return the result."""
    end = time.monotonic() + seconds
    while not (result := holds()):
        assert time.monotonic() < end, f"the condition was not true within {seconds:g} seconds"
        time.sleep(0.02)
    return result


def count_calls(work: Callable[[], object]) -> int:
    """Return how many calls of functions, of Python or C, are made by this thread; the same in every run."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls
