"""Sans-I/O steps: generators that yield requests to a registry, run with a sync or an async source.

A generator yields a request, receives its response or exception, and returns its result. ``answered`` and ``awaited``
run it, so that sync and async serializers share all but the waiting.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

__all__ = ["Ask", "Steps", "answered", "ask", "awaited"]

T = TypeVar("T")

Ask: TypeAlias = Callable[[Any], Any]  #: given a source of schemas: its response, or an awaitable of it
Steps: TypeAlias = Generator[Ask, Any, T]


def ask(method: str, /, *args: Any, **kwargs: Any) -> Ask:
    """Return the request that calls a method of a source."""
    return lambda source: getattr(source, method)(*args, **kwargs)


def answered(steps: Steps[T], source: Any) -> T:
    """Run steps with a synchronous source."""
    try:
        question = next(steps)
        while True:
            try:
                answer = question(source)
            except Exception as error:  # noqa: BLE001 -- the generator decides whether it is fatal
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result


async def awaited(steps: Steps[T], source: Any) -> T:
    """Run steps with a source whose responses may have to be awaited."""
    try:
        question = next(steps)
        while True:
            try:
                answer = question(source)
                if inspect.isawaitable(answer):
                    answer = await answer
            except Exception as error:  # noqa: BLE001 -- the generator decides whether it is fatal
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result
