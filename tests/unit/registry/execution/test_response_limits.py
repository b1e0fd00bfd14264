"""Large responses are limited in number, for each caller and in all, and count as work."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from contractlog.compatibility.errors import Overloaded, TooManyRequests
from contractlog.registry.execution.response_limits import ResponseLimits
from contractlog.registry.execution.work_limits import CallerUsage, RequestAbandoned, RequestWork, current_work


def make_limits(**limits: Any) -> ResponseLimits:
    return ResponseLimits(CallerUsage(10_000), **{"max_large": 3, "max_per_caller": 2, **limits})


async def enter(limits: ResponseLimits, caller: str) -> asyncio.Task[str]:
    """Begin to enter as a caller, until it has a slot or has to wait."""
    current_work.set(RequestWork(caller))
    entering: Coroutine[Any, Any, str] = limits.enter()
    task = asyncio.create_task(entering)
    await asyncio.sleep(0)
    return task


def test_callers_get_slots_in_order_as_far_as_they_may_have_more() -> None:
    async def run() -> None:
        limits = make_limits()
        tasks = [await enter(limits, caller) for caller in ("a", "a", "a", "b", "c")]
        assert [task.done() for task in tasks] == [True, True, False, True, False]
        assert limits.sending == 3
        limits.leave("b")
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [task.done() for task in tasks] == [True, True, False, True, True]
        limits.leave("a")
        assert await tasks[2] == "a"
        assert limits.sending == 3
        for caller in ("a", "a", "c"):
            limits.leave(caller)
        assert limits.sending == 0

    asyncio.run(run())


def test_waiting_is_limited_in_number_and_time() -> None:
    async def run() -> None:
        limits = make_limits(max_waiting=1, wait_seconds=0)
        for _ in range(2):
            await enter(limits, "a")
        waiting, refused = await enter(limits, "a"), await enter(limits, "a")
        for task in (waiting, refused):
            with pytest.raises(Overloaded, match="Too many large responses"):
                await task
        limits.leave("a")
        assert (await (await enter(limits, "a")), limits.sending) == ("a", 2)

    asyncio.run(run())


def test_the_slot_of_a_caller_who_left_goes_to_the_next() -> None:
    async def run() -> None:
        limits = make_limits(max_large=1)
        await enter(limits, "a")
        gone, patient, late = (await enter(limits, "b"), await enter(limits, "c"), await enter(limits, "d"))
        gone.cancel()
        with pytest.raises((asyncio.CancelledError, RequestAbandoned)):
            await gone
        limits.leave("a")
        patient.cancel()  # although it has the slot now
        with pytest.raises((asyncio.CancelledError, RequestAbandoned)):
            await patient
        assert (await late, limits.sending) == ("d", 1)

    asyncio.run(run())


def test_the_size_of_lists_counts_as_work_unless_it_is_small() -> None:
    limits = make_limits()
    current_work.set(RequestWork("a"))
    for _ in range(100):
        limits.charge(100_000)
    limits.require()
    limits.charge(10_000_000)
    with pytest.raises(TooManyRequests):
        limits.require()
    current_work.set(RequestWork("b"))
    limits.require()
