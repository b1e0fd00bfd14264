"""A process that is busy itself does not take its database for unavailable."""

from __future__ import annotations

import threading
from itertools import count

from contractlog.registry.storage.database_availability import DatabaseHealth, PendingCalls, WaitingTime

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
    released.set()
    health.close()


def test_a_probe_ends_before_a_store_without_server_is_closed() -> None:
    began, released, ended = threading.Event(), threading.Event(), threading.Event()

    def probe() -> None:
        began.set()
        released.wait(WAIT_SECONDS)
        ended.set()

    health = DatabaseHealth(probe)
    checking = threading.Thread(target=health.responds)
    checking.start()
    assert began.wait(WAIT_SECONDS)
    closing = threading.Thread(target=health.close)
    closing.start()
    assert not ended.is_set()
    released.set()
    closing.join(WAIT_SECONDS)
    assert ended.is_set()
    checking.join(WAIT_SECONDS)
    assert not health.responds()  # no probe begins any more


def test_a_server_that_hangs_does_not_delay_the_end_of_a_store() -> None:
    began, released = threading.Event(), threading.Event()

    def probe() -> None:
        began.set()
        released.wait(WAIT_SECONDS)

    health = DatabaseHealth(probe, responses=PendingCalls(1.0, 1.0, 1.0))
    checking = threading.Thread(target=health.responds)
    checking.start()
    assert began.wait(WAIT_SECONDS)
    health.close()
    assert not released.is_set()
    released.set()
    checking.join(WAIT_SECONDS)
