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

from contractlog.contracts.audit.report import SeriesPoint

__all__ = ["MAX_WINDOWS", "find_window_lengths", "merge_to_days", "parse_window"]

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


def merge_to_days(series: Iterable[SeriesPoint]) -> list[SeriesPoint]:
    """Add up the counts of hours by day; longer windows stay.

    >>> hour = {"schema_id": 1, "records": 2, "violating": 1}
    >>> merge_to_days([{"window": "2013-07-01T04", **hour}, {"window": "2013-07-01T05", **hour}])
    [{'window': '2013-07-01', 'schema_id': 1, 'records': 4, 'violating': 2}]
    """
    days: dict[tuple[str, int | None], SeriesPoint] = {}
    for point in series:
        window, schema_id = point["window"][:_DAY], point["schema_id"]
        day = days.setdefault(
            (window, schema_id), {"window": window, "schema_id": schema_id, "records": 0, "violating": 0}
        )
        day["records"] += point["records"]
        day["violating"] += point["violating"]
    return list(days.values())
