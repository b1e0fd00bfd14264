"""Layered layout of a directed graph: columns by depth, few crossings, straight long edges.

The steps are those of Sugiyama: edges that close a cycle are turned, nodes get the column right of all their sources,
edges over several columns get a bend in each column between, and columns are ordered by barycentre. Bends of the edges
of one node are shared. Everything depends on names and edges only, so that equal graphs have equal pictures.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

__all__ = ["BEND_HEIGHT", "Column", "LayeredGraph", "Slot", "arrange_components", "orient_edges"]

BEND_HEIGHT: Final = 6.0
_GAP: Final = 14.0  #: between two boxes of a column
_BEND_GAP: Final = 8.0
_SWEEPS: Final = 12
_ALIGNMENTS: Final = 8
_BEND_WEIGHT: Final = 4.0  #: of bends against boxes, in alignment: a long edge that is straight reads better

Edge = tuple[str, str]


@dataclass(slots=True)
class Slot:
    """A box or a bend in a column."""

    key: str
    height: float
    is_bend: bool = False
    gap: float = 0.0  #: above it


Column = list[Slot]


@dataclass(slots=True)
class LayeredGraph:
    """A connected graph in columns."""

    columns: list[Column]
    routes: dict[Edge, tuple[str, ...]] = field(default_factory=dict)  #: bends of an edge, from left to right


def orient_edges(nodes: Iterable[str], edges: Collection[Edge]) -> set[Edge]:
    """Return the edges from left to right: those that close a cycle are turned.

    >>> sorted(orient_edges("abc", [("a", "b"), ("b", "c"), ("c", "a")]))
    [('a', 'b'), ('a', 'c'), ('b', 'c')]
    """
    targets: dict[str, list[str]] = defaultdict(list)
    incoming: dict[str, int] = defaultdict(int)
    for source, target in sorted(set(edges)):
        targets[source].append(target)
        incoming[target] += 1
    position: dict[str, int] = {}
    active: set[str] = set()
    turned: set[Edge] = set()
    for root in sorted(nodes, key=lambda node: (incoming[node] - len(targets[node]), node)):
        if root in position:
            continue
        position[root] = len(position)
        active.add(root)
        stack = [(root, iter(targets[root]))]
        while stack:
            node, rest = stack[-1]
            for target in rest:
                if target in active:
                    turned.add((node, target))
                elif target not in position:
                    position[target] = len(position)
                    active.add(target)
                    stack.append((target, iter(targets[target])))
                    break
            else:
                active.discard(node)
                stack.pop()
    return {(target, source) if (source, target) in turned else (source, target) for source, target in edges}


def arrange_components(
    heights: Mapping[str, float],
    edges: Collection[Edge],
    entries: Collection[str] = (),
    exits: Collection[str] = (),
) -> list[LayeredGraph]:
    """Return the connected parts of a graph in columns, the largest first.

    Args:
        heights: of the boxes, by node.
        edges: from left to right, without cycles: see ``orient_edges``.
        entries: nodes with edges from the left of the graph; each has an additional bend ``>node`` in the first column.
        exits: nodes with edges to the right; each has a bend ``node>`` in the last column.
    """
    return [
        _arrange(
            {node: heights[node] for node in nodes},
            sorted({edge for edge in edges if edge[0] in nodes}),
            sorted(nodes & set(entries)),
            sorted(nodes & set(exits)),
        )
        for nodes in _find_components(heights, edges)
    ]


def _find_components(nodes: Iterable[str], edges: Iterable[Edge]) -> list[set[str]]:
    neighbours: dict[str, set[str]] = {node: set() for node in nodes}
    for a, b in edges:
        neighbours[a].add(b)
        neighbours[b].add(a)
    components = []
    seen: set[str] = set()
    for node in sorted(neighbours):
        if node in seen:
            continue
        component = {node}
        stack = [node]
        while stack:
            new = neighbours[stack.pop()] - component
            component |= new
            stack += new
        seen |= component
        components.append(component)
    return sorted(components, key=lambda component: (-len(component), min(component)))


def _arrange(
    heights: Mapping[str, float], edges: list[Edge], entries: Sequence[str], exits: Sequence[str]
) -> LayeredGraph:
    layers = _assign_layers(heights, edges)
    if entries:
        layers = {node: layer + 1 for node, layer in layers.items()}
    last = max(layers.values())
    bends = [f">{node}" for node in entries] + [f"{node}>" for node in exits]
    layers |= {f">{node}": 0 for node in entries} | {f"{node}>": last + 1 for node in exits}
    every = [*edges, *((f">{node}", node) for node in entries), *((node, f"{node}>") for node in exits)]
    columns: list[list[str]] = [[] for _ in range(max(layers.values()) + 1)]
    for node in [*sorted(heights), *bends]:
        columns[layers[node]].append(node)
    links: dict[Edge, None] = {}  # between neighbouring columns
    routes: dict[Edge, tuple[str, ...]] = {}
    is_bend = set(bends)
    for source, target in every:
        route = []
        before = source
        for layer in range(layers[source] + 1, layers[target]):
            bend = f"{source}|{layer}"
            if bend not in is_bend:
                is_bend.add(bend)
                columns[layer].append(bend)
            links[before, bend] = None
            route.append(bend)
            before = bend
        links[before, target] = None
        routes[source, target] = tuple(route)
    ordered = _order_columns(columns, list(links))
    slots = [[Slot(key, BEND_HEIGHT if key in is_bend else heights[key], key in is_bend) for key in c] for c in ordered]
    _align_columns(slots, list(links))
    return LayeredGraph(slots, routes)


def _assign_layers(nodes: Iterable[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return the column of each node: right of all its sources, and a source beside its first target."""
    targets: dict[str, list[str]] = defaultdict(list)
    missing: dict[str, int] = dict.fromkeys(nodes, 0)
    for source, target in edges:
        targets[source].append(target)
        missing[target] += 1
    sources = [node for node, number in missing.items() if not number]
    layers = dict.fromkeys(missing, 0)
    queue = sorted(sources)
    for node in queue:
        for target in targets[node]:
            layers[target] = max(layers[target], layers[node] + 1)
            missing[target] -= 1
            if not missing[target]:
                queue.append(target)
    for node in sources:
        if targets[node]:
            layers[node] = min(layers[target] for target in targets[node]) - 1
    return layers


def _order_columns(columns: list[list[str]], links: Sequence[Edge]) -> list[list[str]]:
    """Order each column by the mean position of the neighbours; return the best order of several sweeps."""
    sources: dict[str, list[str]] = defaultdict(list)
    targets: dict[str, list[str]] = defaultdict(list)
    for source, target in links:
        sources[target].append(source)
        targets[source].append(target)
    columns = _start_order(columns, targets, sources)
    best, fewest = [list(column) for column in columns], _count_crossings(columns, targets)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        forward = sweep % 2 == 0
        neighbours = sources if forward else targets
        order = range(1, len(columns)) if forward else range(len(columns) - 2, -1, -1)
        for index in order:
            beside = columns[index - 1 if forward else index + 1]
            position = {node: row for row, node in enumerate(beside)}
            own = {node: row for row, node in enumerate(columns[index])}
            scale = len(beside) / max(len(own), 1)

            def barycentre(node: str, position: dict[str, int] = position, scale: float = scale) -> float:
                near = [position[each] for each in neighbours[node]]  # noqa: B023 - called within this iteration
                return sum(near) / len(near) if near else own[node] * scale  # noqa: B023 - as above

            columns[index].sort(key=lambda node: (barycentre(node), own[node]))
        crossings = _count_crossings(columns, targets)
        if crossings < fewest:
            best, fewest = [list(column) for column in columns], crossings
    return best


def _start_order(
    columns: list[list[str]], targets: Mapping[str, Sequence[str]], sources: Mapping[str, Sequence[str]]
) -> list[list[str]]:
    """Order nodes as a walk through the graph meets them, which keeps branches together."""
    met: dict[str, int] = {}
    for root in (node for column in columns for node in column):
        stack = [root]
        while stack:
            node = stack.pop()
            if node not in met:
                met[node] = len(met)
                stack += reversed([*targets.get(node, ()), *sources.get(node, ())])
    return [sorted(column, key=met.__getitem__) for column in columns]


def _count_crossings(columns: Sequence[Sequence[str]], targets: Mapping[str, Sequence[str]]) -> int:
    crossings = 0
    for left, right in pairwise(columns):
        position = {node: row for row, node in enumerate(right)}
        ends: list[int] = []
        for node in left:
            rows = sorted(position[target] for target in targets.get(node, ()))
            crossings += sum(len(ends) - bisect_left(ends, row + 1) for row in rows)
            for row in rows:
                insort(ends, row)
    return crossings


def _align_columns(columns: Sequence[Column], links: Sequence[Edge]) -> None:
    """Set the gaps of all slots so that edges are as straight as the order of each column permits."""
    neighbours: dict[str, list[str]] = defaultdict(list)
    for source, target in links:
        neighbours[source].append(target)
        neighbours[target].append(source)
    centres: dict[str, float] = {}
    for column in columns:
        y = 0.0
        for above, slot in zip([None, *column], column, strict=False):
            y += _separation(above, slot)
            centres[slot.key] = y
    for turn in range(_ALIGNMENTS):
        for column in columns if turn % 2 == 0 else reversed(columns):
            wanted = []
            for slot in column:
                near = [centres[key] for key in neighbours[slot.key]]
                wanted.append(sum(near) / len(near) if near else centres[slot.key])
            for slot, centre in zip(column, _fit_centres(column, wanted), strict=True):
                centres[slot.key] = centre
    top = min(centres[column[0].key] - column[0].height / 2 for column in columns)
    for column in columns:
        bottom = top
        for slot in column:
            y = centres[slot.key] - slot.height / 2
            slot.gap = round(y - bottom, 1)
            bottom += slot.gap + slot.height


def _separation(above: Slot | None, slot: Slot) -> float:
    if above is None:
        return slot.height / 2
    gap = _BEND_GAP if above.is_bend or slot.is_bend else _GAP
    return (above.height + slot.height) / 2 + gap


def _fit_centres(column: Column, wanted: Sequence[float]) -> list[float]:
    """Return the centres nearest to the wanted ones that keep order and gaps (pool adjacent violators)."""
    offsets = []
    offset = 0.0
    for above, slot in zip([None, *column], column, strict=False):
        offset += 0.0 if above is None else _separation(above, slot)
        offsets.append(offset)
    blocks: list[tuple[float, float, int]] = []  # weighted sum, weight, number
    for slot, centre, shift in zip(column, wanted, offsets, strict=True):
        weight = _BEND_WEIGHT if slot.is_bend else 1.0
        total, number = weight * (centre - shift), 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / weight:
            more, heavier, further = blocks.pop()
            total, weight, number = total + more, weight + heavier, number + further
        blocks.append((total, weight, number))
    means = [total / weight for total, weight, number in blocks for _ in range(number)]
    return [mean + shift for mean, shift in zip(means, offsets, strict=True)]
