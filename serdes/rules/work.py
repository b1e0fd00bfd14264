"""Work that may wait for I/O, as generators that a sync or an async driver runs.

A generator yields a call that may block, receives its result or exception, and returns its own result. All else runs
within the generator. So sync and async serializers share the execution of rules, and no event loop is blocked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

__all__ = ["BlockingCall", "Work", "call", "run_work", "run_work_async"]

T = TypeVar("T")

BlockingCall: TypeAlias = Callable[[], Any]
Work: TypeAlias = Generator[BlockingCall, Any, T]


def call(owner: Any, function: Callable[..., Any], *args: Any) -> Work[Any]:
    """Call a function of an executor or action, which may block if its owner says so."""
    if getattr(owner, "may_block", False):
        return (yield lambda: function(*args))
    return function(*args)


def run_work(work: Work[T]) -> T:
    """Run work, with its blocking calls in this thread."""
    try:
        blocking_call = next(work)
        while True:
            try:
                result = blocking_call()
            except Exception as error:  # noqa: BLE001 -- the generator decides whether it is fatal
                blocking_call = work.throw(error)
            else:
                blocking_call = work.send(result)
    except StopIteration as done:
        value: T = done.value
        return value


async def run_work_async(work: Work[T]) -> T:
    """Run work, with its blocking calls in other threads."""
    try:
        blocking_call = next(work)
        while True:
            try:
                result = await asyncio.to_thread(blocking_call)
            except Exception as error:  # noqa: BLE001 -- the generator decides whether it is fatal
                blocking_call = work.throw(error)
            else:
                blocking_call = work.send(result)
    except StopIteration as done:
        value: T = done.value
        return value
