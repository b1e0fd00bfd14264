"""Decisions that need answers of a registry, apart from how one waits for the answers.

A decision is a generator: it yields what is to be asked, is sent the answer, or thrown the error, and returns its
result. ``answered`` and ``awaited`` are the two ways to go through one, so that sync and async serializers share all
but the waiting.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator
from typing import Any, TypeAlias, TypeVar

__all__ = ["Ask", "Steps", "answered", "ask", "awaited"]

T = TypeVar("T")

Ask: TypeAlias = Callable[[Any], Any]  #: given a source of schemas: its answer, or an awaitable of it
Steps: TypeAlias = Generator[Ask, Any, T]


def ask(method: str, /, *args: Any, **kwargs: Any) -> Ask:
    """Ask a source by one of its methods."""
    return lambda source: getattr(source, method)(*args, **kwargs)


def answered(steps: Steps[T], source: Any) -> T:
    """Go through a decision with a source that answers at once."""
    try:
        question = next(steps)
        while True:
            try:
                answer = question(source)
            except Exception as error:  # noqa: BLE001 -- whether it is the end is the decision's to say
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result


async def awaited(steps: Steps[T], source: Any) -> T:
    """Go through a decision with a source whose answers may have to be awaited."""
    try:
        question = next(steps)
        while True:
            try:
                answer = question(source)
                if inspect.isawaitable(answer):
                    answer = await answer
            except Exception as error:  # noqa: BLE001 -- whether it is the end is the decision's to say
                question = steps.throw(error)
            else:
                question = steps.send(answer)
    except StopIteration as done:
        result: T = done.value
        return result
