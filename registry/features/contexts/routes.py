"""Routes of the service itself: root, metadata and contexts."""

from __future__ import annotations

from enum import Enum
from importlib.metadata import version as version_of
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Response

from contractlog.compatibility.errors import (
    BadRequest,
    ContextNotEmpty,
    InvalidSubject,
    OperationNotPermitted,
    Overloaded,
)
from contractlog.registry.http.dependencies import ContextsDependency, SettingsDependency, SubjectsDependency
from contractlog.registry.http.errors import ApiResponse
from contractlog.registry.http.openapi import describe_route, list_schema
from contractlog.registry.http.parameters import PageQuery, TextPath
from contractlog.registry.http.paths import parse_context
from contractlog.registry.http.route_permissions import READ_ANY, WRITE_CONTEXT, requires

__all__ = ["router"]

router: Final = APIRouter()
_SERVICE: Final[list[str | Enum]] = ["service"]
_CONTEXTS: Final[list[str | Enum]] = ["contexts"]
_NO_CONTENT: Final = 204
_OBJECT: Final[dict[str, Any]] = {"type": "object"}


@router.get("/", tags=_SERVICE, **describe_route(_OBJECT))
@router.post("/", tags=_SERVICE, **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_root() -> ApiResponse:
    """Return an empty object, which shows that the service is running."""
    return ApiResponse(b"{}")


@router.get("/contexts", tags=_CONTEXTS, **describe_route(list_schema("string")))
@requires(READ_ANY)
async def list_contexts(
    lookup: SubjectsDependency,
    page: PageQuery,
    *,
    prefix: Annotated[str, Query(alias="contextPrefix")] = "",
) -> ApiResponse:
    """List the contexts, the default context first."""
    return ApiResponse(await lookup.contexts(prefix, page))


@router.delete(
    "/contexts/{context}",
    tags=_CONTEXTS,
    **describe_route(
        {}, BadRequest, InvalidSubject, ContextNotEmpty, OperationNotPermitted, Overloaded, status=_NO_CONTENT
    ),
)
@requires(WRITE_CONTEXT)
async def delete_context(context: TextPath, contexts: ContextsDependency) -> Response:
    """Delete a context that no longer has versions; its ids are not reused."""
    await contexts.delete(parse_context(context))
    return Response(status_code=_NO_CONTENT)


@router.get("/v1/metadata/id", tags=_SERVICE, **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_cluster_ids(settings: SettingsDependency) -> ApiResponse:
    """Return the ids of the registry cluster and of its Kafka cluster."""
    clusters = {"kafka-cluster": settings.kafka_cluster_id, "schema-registry-cluster": settings.cluster_id}
    named = {kind: name for kind, name in clusters.items() if name}
    return ApiResponse({"id": "", "scope": {"path": [], "clusters": named}})


@router.get("/v1/metadata/deployment", tags=_SERVICE, **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_deployment() -> ApiResponse:
    """Return the attributes of this deployment, which are always empty."""
    return ApiResponse({"attributes": []})


@router.get("/v1/metadata/version", tags=_SERVICE, **describe_route(_OBJECT))
@requires(READ_ANY)
async def get_version() -> ApiResponse:
    """Return the version of the service."""
    return ApiResponse({"version": version_of("contractlog"), "commitId": ""})
