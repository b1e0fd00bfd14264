"""HTTP routes to publish lineage, list edges and walk around a topic."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request

from contractlog.compatibility.errors import (
    BadRequest,
    Denied,
    InvalidLineage,
    InvalidQuery,
    Overloaded,
    PayloadTooLarge,
    TooManyEdges,
    Unprocessable,
)
from contractlog.contracts.audit.time_text import parse_timestamp
from contractlog.contracts.lineage.edges import EVIDENCE, Evidence
from contractlog.contracts.lineage.graph_bounds import MAX_DEPTH
from contractlog.registry.features.lineage.bodies import (
    LineageEdgeBody,
    LineageEdgesBody,
    LineageGraphBody,
    LineageNodeBody,
    LineageReceiptBody,
)
from contractlog.registry.features.lineage.queries import EdgeFilter
from contractlog.registry.features.lineage.service import MAX_LISTED, FlowDirection, LineageQuery
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import (
    MAX_INTEGER,
    BoundedInteger,
    StrictParameters,
    enum_schema,
    parse_enum,
)
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.parameters import TextPath
from contractlog.registry.http.request_bodies import parse_objects
from contractlog.registry.http.route_permissions import READ_ANY, READ_TOPIC, WRITE_ANY, requires
from contractlog.registry.http.service_dependencies import LineageDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["lineage"], dependencies=[StrictParameters])
_DIRECTIONS: Final = [direction.value.lower() for direction in FlowDirection]
_Depth = Annotated[
    int,
    Query(description="Maximum distance from the topic, in steps."),
    BoundedInteger("depth", MAX_DEPTH, 1, MAX_DEPTH),
]
_Field = Annotated[str, Query(description="Only the lineage of this field of the topic, such as `customer.id`.")]
_TopicPrefix = Annotated[
    str,
    Query(alias="topicPrefix", description="Only edges from or to a topic whose name begins so."),
]
_After = Annotated[int, Query(description="`next` of the previous page."), BoundedInteger("after", 0, 0, MAX_INTEGER)]
_Limit = Annotated[int, Query(description="Maximum number of edges."), BoundedInteger("limit", 100, 1, MAX_LISTED)]


async def _parse_direction(
    direction: Annotated[
        str, Query(description="Sources of the topic, what was made from it, or both."), enum_schema(_DIRECTIONS)
    ] = "",
) -> FlowDirection:
    return parse_enum("direction", direction, FlowDirection) or FlowDirection.BOTH


async def _parse_filter(
    at: Annotated[
        str,
        Query(description="The edges of this time (RFC 3339; a date is its beginning in UTC), instead of the present."),
    ] = "",
    evidence: Annotated[str, Query(description="Only edges with this kind of evidence."), enum_schema(EVIDENCE)] = "",
) -> EdgeFilter:
    time = parse_timestamp(at)
    if at and time is None:
        raise InvalidQuery(
            parameter="at", detail="it must be a time such as `2026-11-27T10:00:00Z`; write `+` of an offset as `%2B`"
        )
    return EdgeFilter(time, _parse_evidence(evidence))


def _parse_evidence(text: str) -> Evidence | None:
    for evidence in EVIDENCE:
        if text == evidence:
            return evidence
    if text:
        raise InvalidQuery(parameter="evidence", detail=f"it must be one of {', '.join(EVIDENCE)}")
    return None


_Direction = Annotated[FlowDirection, Depends(_parse_direction)]
_Filter = Annotated[EdgeFilter, Depends(_parse_filter)]


@router.post(
    "/contractlog/v1/lineage",
    **describe_route(
        LineageReceiptBody,
        BadRequest,
        Denied,
        InvalidLineage,
        InvalidQuery,
        Overloaded,
        PayloadTooLarge,
        TooManyEdges,
        Unprocessable,
        body=object,
    ),
)
@requires(WRITE_ANY)
async def publish_lineage(request: Request, lineage: LineageDependency) -> ApiResponse:
    """Store the lineage that an OpenLineage event states, or each event of an array.

    Of the explicit `lineage` facets, the facet `columnLineage`, and inputs with outputs, the first that an event has is
    used. What it states about a dataset replaces what the same job stated before. Events of runs with the types START,
    FAIL and ABORT are accepted and state nothing. The caller needs write permission on every dataset that an event
    states sources of: for a topic, on the subject of its values.
    """
    events: list[dict[str, Any]] | dict[str, Any] = parse_objects(await request.body())
    numbered = isinstance(events, list)
    receipt = await lineage.publish(events if isinstance(events, list) else [events], numbered=numbered)
    return ApiResponse(LineageReceiptBody(receipt.events, receipt.ignored, receipt.targets, receipt.edges))


@router.get("/contractlog/v1/lineage", **describe_route(LineageEdgesBody, InvalidQuery, Overloaded))
@requires(READ_ANY)
async def list_lineage(
    lineage: LineageDependency,
    *,
    selection: _Filter,
    topic_prefix: _TopicPrefix = "",
    after: _After = 0,
    limit: _Limit = 100,
) -> ApiResponse:
    """List all lineage edges, in the order in which they appeared.

    Only edges are listed of which the caller may read both ends. The last page has no ``next``.
    """
    page = await lineage.list_edges(replace(selection, topic_prefix=topic_prefix), after=after, limit=limit)
    return ApiResponse(LineageEdgesBody([LineageEdgeBody.of(edge) for edge in page.edges], page.next_position))


@router.get("/contractlog/v1/lineage/{topic}", **describe_route(LineageGraphBody, InvalidQuery, Overloaded))
@requires(READ_TOPIC)
async def get_lineage(
    topic: TextPath,
    lineage: LineageDependency,
    *,
    direction: _Direction,
    field: _Field = "",
    selection: _Filter,
    depth: _Depth = MAX_DEPTH,
) -> ApiResponse:
    """Return the lineage of a topic: what it was made from, and what was made from it, over all steps.

    A node's distance is the number of steps from the topic, negative for its sources. At most 1,000 nodes, 10,000 edges
    and 16 steps are returned, and only edges of which the caller may read both ends; ``truncated`` is true if there is
    more. Of more than 20,000 edges that a walk comes across, those are followed that are shared equally between pairs
    of datasets, edges of whole datasets first. Without edges, the graph is empty.
    """
    graph = await lineage.walk(LineageQuery(topic, direction, depth, field, selection))
    return ApiResponse(
        LineageGraphBody(
            nodes=[
                LineageNodeBody(dataset.namespace, dataset.name, dataset.topic is not None, distance)
                for dataset, distance in graph.distance.items()
            ],
            edges=[LineageEdgeBody.of(edge) for edge in graph.edges.values()],
            truncated=graph.truncated,
        )
    )
