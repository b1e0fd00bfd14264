"""Reads share the threads fairly; those whose client has disconnected end, and so does the process."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from starlette.types import Message

from contractlog.compatibility.errors import Overloaded, TooManyRequests
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.execution.work_limits import (
    CallerUsage,
    RequestAbandoned,
    RequestWork,
    current_work,
    request_work,
)


async def read(threads: ThreadPools, caller: str, work: Callable[[], Any], **options: Any) -> Any:
    """Read as a request of a caller."""
    current_work.set(RequestWork(caller, **options))
    return await threads.run(work)


async def start(count: int, begun: threading.Semaphore) -> None:
    for _ in range(count):
        assert await asyncio.to_thread(begun.acquire, timeout=40)


def test_a_caller_with_a_thousand_reads_leaves_threads_for_others() -> None:
    ended, begun = threading.Event(), threading.Semaphore(0)

    def work() -> None:
        begun.release()
        ended.wait()

    async def run() -> None:
        threads = ThreadPools(8, max_waiting=1_000)
        many = [asyncio.create_task(read(threads, "many", work)) for _ in range(1_000)]
        await start(4, begun)
        assert await asyncio.wait_for(read(threads, "other", lambda: 1), 40) == 1
        ended.set()
        await asyncio.gather(*many)
        assert threads.close()

    asyncio.run(run())


def test_callers_take_turns_when_all_threads_are_in_use() -> None:
    gate, order = threading.Event(), []

    async def run() -> None:
        threads = ThreadPools(1, max_waiting=1_000)
        first = asyncio.create_task(read(threads, "many", gate.wait))
        await asyncio.sleep(0)
        many = [asyncio.create_task(read(threads, "many", lambda: order.append("many"))) for _ in range(100)]
        await asyncio.sleep(0)
        other = asyncio.create_task(read(threads, "other", lambda: order.append("other")))
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(first, other, *many)
        assert threads.close()

    asyncio.run(run())
    assert order.index("other") <= 1


def test_a_read_whose_client_has_disconnected_while_it_waited_is_not_run() -> None:
    gate, gone, ran = threading.Event(), asyncio.Event(), []

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def run() -> None:
        threads = ThreadPools(1, max_waiting=9)
        first = asyncio.create_task(read(threads, "a", gate.wait))
        await asyncio.sleep(0)
        waiting = asyncio.create_task(read(threads, "b", lambda: ran.append(1), receive=receive))
        await asyncio.sleep(0)
        gone.set()
        with pytest.raises(RequestAbandoned):
            await asyncio.wait_for(waiting, 40)
        gate.set()
        await first
        assert await asyncio.wait_for(read(threads, "c", lambda: 1), 40) == 1
        assert threads.close()

    asyncio.run(run())
    assert not ran


def test_a_read_ends_at_its_next_charge_when_its_client_disconnects() -> None:
    begun, ended, gone = threading.Event(), threading.Event(), asyncio.Event()

    async def receive() -> Message:
        await gone.wait()
        return {"type": "http.disconnect"}

    def work() -> None:
        begun.set()
        try:
            while True:
                request_work().charge(1)
        finally:
            ended.set()

    async def run() -> None:
        threads = ThreadPools(1, max_waiting=9)
        current_work.set(RequestWork("a", receive=receive))
        reading = asyncio.create_task(threads.run_counted(work))
        assert await asyncio.to_thread(begun.wait, 40)
        gone.set()
        with pytest.raises(RequestAbandoned):
            await asyncio.wait_for(reading, 40)
        assert await asyncio.to_thread(ended.wait, 40)
        assert threads.close()

    asyncio.run(run())


def test_charged_steps_count_against_the_caller() -> None:
    async def run() -> None:
        threads = ThreadPools(1, max_waiting=9, callers=CallerUsage(10_000))
        current_work.set(RequestWork("a"))
        await threads.run_counted(lambda: request_work().charge(20_000))
        with pytest.raises(TooManyRequests):
            await threads.run_counted(lambda: 1)
        current_work.set(RequestWork("b"))
        assert await threads.run_counted(lambda: 1) == 1
        assert threads.close()

    asyncio.run(run())


def test_a_read_that_has_to_make_room_is_refused() -> None:
    gate = threading.Event()

    async def run() -> None:
        threads = ThreadPools(1, max_waiting=2)
        many = [asyncio.create_task(read(threads, "many", gate.wait)) for _ in range(3)]
        await asyncio.sleep(0)
        other = asyncio.create_task(read(threads, "other", lambda: 1))
        with pytest.raises(Overloaded):
            await asyncio.wait_for(many[2], 40)
        gate.set()
        assert await asyncio.wait_for(other, 40) == 1
        await asyncio.gather(*many[:2])
        assert threads.close()

    asyncio.run(run())


def test_closing_ends_work_that_charges_and_does_not_wait_for_other_work() -> None:
    begun, gate = threading.Semaphore(0), threading.Event()

    def charge() -> None:
        begun.release()
        while True:
            request_work().charge(1)

    def sleep() -> None:
        begun.release()
        gate.wait()

    async def run() -> None:
        threads = ThreadPools(4, max_waiting=9)
        charging = asyncio.create_task(read(threads, "a", charge))
        await start(1, begun)
        assert await asyncio.to_thread(threads.close, 40)
        with pytest.raises(RequestAbandoned):
            await charging
        threads = ThreadPools(4, max_waiting=9)
        sleeping = asyncio.create_task(read(threads, "a", sleep))
        await start(1, begun)
        assert not await asyncio.to_thread(threads.close, 0.01)
        gate.set()
        await sleeping

    asyncio.run(run())
