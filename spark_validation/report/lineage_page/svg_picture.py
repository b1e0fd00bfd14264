"""SVG of a view, as the page shows it before and without its script.

``lineage.js`` draws the same from the same data after each change; a browser test compares both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from markupsafe import Markup

from contractlog.spark_validation.report.charts.svg import element, text
from contractlog.spark_validation.report.formatters import format_count, format_plural
from contractlog.spark_validation.report.lineage_page.edge_sentences import describe_link
from contractlog.spark_validation.report.lineage_page.layers import Edge
from contractlog.spark_validation.report.lineage_page.layout import (
    HEADER_HEIGHT,
    LineageView,
    Place,
    Segment,
    place_boxes,
)
from contractlog.spark_validation.report.lineage_page.topic_graph import TopicLink

__all__ = ["ARROW_LENGTH", "PARALLEL_GAP", "PORT_GAP", "PORT_MARGIN", "draw_view"]

ARROW_LENGTH: Final = 10.0
PARALLEL_GAP: Final = 8.0  #: between lines of the same two boxes
PORT_GAP: Final = 7.0  #: between the ends of lines at a box
PORT_MARGIN: Final = 12.0  #: of its side, without ends
_LABEL_INDENT: Final = 10.0
_MARGIN: Final = 16.0


class _Drawing:
    """A view with some groups open."""

    def __init__(self, view: LineageView, opened: Collection[str]) -> None:
        self.view = view
        self.opened = opened
        self.places, self.bends = place_boxes(view, opened)
        self.owners = {topic: key for key, group in view.groups.items() for topic in group.places}
        self.routes = {
            edge: [self.bends[key] for key in route]
            for shelf in view.shelves
            for component in shelf
            for edge, route in component.routes.items()
        }

    def find_visible(self, topic: str) -> str:
        """Return the box that shows a topic: its own, or that of its closed group."""
        owner = self.owners.get(topic)
        return topic if owner is None or owner in self.opened else owner

    def trace(self, source: str, target: str) -> tuple[list[Segment], bool]:
        """Return the horizontal parts of a link from left to right, and whether it runs that way."""
        owners = self.owners.get(source, source), self.owners.get(target, target)
        if owners[0] == owners[1]:
            group = self.view.groups[owners[0]]
            forward = (source, target) in group.routes
            left, right = (source, target) if forward else (target, source)
            middle = self._shift(owners[0], group.routes[left, right])
        else:
            forward = owners in self.routes
            left, right = (source, target) if forward else (target, source)
            ends = owners if forward else (owners[1], owners[0])
            middle = [*self._inside(left, ends[0], 1), *self.routes[ends], *self._inside(right, ends[1], 0)]
        start, end = self.places[self.find_visible(left)], self.places[self.find_visible(right)]
        x, y = start.x + start.width, start.y + start.height / 2
        return [(x, y, x), *middle, (end.x, end.y + end.height / 2, end.x)], forward

    def _inside(self, topic: str, owner: str, side: int) -> list[Segment]:
        if owner not in self.opened:
            return []
        group = self.view.groups[owner]
        return self._shift(owner, (group.entries, group.exits)[side][topic])

    def _shift(self, owner: str, segments: Sequence[Segment]) -> list[Segment]:
        corner = self.places[owner]
        return [(corner.x + left, corner.y + y, corner.x + right) for left, y, right in segments]


def draw_view(
    view: LineageView, links: Sequence[TopicLink], ids: Mapping[str, str], opened: Collection[str]
) -> tuple[Markup, tuple[float, float, float, float]]:
    """Return the elements of a view, and its bounds: x, y, width, height."""
    drawing = _Drawing(view, opened)
    names = {id_: name for name, id_ in ids.items()}
    frames = [_draw_frame(drawing, key) for key in view.groups if key in opened]
    lines = [Markup("").join(_draw_links(drawing, links, ids))]
    boxes = [
        _draw_group(drawing, key, links, ids) if key in view.groups else _draw_topic(drawing, key, names[key])
        for key in drawing.places
        if key not in opened
    ]
    right = max((each.x + each.width for each in drawing.places.values()), default=0.0)
    bottom = max((each.y + each.height for each in drawing.places.values()), default=0.0)
    bounds = (-_MARGIN, -_MARGIN, right + 2 * _MARGIN, bottom + 2 * _MARGIN)
    return Markup("").join([*frames, *lines, *boxes]), bounds


def _draw_frame(drawing: _Drawing, key: str) -> Markup:
    corner = drawing.places[key]
    group = drawing.view.groups[key]
    return element(
        "g",
        _draw_rect(corner),
        text(f"\N{MINUS SIGN} {group.label}", x=_LABEL_INDENT, y=HEADER_HEIGHT / 2 + 4, class_="name"),
        class_="frame",
        data_key=key,
        transform=_move_to(corner),
    )


def _draw_group(drawing: _Drawing, key: str, links: Sequence[TopicLink], ids: Mapping[str, str]) -> Markup:
    corner = drawing.places[key]
    group = drawing.view.groups[key]
    inside = sum(drawing.owners.get(ids[link.source]) == key == drawing.owners.get(ids[link.target]) for link in links)
    note = f"{format_plural(len(group.places), 'topic')}, {format_plural(inside, 'link')}"
    return element(
        "g",
        _draw_rect(corner),
        text(f"+ {group.label}", x=_LABEL_INDENT, y=20.0, class_="name"),
        text(note, x=_LABEL_INDENT, y=37.0, class_="note"),
        class_="group",
        data_key=key,
        transform=_move_to(corner),
    )


def _draw_topic(drawing: _Drawing, key: str, name: str) -> Markup:
    corner = drawing.places[key]
    return element(
        "g",
        element("title", name),
        _draw_rect(corner),
        text(drawing.view.boxes[key].label, x=_LABEL_INDENT, y=corner.height / 2 + 4, class_="name"),
        class_="topic",
        data_key=key,
        transform=_move_to(corner),
    )


def _draw_rect(corner: Place) -> Markup:
    return element("rect", width=corner.width, height=corner.height, rx=4)


def _move_to(corner: Place) -> str:
    return f"translate({corner.x:.1f} {corner.y:.1f})"


def _draw_links(drawing: _Drawing, links: Sequence[TopicLink], ids: Mapping[str, str]) -> Iterator[Markup]:
    lines: dict[tuple[Edge, str, bool], _Line] = {}
    for link in links:
        source, target = ids[link.source], ids[link.target]
        visible = drawing.find_visible(source), drawing.find_visible(target)
        if visible[0] != visible[1]:
            key = visible, link.evidence, link.directed
            if key not in lines:
                lines[key] = _Line(visible, *drawing.trace(source, target))
            lines[key].links.append(link)
    _spread_lines(list(lines.values()), drawing.places)
    for (_, evidence, directed), line in lines.items():
        number = len(line.links)
        title = describe_link(line.links[0]) if number == 1 else f"{format_count(number)} links of topics"
        yield element(
            "g",
            element("title", title),
            element(
                "path",
                class_=f"line {evidence}",
                d=draw_path(line.segments, forward=line.forward, directed=directed),
                stroke_width=max(link.width for link in line.links),
                **({"marker_end": "url(#arrow)"} if directed else {}),
            ),
            class_="link" if directed else "link undirected",
        )


@dataclass(slots=True)
class _Line:
    """Links that are drawn as one line."""

    ends: Edge
    segments: list[Segment]  #: from left to right
    forward: bool
    links: list[TopicLink] = field(default_factory=list)


def _spread_lines(lines: Sequence[_Line], places: Mapping[str, Place]) -> None:
    """Move lines of the same two boxes apart, and the ends of all lines along the sides of their boxes."""
    parallel: dict[frozenset[str], list[_Line]] = defaultdict(list)
    sides: dict[tuple[str, bool], list[_Line]] = defaultdict(list)
    for line in lines:
        parallel[frozenset(line.ends)].append(line)
        left, right = line.ends if line.forward else (line.ends[1], line.ends[0])
        sides[left, True].append(line)
        sides[right, False].append(line)
    for group in parallel.values():
        for position, line in enumerate(group):
            shift = (position - (len(group) - 1) / 2) * PARALLEL_GAP
            line.segments[1:-1] = [(left, y + shift, right) for left, y, right in line.segments[1:-1]]
    for (box, is_start), group in sides.items():
        own, beside = (0, 1) if is_start else (-1, -2)
        group.sort(key=lambda line: line.segments[beside][1])
        gap = min(PORT_GAP, (places[box].height - PORT_MARGIN) / max(1, len(group) - 1))
        middle = places[box].y + places[box].height / 2
        ends = [middle + (position - (len(group) - 1) / 2) * gap for position in range(len(group))]
        for line, y in zip(group, ends, strict=True):
            line.segments[own] = (line.segments[own][0], y, line.segments[own][2])


def draw_path(segments: Sequence[Segment], *, forward: bool, directed: bool) -> str:
    """Return the data of a path along horizontal segments, which are joined by curves.

    >>> draw_path([(0, 0, 0), (100, 40, 100)], forward=True, directed=False)
    'M0.0 0.0C50.0 0.0 50.0 40.0 100.0 40.0'
    """
    way = list(segments)
    if not forward:
        way = [(right, y, left) for left, y, right in reversed(way)]
    if directed:  # the arrow head fills the rest of the way
        left, y, right = way[-1]
        way[-1] = (left + (-ARROW_LENGTH if forward else ARROW_LENGTH), y, right)
    x, y, _ = way[0]
    drawn = [f"M{x:.1f} {y:.1f}"]
    x = way[0][2]
    for left, next_y, right in way[1:]:
        middle = (x + left) / 2
        drawn.append(f"C{middle:.1f} {y:.1f} {middle:.1f} {next_y:.1f} {left:.1f} {next_y:.1f}")
        x, y = left, next_y
        if right != left and (left, next_y, right) != way[-1]:
            drawn.append(f"H{right:.1f}")
            x = right
    return "".join(drawn)
