"""Lineage graph: topics from left to right, edges as thick as their support."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log10
from typing import Final

from markupsafe import Markup

from contractlog.contracts.lineage.edges import LineageEdge, is_directed, is_traced
from contractlog.spark_validation.report.charts.svg import document, element, text
from contractlog.spark_validation.report.formatters import format_plural, shorten_middle

__all__ = ["draw_lineage"]

_WIDTH: Final = 720
_BOX: Final = 196
_BOX_HEIGHT: Final = 32
_ROW: Final = 56
_MAX_TOPICS: Final = 60


def draw_lineage(edges: Sequence[LineageEdge]) -> Markup | None:
    """Draw the lineage between topics; None if there is none, or too many topics for a picture."""
    fields: dict[tuple[str, str], list[LineageEdge]] = defaultdict(list)
    for edge in edges:
        fields[edge["from"]["topic"], edge["to"]["topic"]].append(edge)
    columns = _columns(fields)
    if not columns or len(columns) > _MAX_TOPICS:
        return None
    positions = _positions(columns)
    drawn = [
        _draw_edge(positions[source], positions[target], field_edges)
        for (source, target), field_edges in sorted(fields.items())
    ]
    boxes = [_draw_box(topic, *position) for topic, position in positions.items()]
    height = max(y for _, y in positions.values()) + _ROW
    return document("Lineage between topics", *drawn, *boxes, width=_WIDTH, height=height)


def _columns(pairs: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Assign columns so that every topic is right of its sources; with cycles, the columns are limited."""
    edges = sorted(pairs)
    column = {topic: 0 for pair in edges for topic in pair}
    for _ in column:
        moved = False
        for source, target in edges:
            if column[target] <= column[source] < len(column):
                column[target] = column[source] + 1
                moved = True
        if not moved:
            break
    return column


def _positions(columns: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    last = max(columns.values()) or 1
    rows: dict[int, int] = defaultdict(int)
    positions = {}
    for topic, column in sorted(columns.items(), key=lambda item: (item[1], item[0])):
        positions[topic] = ((_WIDTH - _BOX) * column / last, 12.0 + rows[column] * _ROW)
        rows[column] += 1
    return positions


def _draw_box(topic: str, x: float, y: float) -> Markup:
    return element(
        "g",
        element("title", topic),
        element("rect", class_="box", x=x, y=y, width=_BOX, height=_BOX_HEIGHT),
        text(shorten_middle(topic, 26), x=x + 10, y=y + 21),
    )


def _draw_edge(source: tuple[float, float], target: tuple[float, float], edges: Sequence[LineageEdge]) -> Markup:
    x1, y1 = source[0] + _BOX, source[1] + _BOX_HEIGHT / 2
    x2, y2 = target[0], target[1] + _BOX_HEIGHT / 2
    middle = (x1 + x2) / 2
    support = max(edge["support"] for edge in edges)
    width = 1.5 + log10(max(support, 1))
    direction = "" if any(map(is_directed, edges)) else ", direction unknown"
    fields = sum(not is_traced(edge) for edge in edges)
    label = format_plural(fields, "field") if fields else "traced"  # short, since it is between boxes
    traced = ", traced in headers" if fields < len(edges) else ""
    return element(
        "g",
        element("title", f"{format_plural(fields, 'field')}{traced}, support up to {support:,}{direction}"),
        element(
            "path",
            class_="edge",
            d=f"M{x1:.0f} {y1:.0f} C{middle:.0f} {y1:.0f} {middle:.0f} {y2:.0f} {x2:.0f} {y2:.0f}",
            stroke_width=width,
            **({"stroke_dasharray": "6 4"} if direction else {}),
        ),
        text(label, x=middle, y=(y1 + y2) / 2 - 7, class_="note", anchor="middle"),
    )
