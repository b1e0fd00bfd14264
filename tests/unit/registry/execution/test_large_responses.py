"""Large responses are limited in number, for each caller and in all, and count as work."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Coroutine
from typing import Any

import pytest

from contractlog.compatibility.errors import Overloaded, TooManyRequests
from contractlog.registry.execution.large_responses import LargeResponse, LargeResponseSlots
from contractlog.registry.execution.work_limits import CallerUsage, RequestAbandoned, RequestWork, current_work

from support.deadlines import WAIT_SECONDS


def make_limits(**limits: Any) -> LargeResponseSlots:
    return LargeResponseSlots(CallerUsage(10_000), **{"max_large": 3, "max_per_caller": 2, **limits})


async def enter(limits: LargeResponseSlots, caller: str) -> asyncio.Task[LargeResponse]:
    """Begin to enter as a caller, until it has a slot or has to wait."""
    current_work.set(RequestWork(caller))
    entering: Coroutine[Any, Any, LargeResponse] = limits.enter()
    task = asyncio.create_task(entering)
    await asyncio.sleep(0)
    return task


def test_callers_get_slots_in_order_as_far_as_they_may_have_more() -> None:
    async def run() -> None:
        limits = make_limits()
        tasks = [await enter(limits, caller) for caller in ("a", "a", "a", "b", "c")]
        assert [task.done() for task in tasks] == [True, True, False, True, False]
        assert limits.sending == 3
        limits.leave(await tasks[3])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [task.done() for task in tasks] == [True, True, False, True, True]
        limits.leave(await tasks[0])
        assert (await tasks[2]).caller == "a"
        assert limits.sending == 3
        for number in (1, 2, 4):
            limits.leave(await tasks[number])
        assert limits.sending == 0

    asyncio.run(run())


def test_a_free_slot_goes_to_the_caller_with_the_fewest() -> None:
    async def run() -> None:
        limits = make_limits()
        sent = [await (await enter(limits, caller)) for caller in ("a", "a", "b")]
        again, first = await enter(limits, "b"), await enter(limits, "c")
        limits.leave(sent[0])
        assert (await first).caller == "c"
        assert not again.done()
        limits.leave(sent[1])
        assert (await again).caller == "b"

    asyncio.run(run())


def test_waiting_is_limited_in_number_and_time() -> None:
    async def run() -> None:
        limits = make_limits(max_waiting=1, wait_seconds=0)
        sent = [await (await enter(limits, "a")) for _ in range(2)]
        waiting, refused = await enter(limits, "a"), await enter(limits, "a")
        for task in (waiting, refused):
            with pytest.raises(Overloaded, match="Too many large responses"):
                await task
        limits.leave(sent[0])
        assert ((await (await enter(limits, "a"))).caller, limits.sending) == ("a", 2)

    asyncio.run(run())


def test_one_caller_cannot_take_all_places_of_those_that_wait() -> None:
    async def run() -> None:
        limits = make_limits(max_large=1, max_waiting=3, max_waiting_per_caller=2)
        sent = await (await enter(limits, "a"))
        tasks = [await enter(limits, "a") for _ in range(3)]
        with pytest.raises(Overloaded):
            await tasks[2]
        waiting = await enter(limits, "b")
        limits.leave(sent)
        limits.leave(await tasks[0])
        limits.leave(await tasks[1])
        assert (await waiting).caller == "b"

    asyncio.run(run())


def test_the_slot_of_a_caller_who_left_goes_to_the_next() -> None:
    async def run() -> None:
        limits = make_limits(max_large=1)
        sent = await (await enter(limits, "a"))
        gone, patient, late = (await enter(limits, "b"), await enter(limits, "c"), await enter(limits, "d"))
        gone.cancel()
        with pytest.raises((asyncio.CancelledError, RequestAbandoned)):
            await gone
        limits.leave(sent)
        patient.cancel()  # although it has the slot now
        with pytest.raises((asyncio.CancelledError, RequestAbandoned)):
            await patient
        assert ((await late).caller, limits.sending) == ("d", 1)

    asyncio.run(run())


async def send_until_cut_off(limits: LargeResponseSlots, response: LargeResponse) -> str:
    """Send a piece to a client that does not receive it; return the reason for its end."""
    try:
        await response.deliver(asyncio.Event().wait(), 1, WAIT_SECONDS)
    except TimeoutError as error:
        limits.leave(response)
        return str(error)
    raise AssertionError


def test_slow_readers_are_cut_off_while_callers_with_fewer_responses_wait() -> None:
    async def run() -> None:
        limits = make_limits(check_seconds=0, slow_after_seconds=0)
        sent = [await (await enter(limits, caller)) for caller in ("a", "a", "b")]
        sending = [asyncio.create_task(send_until_cut_off(limits, response)) for response in sent]
        assert (await (await enter(limits, "c"))).caller == "c"
        await asyncio.wait(sending, return_when=asyncio.FIRST_COMPLETED)
        reasons = [task.result() for task in sending if task.done()]
        assert reasons == ["others wait, and it receives less than 1 MiB per second"]
        assert not sending[2].done()  # its caller has fewer than the other
        again = await enter(limits, "b")
        for _ in range(20):
            await asyncio.sleep(0)
        assert not again.done()
        for task in (*sending, again):
            task.cancel()

    asyncio.run(run())


def test_responses_that_are_fast_or_young_or_not_waited_for_are_not_cut_off() -> None:
    async def run() -> None:
        for slow_after, received, others in ((WAIT_SECONDS, 0, True), (0, 10**12, True), (0, 0, False)):
            limits = make_limits(max_large=1, check_seconds=0, slow_after_seconds=slow_after)
            response = await (await enter(limits, "a"))
            await response.deliver(asyncio.sleep(0), received, WAIT_SECONDS)
            sending = asyncio.create_task(send_until_cut_off(limits, response))
            waiting = [await enter(limits, "b")] if others else []
            for _ in range(50):
                await asyncio.sleep(0)
            assert not sending.done()
            for task in (sending, *waiting):
                task.cancel()

    asyncio.run(run())


def test_reading_the_pieces_is_not_time_of_the_client() -> None:
    async def run() -> None:
        response = LargeResponse("a")
        await response.deliver(asyncio.sleep(0.001), 0, WAIT_SECONDS)
        assert response.pace(0) == math.inf
        sending = asyncio.create_task(response.deliver(asyncio.Event().wait(), 1, WAIT_SECONDS))
        await asyncio.sleep(0)
        assert response.pace(0) == 0
        sending.cancel()

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
