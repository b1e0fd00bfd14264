"""Layout of a graph of topics: groups as boxes that open, and inside an open group its topics.

A view has shelves of connected components; a component has columns, a column slots with gaps. Where a box is follows
from the sizes of the boxes left of and above it alone, so that the page's script can open and close groups with the
same few sums as ``place_boxes``, and boxes never overlap.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from contractlog.spark_validation.report.lineage_page.box_labels import measure_label, shorten_label
from contractlog.spark_validation.report.lineage_page.layers import (
    Edge,
    LayeredGraph,
    arrange_components,
    orient_edges,
)
from contractlog.spark_validation.report.lineage_page.topic_groups import TopicGroup

__all__ = [
    "BOX_HEIGHT",
    "COLUMN_GAP",
    "GROUP_HEIGHT",
    "HEADER_HEIGHT",
    "SHELF_GAP",
    "Box",
    "GroupBox",
    "LineageView",
    "Place",
    "lay_out",
    "list_links",
    "place_boxes",
]

BOX_HEIGHT: Final = 30.0
GROUP_HEIGHT: Final = 48.0  #: of a closed group
HEADER_HEIGHT: Final = 34.0  #: of an open group
COLUMN_GAP: Final = 64.0
SHELF_GAP: Final = 36.0
_INNER_GAP: Final = 56.0  #: between the columns in a group
_PADDING: Final = 16.0
_STACK_GAP: Final = 16.0  #: between the components in a group
_MIN_WIDTH: Final = 96.0
_LABEL_SPACE: Final = 20.0  #: left and right of a label
_NOTE_LETTER: Final = 6.4  #: width of a letter or digit of a font of 11 pixels
_PROPORTION: Final = 2.0  #: width of a screen's part for the picture by its height
_WIDTHS: Final = 16  #: widths of shelves that are tried

_Sized = tuple[LayeredGraph, float, float]  #: a component with its width and height
Segment = tuple[float, float, float]  #: of an edge, horizontal: from x, at y, to x


class Place(NamedTuple):
    """Rectangle of a box in the picture."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Box:
    """A topic in a picture."""

    width: float
    label: str


@dataclass(slots=True)
class GroupBox:
    """A group: its closed box, and the picture in it when it is open."""

    label: str
    closed_width: float
    width: float = 0.0
    height: float = 0.0
    places: dict[str, Place] = field(default_factory=dict)  #: of its topics, in the group
    routes: dict[Edge, list[Segment]] = field(default_factory=dict)  #: between its topics, from left to right
    entries: dict[str, list[Segment]] = field(default_factory=dict)  #: from the left border to a topic
    exits: dict[str, list[Segment]] = field(default_factory=dict)  #: from a topic to the right border


@dataclass(slots=True)
class LineageView:
    """A picture of all topics: with groups, or without."""

    boxes: dict[str, Box]  #: by topic id
    groups: dict[str, GroupBox]
    shelves: list[list[LayeredGraph]]


def list_links(
    links: Iterable[Edge], owners: Mapping[str, str], opened: Collection[str] | None = None
) -> dict[Edge, list[int]]:
    """Return the positions of links by the owners of their ends; links inside one are left out.

    Args:
        links: by topic ids.
        owners: the group of each topic that is in one.
        opened: groups that show their topics; None: none does.
    """
    merged: dict[Edge, list[int]] = defaultdict(list)
    for position, (source, target) in enumerate(links):
        ends = [
            owners[end] if end in owners and (opened is None or owners[end] not in opened) else end
            for end in (source, target)
        ]
        if ends[0] != ends[1]:
            merged[ends[0], ends[1]].append(position)
    return dict(merged)


def lay_out(
    names: Mapping[str, str], links: Collection[Edge], groups: Mapping[str, TopicGroup], opened: Collection[str]
) -> LineageView:
    """Return a view.

    Args:
        names: the topics that have links, by id; ids are in the order of names.
        links: between ids.
        groups: by id; a topic is in at most one.
        opened: the groups that are open at first, for which columns are aligned.
    """
    ids = {name: id_ for id_, name in names.items()}
    owners = {ids[topic]: id_ for id_, group in groups.items() for topic in group.topics}
    boxes = {}
    for id_, name in names.items():
        short = name[len(groups[owners[id_]].prefix) :] if id_ in owners else name
        label = shorten_label(short)
        boxes[id_] = Box(max(_MIN_WIDTH, measure_label(label) + _LABEL_SPACE), label)
    outer = orient_edges({owners.get(id_, id_) for id_ in names}, list_links(links, owners).keys())
    entries, exits = defaultdict(set), defaultdict(set)
    inner: dict[str, set[Edge]] = defaultdict(set)
    for source, target in links:
        ends = owners.get(source, source), owners.get(target, target)
        if ends[0] == ends[1]:
            inner[ends[0]].add((source, target))
            continue
        left, right = (source, target) if ends in outer else (target, source)
        exits[owners.get(left, left)].add(left)
        entries[owners.get(right, right)].add(right)
    pictures = {}
    for id_, group in groups.items():
        topics = [ids[topic] for topic in group.topics]
        turned = orient_edges(topics, inner[id_])
        components = arrange_components(dict.fromkeys(topics, BOX_HEIGHT), turned, entries[id_], exits[id_])
        pictures[id_] = _draw_group(group, components, boxes, len(inner[id_]))
    heights = {id_: BOX_HEIGHT for id_ in names if id_ not in owners}
    heights |= {id_: picture.height if id_ in opened else GROUP_HEIGHT for id_, picture in pictures.items()}
    components = arrange_components(heights, outer)
    for component in components:
        for column in component.columns:
            _widen_column([slot.key for slot in column if slot.key in boxes], boxes)
    view = LineageView(boxes, pictures, [])
    view.shelves = _fill_shelves(view, components, opened)
    return view


def _widen_column(keys: Sequence[str], boxes: dict[str, Box]) -> None:
    """Give the boxes of a column one width."""
    width = max((boxes[key].width for key in keys), default=0.0)
    for key in keys:
        boxes[key] = Box(width, boxes[key].label)


def _draw_group(
    group: TopicGroup,
    components: Sequence[LayeredGraph],
    boxes: dict[str, Box],
    links: int,
) -> GroupBox:
    """Return a group with its components below each other."""
    label = shorten_label(group.prefix)
    note = _NOTE_LETTER * len(f"{len(group.topics):,} topics, {links:,} links")
    picture = GroupBox(label, max(measure_label(f"+ {label}"), note) + _LABEL_SPACE)
    y = HEADER_HEIGHT + _PADDING / 2
    right = 0.0
    for component in components:
        for column in component.columns:
            _widen_column([slot.key for slot in column if not slot.is_bend], boxes)
        spans = _column_spans(component, boxes)
        y = _draw_component(picture, component, spans, y, boxes) + _STACK_GAP
        right = max(right, sum(spans[-1]))
    picture.width = round(max(picture.closed_width, right + 2 * _PADDING), 1)
    picture.height = round(y - _STACK_GAP + _PADDING, 1)
    for segments in picture.entries.values():  # from the border of the group to the border of its components
        segments[0] = (0.0, *segments[0][1:])
    for segments in picture.exits.values():
        segments[-1] = (*segments[-1][:2], picture.width)
    return picture


def _draw_component(
    picture: GroupBox,
    component: LayeredGraph,
    spans: Sequence[tuple[float, float]],
    y: float,
    boxes: Mapping[str, Box],
) -> float:
    """Add a component to a group below ``y``; return its lower end."""
    bends: dict[str, Segment] = {}
    bottom = y
    for column, (x, width) in zip(component.columns, spans, strict=True):
        top = y
        for slot in column:
            top += slot.gap
            if slot.is_bend:
                bends[slot.key] = (_PADDING + x, round(top + slot.height / 2, 1), _PADDING + x + width)
            else:
                picture.places[slot.key] = Place(_PADDING + x, round(top, 1), boxes[slot.key].width, BOX_HEIGHT)
            top += slot.height
        bottom = max(bottom, top)
    for (source, target), route in component.routes.items():
        segments = [bends[key] for key in route]
        if source in bends:
            picture.entries[target] = [bends[source], *segments]
        elif target in bends:
            picture.exits[source] = [*segments, bends[target]]
        else:
            picture.routes[source, target] = segments
    return bottom


def _column_spans(component: LayeredGraph, widths: Mapping[str, Box]) -> list[tuple[float, float]]:
    """Return x and width of each column; those with bends only need no width."""
    spans = []
    x = 0.0
    for column in component.columns:
        width = max((widths[slot.key].width for slot in column if not slot.is_bend), default=0.0)
        spans.append((round(x, 1), round(width, 1)))
        x += width + (_INNER_GAP if width else _INNER_GAP / 4)
    return spans


def _fill_shelves(
    view: LineageView, components: Sequence[LayeredGraph], opened: Collection[str]
) -> list[list[LayeredGraph]]:
    """Put components side by side, the highest first, so that the picture fits a screen well."""
    sized = [(component, *_measure_component(view, component, opened)) for component in components]
    sized.sort(key=lambda item: (-item[2], -item[1]))
    widest = max((width for _, width, _ in sized), default=0.0)
    total = sum(width + COLUMN_GAP for _, width, _ in sized)
    shelvings = [_divide(sized, max(widest, total * part / _WIDTHS)) for part in range(1, _WIDTHS + 1)]
    best = min(shelvings, key=_measure_shelves)
    return [[component for component, _, _ in shelf] for shelf in best]


def _divide(sized: Sequence[_Sized], wanted: float) -> list[list[_Sized]]:
    """Return shelves of at most a width."""
    shelves: list[list[_Sized]] = []
    filled = 0.0
    for each in sized:
        if not shelves or filled + each[1] > wanted:
            shelves.append([])
            filled = 0.0
        shelves[-1].append(each)
        filled += each[1] + COLUMN_GAP
    return shelves


def _measure_shelves(shelves: Sequence[Sequence[_Sized]]) -> float:
    """Return the height that a screen of the wanted proportion needs to show shelves."""
    width = max((sum(each[1] + COLUMN_GAP for each in shelf) for shelf in shelves), default=0.0)
    return max(width / _PROPORTION, sum(max(each[2] for each in shelf) + SHELF_GAP for shelf in shelves))


def _measure_slot(view: LineageView, key: str, opened: Collection[str]) -> tuple[float, float]:
    group = view.groups.get(key)
    if group is not None:
        return (group.width, group.height) if key in opened else (group.closed_width, GROUP_HEIGHT)
    box = view.boxes.get(key)
    return (0.0, 0.0) if box is None else (box.width, BOX_HEIGHT)


def _measure_component(view: LineageView, component: LayeredGraph, opened: Collection[str]) -> tuple[float, float]:
    width = height = 0.0
    for column in component.columns:
        sizes = [_measure_slot(view, slot.key, opened) for slot in column]
        width += max(size for size, _ in sizes) + COLUMN_GAP
        height = max(
            height,
            sum(
                slot.gap + (slot.height if slot.is_bend else size[1]) for slot, size in zip(column, sizes, strict=True)
            ),
        )
    return width - COLUMN_GAP, height


def place_boxes(view: LineageView, opened: Collection[str]) -> tuple[dict[str, Place], dict[str, Segment]]:
    """Return the rectangles of groups and topics, and the segments of bends between them.

    The script of the page does the same (`place` in `lineage.js`); a test compares both.
    """
    places: dict[str, Place] = {}
    bends: dict[str, Segment] = {}
    top = 0.0
    for shelf in view.shelves:
        left = 0.0
        tallest = 0.0
        for component in shelf:
            for column in component.columns:
                width = max(_measure_slot(view, slot.key, opened)[0] for slot in column)
                y = top
                for slot in column:
                    y += slot.gap
                    if slot.is_bend:
                        bends[slot.key] = (left, y + slot.height / 2, left + width)
                        y += slot.height
                        continue
                    own_width, height = _measure_slot(view, slot.key, opened)
                    places[slot.key] = Place(left, y, own_width, height)
                    if slot.key in opened:
                        for topic, inner in view.groups[slot.key].places.items():
                            places[topic] = inner._replace(x=left + inner.x, y=y + inner.y)
                    y += height
                tallest = max(tallest, y - top)
                left += width + COLUMN_GAP
        top += tallest + SHELF_GAP
    return places, bends
