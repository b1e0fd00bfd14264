"""Deadlines that no load can reach: they find what never ends, and say nothing about speed."""

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
HANG_SECONDS: Final = 60  #: of the processor time of this process; what is guarded takes tenths
WAIT_SECONDS: Final = 120.0  #: of a clock, for what other threads and processes do


class Hangs(Exception):
    """What was guarded did not end."""


@contextmanager
def hang_guard(seconds: float = HANG_SECONDS) -> Iterator[None]:
    """Interrupt a block that takes so much processor time; runs on the main thread only.

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
    """Call until the result is true, and return it."""
    end = time.monotonic() + seconds
    while not (result := holds()):
        assert time.monotonic() < end, f"it did not come to hold within {seconds:g} seconds"
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
