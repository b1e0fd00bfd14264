"""Slots of a fair queue go to callers in turn, and none has more than its share of them."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from contractlog.compatibility.errors import Overloaded
from contractlog.registry.execution.fair_queue import FairQueue


def wait(queue: FairQueue, caller: str) -> Future[None]:
    slot = queue.enter(caller)
    assert slot is not None
    return slot


def test_slots_go_to_callers_in_turn() -> None:
    queue = FairQueue(1, max_waiting=5)
    assert queue.enter("many") is None
    served: list[str] = []
    slots = []
    for caller in ("many", "many", "many", "some", "other"):
        slots.append(wait(queue, caller))
        slots[-1].add_done_callback(lambda _, caller=caller: served.append(caller))  # type: ignore[misc]
    assert queue.withdraw("many", slots[1])
    for caller in ("many", "many", "some", "other"):
        queue.leave(caller)
    assert served == ["many", "some", "other", "many"]
    queue.leave("many")
    assert queue.enter("again") is None


def test_a_caller_has_no_more_than_its_share_while_others_find_a_slot() -> None:
    queue = FairQueue(4, max_waiting=99, max_per_caller=2)
    assert [queue.enter("many"), queue.enter("many")] == [None, None]
    waiting = [wait(queue, "many") for _ in range(3)]
    assert queue.enter("other") is None
    queue.leave("other")
    assert not any(slot.done() for slot in waiting)
    queue.leave("many")
    assert [slot.done() for slot in waiting] == [True, False, False]


def test_a_full_queue_makes_room_at_the_cost_of_the_caller_with_the_most() -> None:
    queue = FairQueue(1, max_waiting=3)
    assert queue.enter("many") is None
    waiting = [wait(queue, "many") for _ in range(3)]
    with pytest.raises(Overloaded):
        queue.enter("many")
    first = wait(queue, "other")
    assert isinstance(waiting[2].exception(0), Overloaded)
    with pytest.raises(Overloaded):
        queue.enter("other")  # it would have as many as the other one
    queue.leave("many")
    queue.leave("many")
    assert waiting[0].done()
    assert first.done()


def test_a_request_that_was_granted_a_slot_does_not_wait_any_more() -> None:
    queue = FairQueue(1, max_waiting=3)
    assert queue.enter("a") is None
    slot = wait(queue, "b")
    queue.leave("a")
    assert not queue.withdraw("b", slot)
