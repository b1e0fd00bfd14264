"""Version timeline and conformance strip in one picture: records and violations per version over time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from markupsafe import Markup

from contractlog.contracts.audit.report import THRESHOLD, SchemaUse, SeriesPoint
from contractlog.contracts.audit.windows import parse_window
from contractlog.spark_validation.report.charts.svg import document, element, text
from contractlog.spark_validation.report.formatters import format_share, shorten_middle

__all__ = ["OTHER_IDS", "TimeBins", "bin_series", "draw_timeline", "schema_label"]

OTHER_IDS: Final = -1  #: represents all ids of no known version

MAX_BINS: Final = 110
MAX_ROWS: Final = 12

_WIDTH: Final = 720
_LEFT: Final = 132
_ROW: Final = 56
_BAR: Final = 36
_STRIP: Final = 6
_HOUR: Final = len("2013-07-01T04")
_DAY: Final = 24
_SHORT_BINS: Final = (1, 2, 3, 6, 12)  #: hours; bins that divide a day
_LABEL_EVERY: Final = 90  #: minimum distance of time labels in pixels


@dataclass(frozen=True, slots=True)
class TimeBins:
    """Records and violations per schema id (0: none, -1: all ids of no known version) and time bin."""

    starts: tuple[datetime, ...]
    hours: int  #: length of a bin; a multiple of 24 unless it divides a day
    records: Mapping[int, tuple[int, ...]]
    violating: Mapping[int, tuple[int, ...]]


def bin_series(series: Sequence[SeriesPoint], versions: Collection[int]) -> TimeBins | None:
    """Sum the windows of a series into at most ``MAX_BINS`` bins; None if no record has a time.

    Args:
        series: records per window and schema id.
        versions: ids with separate counts; all others are summed under ``OTHER_IDS``.
    """
    points = [(parse_window(point["window"]), point) for point in series if point["window"]]
    if not points:
        return None
    first, last = min(at for at, _ in points), max(at for at, _ in points)
    hourly = all(len(point["window"]) == _HOUR for _, point in points)
    first, hours = _choose_bins(first, last, hourly=hourly)
    size = _hours_between(first, last) // hours + 1
    records: dict[int, list[int]] = defaultdict(lambda: [0] * size)
    violating: dict[int, list[int]] = defaultdict(lambda: [0] * size)
    for at, point in points:
        index, named = _hours_between(first, at) // hours, point["schema_id"] or 0
        schema_id = named if named in versions or not named else OTHER_IDS
        records[schema_id][index] += point["records"]
        violating[schema_id][index] += point["violating"]
    return TimeBins(
        tuple(first + timedelta(hours=hours * index) for index in range(size)),
        hours,
        {schema_id: tuple(numbers) for schema_id, numbers in sorted(records.items())},
        {schema_id: tuple(numbers) for schema_id, numbers in sorted(violating.items())},
    )


def _choose_bins(first: datetime, last: datetime, *, hourly: bool) -> tuple[datetime, int]:
    """Return the start of the first bin, and the length of bins in hours."""
    midnight = first.replace(hour=0)
    for hours in _SHORT_BINS if hourly else ():
        start = midnight + timedelta(hours=first.hour // hours * hours)
        if _hours_between(start, last) // hours < MAX_BINS:
            return start, hours
    days = (last - midnight).days + 1
    return midnight, _DAY * -(-days // MAX_BINS)


def _hours_between(first: datetime, last: datetime) -> int:
    return (last - first) // timedelta(hours=1)


def schema_label(schema_id: int, uses: Mapping[int, SchemaUse]) -> str:
    """Return the label of a schema: its version, and the id that records carry."""
    if schema_id == OTHER_IDS:
        return "other ids"
    if not schema_id:
        return "no schema id"
    use = uses.get(schema_id)
    if use is None or not use["version"]:
        return f"id {schema_id}"
    subjects = {expected_use["subject"] for expected_use in uses.values() if expected_use["expected"]}
    if use["expected"] and len(subjects) == 1:
        return f"version {use['version']} (id {schema_id})"
    return f"{(use['subject'] or '').rpartition('.')[2]} v{use['version']} (id {schema_id})"


def draw_timeline(bins: TimeBins, uses: Mapping[int, SchemaUse], *, threshold: float = THRESHOLD) -> Markup:
    """Draw one row per schema id, ascending: bars for records, a strip below for the violating share.

    Only the ``MAX_ROWS`` ids with the most records are drawn; ids 0 and -1 come last. A bin below the threshold is
    drawn as failing, other bins with violations as degraded.
    """
    order = sorted(bins.records, key=lambda schema_id: -sum(bins.records[schema_id]))[:MAX_ROWS]
    order.sort(key=lambda schema_id: (schema_id <= 0, schema_id))
    highest = max((max(bins.records[schema_id]) for schema_id in order), default=1) or 1
    rows = [
        _draw_row(bins, schema_id, uses, index * _ROW, highest=highest, threshold=threshold)
        for index, schema_id in enumerate(order)
    ]
    axis = _draw_time_axis(bins, len(order) * _ROW + 16)
    unit = _format_length(bins.hours)
    title = f"Records per schema version and {unit}; the strip below each row marks where records violate"
    return document(title, *rows, axis, width=_WIDTH, height=len(order) * _ROW + 24)


def _draw_row(
    bins: TimeBins, schema_id: int, uses: Mapping[int, SchemaUse], top: float, *, highest: int, threshold: float
) -> Markup:
    step = (_WIDTH - _LEFT) / len(bins.starts)
    base = top + _BAR + 2
    pieces = [
        text(shorten_middle(schema_label(schema_id, uses), 20), x=0, y=top + 24),
        element("line", class_="axis", x1=_LEFT, y1=base, x2=_WIDTH, y2=base),
    ]
    for index, (records, violating) in enumerate(zip(bins.records[schema_id], bins.violating[schema_id], strict=True)):
        if not records:
            continue
        x, width = _LEFT + index * step, max(step - 1, 0.6)
        height = max(1.0, _BAR * records / highest)
        title = element("title", f"{_format_start(bins, index)}: {format_share(violating, records)} violate")
        bar = element("rect", class_="is-records", x=x, y=base - height, width=width, height=height)
        strip = element(
            "rect", class_=_shade(records, violating, threshold), x=x, y=base + 2, width=width, height=_STRIP
        )
        pieces.append(element("g", title, bar, strip))
    return element("g", *pieces)


def _format_start(bins: TimeBins, index: int) -> str:
    start = bins.starts[index]
    return start.date().isoformat() if bins.hours >= _DAY else f"{start:%Y-%m-%d %H:%M} UTC"


def _format_length(hours: int) -> str:
    number, unit = (hours, "hour") if hours < _DAY else (hours // _DAY, "day")
    return unit if number == 1 else f"{number} {unit}s"


def _shade(records: int, violating: int, threshold: float) -> str:
    if not violating:
        return "is-passing"
    return "is-degraded" if 1 - violating / records >= threshold else "is-failing"


def _draw_time_axis(bins: TimeBins, y: float) -> Markup:
    step = (_WIDTH - _LEFT) / len(bins.starts)
    every = max(1, round(_LABEL_EVERY / step))
    labels = [
        text(
            f"{start.day} {start:%b %Y}" if bins.hours >= _DAY else f"{start.day} {start:%b %H:%M}",
            x=_LEFT + index * step,
            y=y,
            class_="note",
        )
        for index, start in enumerate(bins.starts)
        if index % every == 0 and _LEFT + index * step < _WIDTH - _LABEL_EVERY * 0.7
    ]
    return element("g", *labels) if labels else element("g")
