"""Lineage of topics: published as OpenLineage events, read around a topic or as a list.

An edge is shown to callers who may read both of its ends, and published by callers who may write its target. The
permissions on a topic are those on the subject of its values, whatever its cluster. A dataset that is no topic has the
permissions on the subject ``namespace/name``, which need not exist: `postgres://shop/*` matches all tables of a
database.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from contractlog.compatibility.errors import InvalidLineage
from contractlog.compatibility.identifiers import DEFAULT_CONTEXT, Subject
from contractlog.contracts.lineage.field_paths import FieldSet
from contractlog.contracts.lineage.graph_bounds import MAX_GRAPH_EDGES, MAX_NODES
from contractlog.contracts.lineage.openlineage import parse_event
from contractlog.contracts.lineage.statements import LineageDataset, LineageStatement
from contractlog.registry.access.current_caller import current_permissions, may_read_everything
from contractlog.registry.access.permissions import Permission, topic_permission_subject
from contractlog.registry.features.lineage import queries
from contractlog.registry.features.lineage.queries import EdgeFilter, NearEnds, StoredEdge
from contractlog.registry.features.read_service import ReadService
from contractlog.registry.storage.snapshot import Snapshot
from contractlog.registry.storage.transaction import Transaction

__all__ = [
    "MAX_LISTED",
    "EdgePage",
    "FlowDirection",
    "LineageGraph",
    "LineageQuery",
    "LineageReceipt",
    "LineageService",
    "permission_subject",
]

MAX_LISTED: Final = 1_000  #: edges of a page
_MAX_EVENTS: Final = 1_000  #: of a request
_MAX_STATED: Final = 10_000  #: edges of a request
_MAX_ROWS: Final = 20_000  #: edges that a walk reads from the database, both directions together
_BATCH: Final = 50  #: datasets whose edges one query reads


class FlowDirection(StrEnum):
    """Direction of a walk from a topic."""

    BOTH = "BOTH"
    UPSTREAM = "UPSTREAM"  #: to its sources
    DOWNSTREAM = "DOWNSTREAM"  #: to what was made from it


@dataclass(frozen=True, slots=True)
class LineageReceipt:
    """Numbers of accepted events, and of what they state."""

    events: int
    ignored: int
    targets: int
    edges: int


@dataclass(frozen=True, slots=True)
class LineageQuery:
    """A walk from a topic."""

    topic: str  #: its name, in every cluster that edges name
    direction: FlowDirection
    depth: int  #: maximum number of steps
    field_name: str  #: a field of the topic to follow; empty for all of it
    selection: EdgeFilter


@dataclass(slots=True)
class LineageGraph:
    """Result of a walk; ``distance`` counts the steps from the topic, negative towards its sources."""

    distance: dict[LineageDataset, int] = field(default_factory=dict)
    edges: dict[int, StoredEdge] = field(default_factory=dict)
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class EdgePage:
    """A page of edges, and the position of the next page; None if this is the last one."""

    edges: Sequence[StoredEdge]
    next_position: int | None


class LineageService(ReadService):
    """Stores what events state, and walks the edges."""

    async def publish(self, events: Sequence[object], *, numbered: bool) -> LineageReceipt:
        """Store what events state; all of them, or none if an error is raised.

        Args:
            events: OpenLineage events.
            numbered: whether errors name the number of the event.

        Raises:
            InvalidLineage: an event is not valid, or there are too many.
            TooManyEdges: a target would have too many edges.
            Denied: the caller may not write a target.
        """
        if len(events) > _MAX_EVENTS:
            raise InvalidLineage(detail=f"the request has {len(events)} events; at most {_MAX_EVENTS} are allowed")
        statements_by_event = await self._threads.run(_parse_events, events, numbered=numbered)
        statements = [statement for each in statements_by_event for statement in each]
        targets = {statement.target for statement in statements}
        for target in sorted(targets):
            current_permissions.get().require(Permission.WRITE, permission_subject(target))

        def work(change: Transaction) -> None:
            for statement in statements:
                queries.record_statement(change, statement)

        if statements:
            await self._store.change(work)
        return LineageReceipt(
            events=len(events),
            ignored=sum(not each for each in statements_by_event),
            targets=len(targets),
            edges=sum(len(statement.edges) for statement in statements),
        )

    async def walk(self, query: LineageQuery) -> LineageGraph:
        """Return the edges around a topic that the caller may see, and their ends."""
        return await self._query_counted(_walk_both, replace(query, selection=_restrict_to_readable(query.selection)))

    async def list_edges(self, selection: EdgeFilter, *, after: int, limit: int) -> EdgePage:
        """Return a page of all edges that the caller may see."""
        edges, following = await self._query_counted(
            queries.list_edges, _restrict_to_readable(selection), after=after, limit=limit
        )
        return EdgePage(edges, following)


def _parse_events(events: Sequence[object], *, numbered: bool) -> list[list[LineageStatement]]:
    statements: list[list[LineageStatement]] = []
    edges = 0
    for number, event in enumerate(events, 1):
        try:
            statements.append(parse_event(event))
        except InvalidLineage as error:
            raise InvalidLineage(
                detail=f"event {number}: {error.facts['detail']}" if numbered else error.facts["detail"]
            ) from error
        edges += sum(len(statement.edges) for statement in statements[-1])
        if edges > _MAX_STATED:
            raise InvalidLineage(detail=f"the request has more than {_MAX_STATED} edges; send fewer events in each")
    return statements


def permission_subject(dataset: LineageDataset) -> Subject:
    """Return the subject whose permissions apply to a dataset."""
    if dataset.topic is not None:
        return topic_permission_subject(dataset.topic)
    return Subject(DEFAULT_CONTEXT, f"{dataset.namespace}/{dataset.name}")


def _restrict_to_readable(selection: EdgeFilter) -> EdgeFilter:
    """Select only edges of which the caller may read both ends."""
    return selection if may_read_everything() else replace(selection, readable=current_permissions.get().read)


def _walk_both(snapshot: Snapshot, query: LineageQuery) -> LineageGraph:
    graph = LineageGraph()
    start = {(dataset, query.field_name) for dataset in queries.list_topic_datasets(snapshot, query.topic)}
    directions = [
        each
        for each in (FlowDirection.UPSTREAM, FlowDirection.DOWNSTREAM)
        if query.direction in {each, FlowDirection.BOTH}
    ]
    rows = _MAX_ROWS
    for number, direction in enumerate(directions):
        share = rows // (len(directions) - number)
        walk = _Walk(
            snapshot,
            graph,
            query,
            upstream=direction is FlowDirection.UPSTREAM,
            rows_left=share,
            share=(number + 1) / len(directions),
        )
        walk.run(start)
        rows -= share - walk.rows_left
    return graph


@dataclass(frozen=True, slots=True)
class _Step:
    """An edge as a walk follows it."""

    near: LineageDataset
    near_field: str
    far: LineageDataset
    far_field: str


@dataclass(slots=True)
class _Walk:
    """A walk in one direction, step by step."""

    snapshot: Snapshot
    graph: LineageGraph
    query: LineageQuery
    upstream: bool
    rows_left: int
    share: float  #: of the bounds of the graph, that it may have after this walk

    def run(self, start: set[tuple[LineageDataset, str]]) -> None:
        """Add edges and their ends to the graph; an empty field stands for the whole dataset."""
        visited, frontier = set(start), start
        for distance in range(1, self.query.depth + 2):
            paths: dict[LineageDataset, list[str]] = {}
            for dataset, path in frontier:
                paths.setdefault(dataset, []).append(path)
            frontier = set()
            for edge, step in self._read_steps(paths):
                if not self._add(edge, step, distance):
                    continue
                state = (step.far, step.far_field if self.query.field_name else "")
                if state not in visited:
                    visited.add(state)
                    frontier.add(state)
            if not frontier:
                return

    def _read_steps(self, paths: Mapping[LineageDataset, Sequence[str]]) -> Iterator[tuple[StoredEdge, _Step]]:
        """Yield the edges of datasets with the ways to follow them, until all rows of the request are used up."""
        find = queries.find_sources if self.upstream else queries.find_targets
        fields = {dataset: FieldSet(each) for dataset, each in paths.items()}
        datasets = sorted(fields)
        for begin in range(0, len(datasets), _BATCH):
            batch = datasets[begin : begin + _BATCH]
            names = {path for dataset in batch for path in paths[dataset]}
            near = NearEnds(batch, () if "" in names else sorted(names))
            for edge in find(self.snapshot, near, self.query.selection, self.rows_left):
                self.rows_left -= 1
                for step in self._steps(edge, fields):
                    yield edge, step
            if self.rows_left <= 0:
                self.graph.truncated = True
                return

    def _steps(self, edge: StoredEdge, fields: Mapping[LineageDataset, FieldSet]) -> Iterator[_Step]:
        """Yield the ways to follow an edge from the fields that were reached: without direction, both."""
        source, target = (edge.pair.source, edge.pair.source_field), (edge.target, edge.pair.target_field)
        pairs = [(target, source)] if self.upstream else [(source, target)]
        if edge.details.get("direction") == "unknown":
            pairs.append((pairs[0][1], pairs[0][0]))
        for near, far in pairs:
            if near[0] in fields and fields[near[0]].overlaps(near[1]):
                yield _Step(*near, *far)

    def _add(self, edge: StoredEdge, step: _Step, distance: int) -> bool:
        """Add an edge to the graph; return whether the bounds permit it."""
        graph = self.graph
        is_known = edge.sequence in graph.edges
        added = {end for end in (step.near, step.far) if end not in graph.distance}
        has_edges = len(graph.edges) >= MAX_GRAPH_EDGES * self.share
        too_many = has_edges or len(graph.distance) + len(added) > MAX_NODES * self.share
        if not is_known and (distance > self.query.depth or too_many):
            graph.truncated = True
            return False
        graph.edges[edge.sequence] = edge
        sign = -1 if self.upstream else 1
        graph.distance.setdefault(step.near, sign * (distance - 1))
        graph.distance.setdefault(step.far, sign * distance)
        return distance <= self.query.depth
