"""Routes of the graph of references."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query

from contractlog.compatibility.errors import InvalidQuery, InvalidSubject, Overloaded, SubjectNotFound, VersionNotFound
from contractlog.compatibility.names import MAX_VERSION
from contractlog.registry.bodies.own import EdgeBody, GraphBody, NodeBody, PlaceBody
from contractlog.registry.dependencies import SubjectPath
from contractlog.registry.documented import documented
from contractlog.registry.own import GraphsDependency
from contractlog.registry.problems import Answer
from contractlog.registry.queries import KnownAlone, Whole, named, said, whole
from contractlog.registry.services.graph import DEEPEST, Ways

__all__ = ["router"]

router: Final = APIRouter(tags=["graph"], dependencies=[KnownAlone])
_Depth = Annotated[int, Query(description="Steps away from the subject."), Whole("depth", DEEPEST, 1, DEEPEST)]
_Version = Annotated[str, Query(description="A number, or `latest`; else all versions count, soft-deleted ones too.")]
_Direction = Annotated[str, Query(description="Which way to go."), said([way.value.lower() for way in Ways])]


@router.get(
    "/contractlog/v1/graph/{subject}",
    **documented(GraphBody, InvalidQuery, InvalidSubject, SubjectNotFound, VersionNotFound, Overloaded),
)
async def graph(
    subject: SubjectPath,
    graphs: GraphsDependency,
    *,
    version: _Version = "",
    direction: _Direction = "",
    depth: _Depth = DEEPEST,
) -> Answer:
    """Return the dependencies and dependents of the versions of a subject, direct and indirect.

    ``version`` is a number or ``latest``; without it all versions count, soft-deleted ones included. ``direction`` is
    ``references``, ``referencedby`` or ``both``. A node's distance is the number of steps from the subject, negative
    towards dependents. At most 1,000 nodes and 16 steps are returned, and no subject that the caller may not read;
    ``truncated`` says that there is more.
    """
    if version == "-1":
        version = "latest"
    if version not in {"", "latest"}:
        version = str(whole("version", version, default=1, least=1, most=MAX_VERSION))
    ways = named("direction", direction, Ways) or Ways.BOTH
    found = await graphs.around(subject, version, ways=ways, depth=depth)
    return Answer(
        GraphBody(
            nodes=[
                NodeBody(str(one.subject), one.version, one.schema_id, one.deleted, distance)
                for one, distance in found.distance.items()
            ],
            edges=[
                EdgeBody(PlaceBody.of(edge.leaning), PlaceBody.of(edge.target), list(edge.names))
                for edge in found.edges
            ],
            truncated=found.truncated,
        )
    )
