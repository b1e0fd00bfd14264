"""Requests to a source of schemas, yielded by generators that a sync or an async driver runs.

A generator yields a request, receives its response or exception, and returns its result. ``run_sync`` and ``run_async``
run it, so that sync and async serializers share all but the waiting.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

from contractlog.clients.step_drivers import drive, drive_async

__all__ = ["SourceRequest", "Steps", "request", "run_async", "run_sync"]

T = TypeVar("T")

SourceRequest: TypeAlias = Callable[[Any], Any]  #: given a source of schemas: its response, or an awaitable of it
Steps: TypeAlias = Generator[SourceRequest, Any, T]


def request(method: str, /, *args: Any, **kwargs: Any) -> SourceRequest:
    """Return the request that calls a method of a source."""
    return lambda source: getattr(source, method)(*args, **kwargs)


def run_sync(steps: Steps[T], source: Any) -> T:
    """Run steps with a synchronous source."""
    return drive(lambda source_request: source_request(source), steps)


async def run_async(steps: Steps[T], source: Any) -> T:
    """Run steps with a source whose responses may have to be awaited."""

    async def respond(source_request: SourceRequest) -> Any:
        response = source_request(source)
        return await response if inspect.isawaitable(response) else response

    return await drive_async(respond, steps)
