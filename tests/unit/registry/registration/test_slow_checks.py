"""Long checks do not delay writes to other subjects."""

from __future__ import annotations

import asyncio
import sys
import threading
import time

import httpx2
import pytest

from contractlog.compatibility.errors import Overloaded
from contractlog.registry.execution.thread_pools import ThreadPools
from contractlog.registry.settings import Settings

from support.registry import in_process
from support.slow_checks import create_many_branches

LONG = " " * 50_000
CHECKERS = 3
Written = tuple[int, float, float]  #: status, began, ended


def test_long_texts_take_no_thread_from_short_ones() -> None:
    done = threading.Event()

    async def asked() -> None:
        threads = ThreadPools(1, max_waiting=1)
        long = [asyncio.create_task(threads.run_schema_work(LONG, done.wait)) for _ in range(CHECKERS)]
        await asyncio.sleep(0)  # all of them are in
        try:
            assert await asyncio.wait_for(threads.run_schema_work("short", lambda: 1), 60) == 1
            assert await asyncio.wait_for(threads.run(lambda: 2), 60) == 2
            assert not any(one.done() for one in long)
        finally:
            done.set()
        assert await asyncio.gather(*long) == [True] * CHECKERS
        threads.close()

    asyncio.run(asked())


def test_more_long_texts_than_may_wait_are_refused_and_short_ones_are_not() -> None:
    done = threading.Event()

    async def asked() -> None:
        threads = ThreadPools(1, max_waiting=1)
        long = [asyncio.create_task(threads.run_schema_work(LONG, done.wait)) for _ in range(200)]
        await asyncio.sleep(0)
        try:
            refused = [one for one in long if one.done() and isinstance(one.exception(), Overloaded)]
            assert 0 < len(refused) < len(long)
            assert await asyncio.wait_for(threads.run_schema_work("short", lambda: 1), 60) == 1
        finally:
            done.set()
        answers = await asyncio.gather(*long, return_exceptions=True)
        assert answers.count(True) + len(refused) == len(long)
        threads.close()

    asyncio.run(asked())


def test_while_a_long_text_is_judged_threads_take_turns_more_often() -> None:
    usual = sys.getswitchinterval()

    async def asked() -> None:
        threads = ThreadPools(1, max_waiting=1)
        assert await threads.run_schema_work("short", sys.getswitchinterval) == usual
        found = await asyncio.gather(*(threads.run_schema_work(LONG, sys.getswitchinterval) for _ in range(CHECKERS)))
        assert found == [pytest.approx(0.001)] * CHECKERS
        threads.close()

    asyncio.run(asked())
    assert sys.getswitchinterval() == usual


def write(http: httpx2.Client, subject: str, schema: str, kind: str = "AVRO") -> Written:
    began = time.perf_counter()
    answer = http.post(f"/subjects/{subject}/versions", json={"schema": schema, "schemaType": kind}, timeout=120)
    return answer.status_code, began, time.perf_counter()


@pytest.mark.slow
def test_checks_that_take_long_delay_nobody_else_s_write(tmp_path: object) -> None:
    """How much later a write is, in milliseconds, is what ``benchmarks/registry/write_delays.py`` prints."""
    with in_process(Settings(database_url=f"sqlite:///{tmp_path}/registry.db", read_threads=1)) as http:
        assert write(http, "slow", create_many_branches(0), "JSON")[0] == 200
        checks: list[Written] = []

        def check_on(number: int) -> None:
            checks.extend(write(http, "slow", create_many_branches(2 * number + one), "JSON") for one in (1, 2))

        checking = [threading.Thread(target=check_on, args=(number,)) for number in range(CHECKERS)]
        for one in checking:
            one.start()
        writes: list[Written] = []
        while any(one.is_alive() for one in checking):
            writes.append(write(http, f"w{len(writes)}", '"int"'))
        for one in checking:
            one.join()
    assert {status for status, _, _ in checks} == {409}
    assert {status for status, _, _ in writes} == {200}
    for _, began, ended in checks:  # one thread for all, and yet no write waits for the end of a check
        assert any(began < one[1] and one[2] < ended for one in writes)
