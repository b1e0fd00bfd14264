"""Life of a background thread: started once, woken, closed."""

from __future__ import annotations

import threading

from contractlog.registry.execution.background_thread import BackgroundThread

LONG = 40.0  #: seconds; no test waits for them


def test_a_signal_wakes_the_thread_and_close_waits_for_its_end() -> None:
    rounds = threading.Semaphore(0)
    ended = threading.Event()

    def run() -> None:
        while not thread.is_closing:
            thread.wait_for_work(LONG)
            rounds.release()
        ended.set()

    thread = BackgroundThread(run, "test")
    thread.start()
    thread.start()  # has no effect
    thread.wake()
    assert rounds.acquire(timeout=LONG)
    thread.close()
    assert ended.is_set()


def test_a_pause_ends_when_the_thread_should_end_and_it_may_close_itself() -> None:
    begun = threading.Event()
    paused: list[bool] = []

    def run() -> None:
        begun.set()
        paused.append(thread.pause(LONG))
        thread.close()

    thread = BackgroundThread(run, "test")
    thread.start()
    assert begun.wait(LONG)
    thread.close()
    assert paused == [True]


def test_a_closed_thread_does_not_start() -> None:
    runs: list[int] = []
    thread = BackgroundThread(lambda: runs.append(1), "test")
    thread.close()
    thread.start()
    thread.close()
    assert runs == []
