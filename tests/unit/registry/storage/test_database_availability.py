"""A process that is busy itself does not take its database for unavailable."""

from __future__ import annotations

import threading
from itertools import count

from contractlog.registry.storage.database_availability import DatabaseHealth, WaitingTime

from support.deadlines import WAIT_SECONDS

STALL = 20.0  #: seconds by which each wait ends too late


def test_a_wait_that_ends_too_late_counts_as_a_short_one() -> None:
    times = iter([0.0, 0.05, 20.0, 20.05])
    waited = WaitingTime(lambda: next(times))
    sums = [round(waited.add(0.05), 6) for _ in range(3)]
    assert sums == [0.05, 0.15, 0.2]


def test_a_stall_of_this_process_is_not_silence_of_the_database() -> None:
    answered, readings = threading.Event(), count()

    def stalled_clock() -> float:
        reading = next(readings)
        if reading == 10:
            answered.set()  # the thread of the probe runs again
        return reading * STALL

    health = DatabaseHealth(lambda: answered.wait(WAIT_SECONDS), clock=stalled_clock)
    assert health.responds()
    assert not health.unavailable


def test_a_database_that_is_silent_while_this_process_runs_is_unavailable() -> None:
    released = threading.Event()
    health = DatabaseHealth(lambda: released.wait(WAIT_SECONDS), probe_after_seconds=0.2)
    assert not health.responds()
    assert health.unavailable
    health.close()
    released.set()
