"""Routes of the graph of references."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Query

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject, Overloaded, SubjectNotFound, VersionNotFound
from contractlog.compatibility.identifiers import MAX_VERSION
from contractlog.registry.features.dependencies.service import MAX_DEPTH, WalkDirection
from contractlog.registry.features.extension_bodies import EdgeBody, GraphBody, NodeBody, VersionBody
from contractlog.registry.http.api_response import ApiResponse
from contractlog.registry.http.extension_parameters import (
    BoundedInteger,
    StrictParameters,
    enum_schema,
    parse_enum,
    parse_integer,
)
from contractlog.registry.http.openapi import describe_route
from contractlog.registry.http.parameters import SubjectPath
from contractlog.registry.http.route_permissions import READ_SUBJECT, requires
from contractlog.registry.http.service_dependencies import DependencyGraphDependency

__all__ = ["router"]

router: Final = APIRouter(tags=["graph"], dependencies=[StrictParameters])
_Depth = Annotated[
    int,
    Query(description="Maximum distance from the subject, in steps."),
    BoundedInteger("depth", MAX_DEPTH, 1, MAX_DEPTH),
]
_DIRECTIONS: Final = [direction.value.lower() for direction in WalkDirection]


async def _parse_version(
    version: Annotated[
        str, Query(description="A number, or `latest`; by default, all versions, including soft-deleted ones.")
    ] = "",
) -> str:
    if version in {"-1", "latest"}:
        return "latest"
    return version and str(parse_integer("version", version, default=1, minimum=1, maximum=MAX_VERSION))


async def _parse_direction(
    direction: Annotated[str, Query(description="Dependencies, dependents, or both."), enum_schema(_DIRECTIONS)] = "",
) -> WalkDirection:
    return parse_enum("direction", direction, WalkDirection) or WalkDirection.BOTH


_Version = Annotated[str, Depends(_parse_version)]
_Direction = Annotated[WalkDirection, Depends(_parse_direction)]


@router.get(
    "/contractlog/v1/graph/{subject}",
    **describe_route(GraphBody, InvalidQuery, InvalidSubject, SubjectNotFound, VersionNotFound, Overloaded),
)
@requires(READ_SUBJECT)
async def get_dependencies(
    subject: SubjectPath,
    graphs: DependencyGraphDependency,
    *,
    version: _Version,
    direction: _Direction,
    depth: _Depth = MAX_DEPTH,
) -> ApiResponse:
    """Return the dependencies and dependents of the versions of a subject, direct and indirect.

    ``version`` is a number or ``latest``; without it, all versions are used, including soft-deleted ones. ``direction``
    is ``references``, ``referencedby`` or ``both``. A node's distance is the number of steps from the subject, negative
    for dependents. At most 1,000 nodes and 16 steps are returned, and only subjects that the caller may read;
    ``truncated`` is true if there is more.
    """
    result = await graphs.walk(subject, version, direction=direction, depth=depth)
    return ApiResponse(
        GraphBody(
            nodes=[
                NodeBody(str(node.subject), node.version, node.schema_id, node.deleted, distance)
                for node, distance in result.distance.items()
            ],
            edges=[
                EdgeBody(VersionBody.of(edge.referrer), VersionBody.of(edge.target), list(edge.names))
                for edge in result.edges
            ],
            truncated=result.truncated,
        )
    )
