"""Processor time of two functions in alternating rounds, so that disturbances affect both."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = ["TimingResult", "time_functions"]

MIN_TURN_SECONDS: Final = 0.02  #: least duration of a turn
WARM_UP_CALLS: Final = 300  #: before anything is timed, as code is generated for schemas that are used often


@dataclass(frozen=True, slots=True)
class TimingResult:
    """Microseconds per record of two functions, and how many times as fast ours is."""

    ours: float
    theirs: float
    ratio: float  #: the median of the rounds' ratios
    lowest: float  #: the lowest ratio of a round, without the lowest tenth


def time_functions(
    ours: Callable[[Any], Any], theirs: Callable[[Any], Any], arguments: Sequence[Any], rounds: int
) -> TimingResult:
    """Time two functions on the same arguments."""
    repetitions = [count_repetitions(call, arguments) for call in (ours, theirs)]
    seconds: list[tuple[float, float]] = []
    for turn in range(rounds):
        pair = [(ours, repetitions[0]), (theirs, repetitions[1])]
        durations = [_time_turn(call, arguments, times) for call, times in (pair if turn % 2 else reversed(pair))]
        seconds.append((durations[0], durations[1]) if turn % 2 else (durations[1], durations[0]))
    ratios = sorted(slow / fast for fast, slow in seconds)
    our_time, their_time = (statistics.median(column) * 1e6 for column in zip(*seconds, strict=True))
    return TimingResult(our_time, their_time, statistics.median(ratios), ratios[rounds // 10])


def count_repetitions(call: Callable[[Any], Any], arguments: Sequence[Any]) -> int:
    """Return how often all arguments are used in a turn, so that it is long enough to be measured."""
    _time_turn(call, arguments, 1 + WARM_UP_CALLS // len(arguments))
    return max(1, round(MIN_TURN_SECONDS / (_time_turn(call, arguments, 1) * len(arguments))))


def _time_turn(call: Callable[[Any], Any], arguments: Iterable[Any], times: int) -> float:
    began = time.process_time()
    number = 0
    for _ in range(times):
        for argument in arguments:
            call(argument)
            number += 1
    return (time.process_time() - began) / number
