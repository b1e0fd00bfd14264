"""Work that may wait for I/O, as generators that a sync or an async driver runs.

A generator yields a call that may block, receives its result or exception, and returns its own result. All else runs
within the generator. So sync and async serializers share the execution of rules, and no event loop is blocked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from contractlog.clients.step_drivers import drive, drive_async

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
    return drive(_perform, work)


async def run_work_async(work: Work[T]) -> T:
    """Run work, with its blocking calls in other threads."""
    return await drive_async(asyncio.to_thread, work)


def _perform(blocking_call: BlockingCall) -> Any:
    return blocking_call()
