"""Processor time of two functions in alternating rounds, so that disturbances affect both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["Timed", "timed"]

LEAST_SECONDS: Final = 0.02  #: least duration of a turn
WARM_CALLS: Final = 300  #: before anything is timed, as code is generated for schemas that are used often


@dataclass(frozen=True, slots=True)
class Timed:
    """Microseconds per record of two functions, and how many times as fast ours is."""

    ours: float
    theirs: float
    ratio: float  #: the median of the rounds' ratios
    lowest: float  #: the lowest ratio of a round, without the lowest tenth


def timed(ours: Callable[[Any], Any], theirs: Callable[[Any], Any], arguments: Sequence[Any], rounds: int) -> Timed:
    """Time two functions on the same arguments."""
    often = [_often(call, arguments) for call in (ours, theirs)]
    seconds: list[tuple[float, float]] = []
    for turn in range(rounds):
        pair = [(ours, often[0]), (theirs, often[1])]
        took = [_turn(call, arguments, times) for call, times in (pair if turn % 2 else reversed(pair))]
        seconds.append((took[0], took[1]) if turn % 2 else (took[1], took[0]))
    ratios = sorted(slow / fast for fast, slow in seconds)
    own, other = (statistics.median(column) * 1e6 for column in zip(*seconds, strict=True))
    return Timed(own, other, statistics.median(ratios), ratios[rounds // 10])


def _often(call: Callable[[Any], Any], arguments: Sequence[Any]) -> int:
    """Return how often all arguments are used in a turn, so that it is long enough to be measured."""
    _turn(call, arguments, 1 + WARM_CALLS // len(arguments))
    return max(1, round(LEAST_SECONDS / (_turn(call, arguments, 1) * len(arguments))))


def _turn(call: Callable[[Any], Any], arguments: Iterable[Any], times: int) -> float:
    began = time.process_time()
    number = 0
    for _ in range(times):
        for argument in arguments:
            call(argument)
            number += 1
    return (time.process_time() - began) / number
