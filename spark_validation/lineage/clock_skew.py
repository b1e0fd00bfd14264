"""Correction of clocks that differ between topics, by the delays of rows that they share.

A pipeline delays each record at least a little and some records for long, so the delays from a source to its copy have
a sharp lower end and a long tail of high values. A difference between clocks moves all delays, but leaves this shape.
If the lower end is below zero, no clock was right: the source is moved back by as much. Topics that were copied from
the same source have no such shape between them, since each has late records of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from contractlog.spark_validation.lineage.copied_fields import Copies, TopicCopy
from contractlog.spark_validation.lineage.sample_arrays import Integers, SampledTopic

__all__ = ["DelayLimit", "estimate_clock_offsets", "move_times", "solve_offsets"]

MIN_ROWS: Final = 40  #: rows that two topics have in common
MAX_SKEW_MS: Final = 120_000  #: differences above this are no skew
UPPER: Final = 0.95  #: quantile of delays that is compared with the least delay
MIN_TAIL: Final = 3.0  #: minimum distance of the greatest delay from the median, in distances of the least delay

Words = npt.NDArray[np.uint64]

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIXER: Final = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT: Final = np.uint64(29)


@dataclass(frozen=True, slots=True)
class DelayLimit:
    """The least delay from a source to its copy, as their clocks have it."""

    source: str
    target: str
    delay_ms: int  #: below zero if the clock of the target is behind
    rows: int  #: number of rows that it was measured with


def estimate_clock_offsets(topics: Mapping[str, SampledTopic], copies: Copies) -> dict[str, int]:
    """Return the milliseconds to add to the times of topics whose clocks are ahead; others are left out.

    After that, no copy is earlier than its source. The result is empty if this holds anyway.

    Args:
        topics: topics by name.
        copies: copies in the order of times, in either direction.
    """
    limits: list[DelayLimit] = []
    for (a, b), copy in copies.items():
        if a < b or (b, a) not in copies:
            limits += _limit_delays(topics[a], topics[b], copy)
    return solve_offsets(sorted(limits, key=lambda limit: -limit.rows))


def _limit_delays(first: SampledTopic, second: SampledTopic, copy: TopicCopy) -> Iterator[DelayLimit]:
    """Yield the least delay from the source of two topics to its copy, whichever is the source.

    None is yielded if the delays do not show which topic is the source.
    """
    delays = _measure_delays(first, second, copy)
    if len(delays) < MIN_ROWS:
        return
    low, high = int(delays.min()), int(delays.max())
    if _has_late_rows(delays):
        yield DelayLimit(first.name, second.name, low, len(delays))
    if _has_late_rows(-delays):
        yield DelayLimit(second.name, first.name, -high, len(delays))


def move_times(topic: SampledTopic, offset_ms: int) -> SampledTopic:
    """Return a topic with the times of its records moved; values that are times are not."""
    fields = tuple(replace(field, times=field.times + offset_ms) for field in topic.fields)
    return replace(topic, fields=fields, times=topic.times + offset_ms)


def _has_late_rows(delays: Integers) -> bool:
    """Return whether the delays have a sharp lower end and a long tail of high values."""
    middle, upper = np.quantile(delays, [0.5, UPPER])
    least = middle - delays.min()
    return bool(0 < least <= upper - middle and delays.max() - middle >= MIN_TAIL * least)


def _measure_delays(first: SampledTopic, second: SampledTopic, copy: TopicCopy) -> Integers:
    """Return the delay of each row that both topics have once, by the values of all copied fields."""
    of_first = {field.name: index for index, field in enumerate(first.fields)}
    of_second = {field.name: index for index, field in enumerate(second.fields)}
    pairs = [(of_first[copied.source], of_second[field]) for field, copied in copy.fields.items()]
    sources, rows = _find_unique_rows(first, [f for f, _ in pairs])
    targets, other_rows = _find_unique_rows(second, [g for _, g in pairs])
    _, a, b = np.intersect1d(sources, targets, assume_unique=True, return_indices=True)
    return np.asarray(second.times[other_rows[b]] - first.times[rows[a]], np.int64)


def _find_unique_rows(topic: SampledTopic, fields: Sequence[int]) -> tuple[Words, Integers]:
    """Return a hash of some fields' values of each row that has no equal row, and the rows."""
    words = np.zeros(len(topic.cells), np.uint64)
    for field in fields:
        words = (words ^ (topic.cells[:, field].astype(np.uint64) + _GOLDEN)) * _MIXER
        words ^= words >> _SHIFT
    distinct, rows, counts = np.unique(words, return_index=True, return_counts=True)
    return distinct[counts == 1], rows[counts == 1]


def solve_offsets(limits: Sequence[DelayLimit]) -> dict[str, int]:
    """Return the least changes of clocks after which no limit is below zero.

    Limits that contradict earlier ones are left out.

    Args:
        limits: the limits, those that count most first.
    """
    close = [limit for limit in limits if abs(limit.delay_ms) <= MAX_SKEW_MS]
    if all(limit.delay_ms >= 0 for limit in close):
        return {}
    offsets = _relax(close)
    if offsets is not None:
        return offsets
    accepted: list[DelayLimit] = []
    offsets = {}
    for limit in close:
        changed = _relax([*accepted, limit])
        if changed is not None:
            accepted.append(limit)
            offsets = changed
    return offsets


def _relax(limits: Sequence[DelayLimit]) -> dict[str, int] | None:
    """Solve the differences by the algorithm of Bellman and Ford; None if they contradict each other."""
    names = sorted({name for limit in limits for name in (limit.source, limit.target)})
    numbers = {name: number for number, name in enumerate(names)}
    sources = np.array([numbers[limit.source] for limit in limits])
    targets = np.array([numbers[limit.target] for limit in limits])
    delays = np.array([limit.delay_ms for limit in limits], np.int64)
    offsets = np.zeros(len(names), np.int64)
    for _ in range(len(names) + 1):
        moved = offsets.copy()
        np.minimum.at(moved, sources, offsets[targets] + delays)
        if np.array_equal(moved, offsets):
            return {name: int(offset) for name, offset in zip(names, offsets, strict=True) if offset}
        offsets = moved
    return None
