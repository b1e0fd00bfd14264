"""Time windows in which records are counted: hours, or longer windows if there would be too many.

A window is the beginning of an ISO time in UTC: an hour ``2013-07-01T04``, a day ``2013-07-01``, a month ``2013-07`` or
a year ``2013``. All windows of a part of a topic have the same length: the shortest of which there are few enough.
Longer windows are never replaced by shorter ones, so the result does not depend on how a range was divided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final

__all__ = ["MAX_WINDOWS", "find_window_lengths", "parse_window"]

_HOUR: Final = len("2013-07-01T04")
_DAY: Final = len("2013-07-01")
_MONTH: Final = len("2013-07")
_YEAR: Final = len("2013")
_LONGER: Final = {_HOUR: _DAY, _DAY: _MONTH, _MONTH: _YEAR}
#: maximum number of windows of a part of a topic, counted for each partition
MAX_WINDOWS: Final = {_HOUR: 3_000, _DAY: 20_000, _MONTH: 20_000}


def find_window_lengths(windows: Iterable[tuple[str, str, int, str]]) -> Mapping[tuple[str, str], int]:
    """Return the length of a window's text for each topic and part.

    Args:
        windows: topic, part, partition and window of counts; an empty window stands for records without a time.
    """
    by_part: defaultdict[tuple[str, str], set[tuple[int, str]]] = defaultdict(set)
    for topic, part, partition, window in windows:
        if window:
            by_part[topic, part].add((partition, window))
    return {key: _find_length(part_windows) for key, part_windows in by_part.items()}


def _find_length(windows: set[tuple[int, str]]) -> int:
    length = min(len(window) for _, window in windows)
    while length in MAX_WINDOWS:
        if len({(partition, window[:length]) for partition, window in windows}) <= MAX_WINDOWS[length]:
            break
        length = _LONGER[length]
    return length


def parse_window(window: str) -> datetime:
    """Return the beginning of a window.

    >>> parse_window("2013-07-01T04"), parse_window("2013")
    (datetime.datetime(2013, 7, 1, 4, 0), datetime.datetime(2013, 1, 1, 0, 0))
    """
    return datetime.fromisoformat(window + "0000-01-01T00"[len(window) :])
