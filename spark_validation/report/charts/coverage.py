"""Coverage bars: one thin bar per partition, from its first to its last offset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from markupsafe import Markup

from contractlog.contracts.audit.report import PartitionCounts
from contractlog.spark_validation.report.charts.svg import document, element, text
from contractlog.spark_validation.report.formatters import format_count

__all__ = ["MAX_BARS", "OFFSET_KINDS", "draw_coverage"]

MAX_BARS: Final = 48
OffsetKind = Literal["conforming", "violating", "tombstones", "unaudited", "absent"]
OFFSET_KINDS: Final[Mapping[OffsetKind, str]] = MappingProxyType(
    {
        "conforming": "conforming",
        "violating": "violating",
        "tombstones": "tombstones",
        "unaudited": "not audited",
        "absent": "absent",
    }
)  #: labels by kind

_WIDTH: Final = 720
_LEFT: Final = 96
_RIGHT: Final = 8
_ROW: Final = 40
_SLIVER: Final = 3.0  #: minimum width in pixels, so that every kind that exists is visible


def draw_coverage(partitions: Sequence[PartitionCounts]) -> Markup:
    """Draw the kinds of offsets in each partition; bar lengths are relative to the longest range."""
    drawn = partitions[:MAX_BARS]
    longest = max((partition["to_offset"] - partition["from_offset"] for partition in drawn), default=0) or 1
    rows = [_draw_bar(partition, index * _ROW, longest) for index, partition in enumerate(drawn)]
    title = f"Offsets of {'the partition' if len(partitions) == 1 else 'each partition'} by kind"
    return document(title, *rows, width=_WIDTH, height=len(drawn) * _ROW + 4)


def _draw_bar(partition: PartitionCounts, top: float, longest: int) -> Markup:
    full = _WIDTH - _LEFT - _RIGHT
    span = partition["to_offset"] - partition["from_offset"]
    pieces = [
        text(f"partition {partition['partition']}", x=0, y=top + 13),
        text(
            f"offsets {format_count(partition['from_offset'])} to {format_count(partition['to_offset'])}",
            x=_LEFT,
            y=top + 34,
            class_="note",
        ),
    ]
    x = float(_LEFT)
    counts: dict[OffsetKind, int] = {kind: partition[kind] for kind in OFFSET_KINDS}
    for kind, width in _widths(counts, full / longest).items():
        title = element("title", f"{OFFSET_KINDS[kind]}: {format_count(counts[kind])} of {format_count(span)}")
        pieces.append(element("rect", title, class_=f"is-{kind}", x=x, y=top + 2, width=width, height=16))
        x += width
    if not span:
        pieces.append(element("line", class_="axis", x1=_LEFT, y1=top + 10, x2=_LEFT + 24, y2=top + 10))
    return element("g", *pieces)


def _widths(counts: Mapping[OffsetKind, int], scale: float) -> dict[OffsetKind, float]:
    """Return the drawn width of each kind; the widest gives up what slivers take beyond their share."""
    exact = {kind: offsets * scale for kind, offsets in counts.items() if offsets}
    widths = {kind: max(_SLIVER, width) for kind, width in exact.items()}
    if widths:
        widest = max(widths, key=widths.__getitem__)
        widths[widest] = max(_SLIVER, widths[widest] - (sum(widths.values()) - sum(exact.values())))
    return widths
