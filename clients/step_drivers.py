"""Drivers of generators that describe steps without I/O: calls of a sequence, attempts of a call.

A generator yields a step and is sent what came of it, or the error of performing it is thrown into it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from typing import TypeVar

__all__ = ["check_between_steps", "drive", "drive_async"]

S = TypeVar("S")
R = TypeVar("R")
T = TypeVar("T")


def drive(perform: Callable[[S], R], steps: Generator[S, R, T]) -> T:
    """Perform every step of a generator, and return its result."""
    try:
        step = next(steps)
        while True:
            try:
                outcome = perform(step)
            except Exception as error:  # noqa: BLE001 - the generator decides
                step = steps.throw(error)
            else:
                step = steps.send(outcome)
    except StopIteration as done:
        result: T = done.value
        return result


async def drive_async(perform: Callable[[S], Awaitable[R]], steps: Generator[S, R, T]) -> T:
    """Perform every step of a generator, and return its result."""
    try:
        step = next(steps)
        while True:
            try:
                outcome = await perform(step)
            except Exception as error:  # noqa: BLE001 - the generator decides
                step = steps.throw(error)
            else:
                step = steps.send(outcome)
    except StopIteration as done:
        result: T = done.value
        return result


def check_between_steps(steps: Generator[S, R, T], check: Callable[[], None]) -> Generator[S, R, T]:
    """Yield the steps of a generator, and return its result, unless a check after a step raises an error."""
    try:
        step = next(steps)
        while True:
            try:
                outcome = yield step
            except Exception as error:  # noqa: BLE001 - the generator decides
                step = steps.throw(error)
            else:
                check()
                step = steps.send(outcome)
    except StopIteration as done:
        result: T = done.value
        return result
