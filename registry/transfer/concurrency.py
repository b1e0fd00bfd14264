"""Concurrent tasks of which the first failure cancels the others and is raised unchanged."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any

__all__ = ["run_concurrently"]


async def run_concurrently(tasks: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Run all of them, and return when the last one is done.

    Raises:
        Exception: the error of the task that failed first, unchanged.
    """
    try:
        async with asyncio.TaskGroup() as group:
            for task in tasks:
                group.create_task(task)
    except BaseExceptionGroup as failed:
        error: BaseException = failed
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        raise error from None
